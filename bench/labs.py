# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs of the benchmarks: planned as any user's, then pinned to cores, and with stock ns-3 in the place of a netbox."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bench.networks import DRAIN, SOURCE
from bench.settings import Surroundings
from contracts.installation import CHECKOUT
from contracts.netbox_configuration import CONFIGURATION_FILE, netbox_configuration
from contracts.plan import NodePlan, Plan
from system.interruption import HeldBack
from system.realtime_support import realtime_support
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file

STOCK = CHECKOUT / "build/bin/stock-chain"

#: As many packets as our own ports' receive buffers hold of the smallest ones.
_STOCK_QUEUE = 5000


@dataclass(frozen=True)
class StockSide:
    """One end of a stock chain: the interface, and its router's address with prefix length."""

    interface: str
    address: str


def planned(
    network: Mapping[str, Any], around: Surroundings, *, cores: Mapping[str, int], generator_is_a_tool: bool = False
) -> Plan:
    """The plan of a topology (as data) with each node on the core given.

    Frame records are off: they would fill the disk with what nobody reads. A generator that is only a tool runs without
    SCHED_FIFO: at high rates it never sleeps, and would use up the real-time budget of its core, which others on it need.
    The sink goes first.
    """
    file = around.folder / f"{network['name']}.yaml"
    file.write_text(json.dumps(network, indent=1) + "\n")  # JSON is YAML
    support = realtime_support()
    if not support.fifo:
        around.progress(f"{network['name']} runs without real-time priority: {support.reason}")
    plan = plan_file(file, realtime=support, cores=around.cores)
    pinned = [replace(node, cores=(cores[node.name],)) if node.name in cores else node for node in plan.nodes]
    if generator_is_a_tool:
        pinned = [replace(node, realtime_priority=0) if node.name == SOURCE else node for node in pinned]
    beside = Counter(node.cores[0] for node in pinned if node.realtime_priority)
    return replace(plan, nodes=tuple(_as_measured(node, plan, beside[node.cores[0]]) for node in pinned))


def with_stock(
    plan: Plan, node: str, left: StockSide, right: StockSide, *, next_hop: str, next_mac: str | None = None, routers: int = 2
) -> Plan:
    """The same lab with ns-3's own routers at a netbox's place; packets go on to `next_hop` on the right."""
    own = [
        f"--routers={routers}",
        f"--left-address={left.address}",
        f"--right-address={right.address}",
        f"--next-hop={next_hop}",
        *([f"--next-mac={next_mac}"] if next_mac else []),
    ]
    return _replaced(plan, node, [left.interface, right.interface, *own])


def with_stock_bridges(plan: Plan, node: str, left: str, right: str) -> Plan:
    """The same with ns-3's bridges between the two interfaces."""
    return _replaced(plan, node, [left, right, "--inside=bridges"])


@contextmanager
def up(plan: Plan, around: Surroundings) -> Iterator[Lab]:
    """A lab that is ready for traffic, down again at the end of the block, whatever happens in it."""
    around.progress(f"bringing up {plan.lab}")
    with HeldBack() as held, Lab.up_and_ready(plan) as lab, held.allowed():
        yield lab


def ports(lab: Lab, netbox: str) -> str:
    """By what a netbox reaches its wires, as it says itself."""
    with lab.control(netbox) as control:
        return "+".join(dict.fromkeys(port["kind"] for port in control.status()["ports"]))


def _replaced(plan: Plan, node: str, arguments: Sequence[str]) -> Plan:
    command = (str(STOCK), *arguments, f"--ns3::FdNetDevice::RxQueueSize={_STOCK_QUEUE}")
    # A host: it has no control socket that could say that it is ready.
    stock = replace(plan.node(node), kind="host", command=command, files={}, realtime_priority=0)
    return replace(plan, nodes=tuple(stock if node_plan.name == node else node_plan for node_plan in plan.nodes))


def _as_measured(node: NodePlan, plan: Plan, beside: int) -> NodePlan:
    """`beside` is how many emulators are on the node's core: each has its part of what the kernel grants there."""
    if CONFIGURATION_FILE not in node.files:
        return node
    configuration = netbox_configuration(node)
    configuration["records"] = None
    if node.realtime_priority:
        node = replace(node, realtime_priority=node.realtime_priority + (node.name == DRAIN))
        configuration["realtime"]["runtime_us"] = plan.realtime_budget_us // beside if plan.realtime_budget_us else None
    else:
        configuration["realtime"]["spin_us"] = 0
    configuration["realtime"]["priority"] = node.realtime_priority
    return replace(node, files={**node.files, CONFIGURATION_FILE: json.dumps(configuration, indent=2, sort_keys=True) + "\n"})
