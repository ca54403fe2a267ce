# SPDX-License-Identifier: GPL-2.0-or-later
"""Which interfaces a person lets a lab have though they are in use: those that it takes, on the machine that is meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.plan import HostPlan, Plan, RealtimeSupport
from testbed import plan_part
from testbed.description.test_topology import load_text
from testbed.plans import taking
from testbed.plans.resolve import resolve
from testbed.plans.taking import NotTaken

FILE = """\
name: real
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.1.0.1/24}
equipment:
  phone: {nic: eth2}
  pc: {macvlan: {of: eth3, mode: passthru}}
wires:
  - [a, phone]
  - [b, pc]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return resolve(load_text(tmp_path, FILE), realtime=RealtimeSupport(False, None, "not tried"))


@pytest.fixture
def over_two(plan: Plan) -> Plan:
    """Node b, with its equipment, is on beta."""
    nodes = tuple(replace(node, host={"a": "alpha", "b": "beta"}[node.name]) for node in plan.nodes)
    hosts = (HostPlan("alpha", True, "192.0.2.1", folder="/x"), HostPlan("beta", False, "192.0.2.2", folder="/x"))
    return replace(plan, nodes=nodes, hosts=hosts)


def test_a_file_says_nothing_of_it(plan: Plan, tmp_path: Path) -> None:
    assert plan.take == ()
    with pytest.raises(BadTopology, match="--take eth2"):
        load_text(tmp_path, FILE.replace("nic: eth2", "nic: eth2, take_addresses: true"))


def test_a_person_names_interfaces_that_the_lab_takes(plan: Plan) -> None:
    assert taking.named(plan, ["eth3", "eth2", "eth2"]).take == ("eth3", "eth2")
    for name in ("eth9", "phone", "beta:eth2", ""):
        with pytest.raises(NotTaken, match="eth2"):
            taking.named(plan, [name])


def test_each_machine_has_what_was_said_of_its_own(over_two: Plan) -> None:
    plan = taking.named(over_two, ["eth2", "beta:eth3"])
    assert (plan_part.part(plan, "alpha").take, plan_part.part(plan, "beta").take) == (("eth2",), ("eth3",))
    with pytest.raises(NotTaken, match="beta:eth3"):
        taking.named(over_two, ["eth3"])


def test_what_a_lab_has_it_keeps_when_its_file_is_applied_again(plan: Plan) -> None:
    up = taking.named(plan, ["eth2"])
    assert taking.kept(plan, [up]).take == ("eth2",)
    without = replace(plan, equipment=plan.equipment[1:])
    assert taking.kept(without, [up]).take == (), "the file does not take it any more"
    assert taking.kept(plan, [replace(without, take=("eth2",))]).take == (), "the lab did not have it"
