# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab costs before any traffic: the time to bring it up and take it down, memory and idle CPU of its netboxes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Network
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench import networks
from bench.labs import planned, up
from bench.lateness import EMERGENCY
from bench.outcome import Outcome, Table
from bench.settings import Surroundings
from bench.usage import cpu_s, pss_bytes
from contracts.installation import CHECKOUT
from contracts.plan import Plan
from ownership.state import lab_names
from system.interruption import HeldBack
from system.processes import ProgramFailed
from system.realtime_support import realtime_support
from testbed.labs.lab import Lab
from testbed.labs.removal import take_down
from testbed.plans.planning import plan_file

if TYPE_CHECKING:
    from testbed.documents.bench import Idle, UpAndDown

_RINGS = (2, 10, 25, 50)
_IDLE_S, _QUICK_IDLE_S = 10.0, 2.0


def measure(around: Surroundings) -> Outcome:
    emergency = [_commands(EMERGENCY, "bench-emergency", around) for _ in range(around.settings.pairs)]
    rings = {hosts: _ring(hosts, around) for hosts in (_RINGS[:2] if around.settings.quick else _RINGS)}
    idle = _idle(around)
    rows = (
        ("emergency network", *_range([taken["up_s"] for taken in emergency]), *_range([taken["down_s"] for taken in emergency])),
        *((f"{hosts} hosts, {hosts} links", f"{of['up_s']:.2f}", "", f"{of['down_s']:.2f}", "") for hosts, of in rings.items()),
    )
    idle_rows = tuple(
        (of["technology"], netbox, f"{100 * of['cpu']:.2f} %", f"{of['pss_bytes'] / 1e6:.1f}") for netbox, of in idle.items()
    )
    return Outcome(
        figures={
            "lab_up_s": median(taken["up_s"] for taken in emergency),
            "lab_down_s": median(taken["down_s"] for taken in emergency),
            "lab_by_size": {str(hosts): of for hosts, of in rings.items()},
            "idle_cpu": {netbox: of["cpu"] for netbox, of in idle.items()},
            "idle": idle,
        },
        tables=(
            Table(
                "`netboxit up` and `netboxit down`, start of the program included, s",
                ("lab", "up", "spread", "down", "spread"),
                rows,
            ),
            Table("Idle netboxes", ("technology", "netbox", "CPU, share of a core", "memory (PSS), MB"), idle_rows),
        ),
    )


def _commands(topology: Path, lab: str, around: Surroundings) -> UpAndDown:
    """Seconds that the two commands take, as a person would type them."""
    around.progress(f"up and down: {lab}")
    with removed(lab):
        up_s = timed("up", str(topology), "--name", lab)
        down_s = timed("down", lab)
    return {"up_s": up_s, "down_s": down_s}


def timed(*arguments: str) -> float:
    started = time.monotonic()
    # In its own process group: who interrupts the bench does not interrupt the command half way, but waits for it.
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "netboxit.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        process_group=0,
        env=os.environ,
    )
    taken = time.monotonic() - started
    if done.returncode != 0:
        raise ProgramFailed(f"netboxit {' '.join(arguments)} failed: {done.stderr.strip()}")
    return taken


@contextmanager
def removed(lab: str) -> Iterator[None]:
    """Whatever happens in the block, no lab of that name stays."""
    with HeldBack() as held:
        try:
            with held.allowed():
                yield
        finally:
            if lab in lab_names():
                take_down(lab)


def _ring(hosts: int, around: Surroundings) -> UpAndDown:
    """So many hosts, each joined to the next: as many links."""
    links = list(islice(IPv4Network("10.0.0.0/16").subnets(new_prefix=30), hosts))
    interfaces = {
        f"h{number}": {"next": f"{links[number][1]}/30", "last": f"{links[number - 1][2]}/30"} for number in range(hosts)
    }
    network: networks.Network = {
        "name": f"bench-ring-{hosts}",
        "hosts": {host: {"interfaces": of} for host, of in interfaces.items()},
        "wires": [[f"h{number}.next", f"h{(number + 1) % hosts}.last"] for number in range(hosts)],
    }
    plan = planned(network, around, cores={})
    return _commands(around.folder / f"{plan.lab}.yaml", plan.lab, around)


def _idle(around: Surroundings) -> dict[str, Idle]:
    """By netbox; its technology, the CPU time that it takes a second, its memory. One lab after the other."""
    memory = networks.chain("bench-idle-mem", 1, "memory")
    veth = networks.chain("bench-idle-veth", 1, "veth")
    emergency = plan_file(EMERGENCY, realtime=realtime_support(), lab="bench-idle", cores=around.cores)
    figures_of = _idle_in(emergency, around, {name: name for name in ("field", "longhaul", "backhaul")})
    for network in (veth, memory):
        plan = planned(network, around, cores=networks.assign_cores(["link1"], around.cores))
        names = {netbox: f"{netbox}, {network['wire']} wires" for netbox in network["netboxes"]}
        figures_of |= _idle_in(plan, around, names)
    return figures_of


def _idle_in(plan: Plan, around: Surroundings, names: dict[str, str]) -> dict[str, Idle]:
    lasts_s = _QUICK_IDLE_S if around.settings.quick else _IDLE_S
    with up(plan, around) as lab:
        time.sleep(1.0)  # what a segment does once at its start is not its idle state
        around.progress(f"{plan.lab}: idle for {lasts_s:g} s")
        before = {netbox: cpu_s(lab, netbox) for netbox in names}
        time.sleep(lasts_s)
        return {
            name: {
                "technology": _technology(lab, netbox),
                "cpu": (cpu_s(lab, netbox) - before[netbox]) / lasts_s,
                "pss_bytes": pss_bytes(lab, netbox),
            }
            for netbox, name in names.items()
        }


def _technology(lab: Lab, netbox: str) -> str:
    with lab.control(netbox) as control:
        return str(control.status()["technology"])


def _range(values: Sequence[float]) -> tuple[str, str]:
    return f"{median(values):.2f}", f"{min(values):.2f} … {max(values):.2f}"
