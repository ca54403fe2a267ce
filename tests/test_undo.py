# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs whose parts were killed, whose host was rebooted, or that several commands work on at a time go down without a trace.

All of it happens in one host, one after the other; the tests say what came of it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.errors import NetBoxITError
from ownership import state
from system import cores, namespaces, processes, realtime_group, rings
from system.containers import Container
from system.realtime_support import realtime_budget_us
from testbed.labs import removal
from testbed.labs.lab import Lab
from tests.host_state import ALL, HostState
from tests.own_commands import FILE, TOPOLOGY, UP, Running, expect_success, lasting_changes, prepare, watched_command
from tests.own_host import run_in_own_host

pytestmark = pytest.mark.lab

STATE = Path("/run/state")
LEDGER = STATE / "labs/x/ledger.jsonl"


def container(lab: Lab, node: str) -> Container:
    return removal.container_of(lab.folder, node, lab.node(node).container)


def without_equipment() -> dict[str, Any]:
    """An interface can be one lab's only."""
    topology = yaml.safe_load(TOPOLOGY)
    equipment = topology.pop("equipment")
    topology["wires"] = [wire for wire in topology["wires"] if wire[1] not in equipment]
    for station in ("spare", "machine"):
        del topology["netboxes"]["first"]["stations"][station]
    return topology  # type: ignore[no-any-return]


def everything_inside(lab: Lab) -> list[int]:
    return [process for node in lab.plan.nodes for process in cores.processes(node.container)]


#: What is killed in a lab that runs.
VICTIMS: dict[str, Callable[[Lab], list[int]]] = {
    "monitors": lambda lab: [p for node in lab.plan.nodes for p in cores.processes(f"{node.container}.monitor")],
    "first processes": lambda lab: [process for process in everything_inside(lab) if processes.is_init(process)],
    "a netbox": lambda lab: [p for p in cores.processes(lab.node("first").container) if not processes.is_init(p)],
    "a router": lambda lab: [p for p in cores.processes(lab.node("meoc").container) if not processes.is_init(p)],
    "everything": everything_inside,
}


def killed(victims: Callable[[Lab], list[int]]) -> None:
    expect_success(*UP)
    lab = Lab.open("x")
    # Outside of all containers, in a node's network: as a capture whose owner was killed.
    capture = lab.in_namespace("a", ["sleep", "600"], log=Path(os.devnull))
    for victim in victims(lab):
        with suppress(ProcessLookupError):  # with a first process all others of its container end
            os.kill(victim, signal.SIGKILL)
    expect_success("down")
    capture.wait(10)


def keep_state() -> None:
    """A copy of what a disk would still have after a reboot; nodes' disks are sparse files."""
    subprocess.run(["cp", "--archive", "--sparse=always", STATE, "/run/kept"], check=True)


def rebooted() -> None:
    expect_success(*UP)
    lab = Lab.open("x")
    keep_state()
    stale = [namespaces.path(node.namespace) for node in lab.plan.nodes]
    held = Path("/run/netboxit/awake")
    shutil.copytree(held, "/run/held")
    expect_success("down")
    shutil.rmtree(STATE)
    Path("/run/kept").rename(STATE)
    # Where /run is on a disk, these outlive what they stood for.
    for file in stale:
        file.touch()
    held.parent.mkdir()
    Path("/run/held").rename(held)
    expect_success("down", "--all")


def half_a_line() -> None:
    expect_success(*UP)
    with LEDGER.open("a") as ledger:
        ledger.write('{"kind": "namespace", "na')
    expect_success("down")


def two_labs() -> tuple[int, list[str]]:
    """Whether one still carries traffic when the other is gone, and how the emulators of both were scheduled."""
    FILE.write_text(json.dumps(without_equipment()))
    expect_success("up", str(FILE), "--name", "one")
    with watched_command("up", str(FILE), "--name", "two") as two:
        for number, call in enumerate(two.calls(two.pidfd)):
            if number == 600:  # some containers are there
                os.kill(two.pid, signal.SIGKILL)
            two.let_go(call)
        two.status()
        taking_down = Running("down", "two")
        for call in two.calls(taking_down.pidfd):
            two.let_go(call)
        assert taking_down.complaint() == ""
    status = reached("one")
    expect_success("up", str(FILE), "--name", "two")
    scheduled = [policy(lab) for lab in ("one", "two")]
    expect_success("down", "--all")
    FILE.write_text(TOPOLOGY)
    return status, scheduled


def policy(lab: str) -> str:
    with Lab.open(lab).control("first") as control:
        return str(control.status()["scheduler"]["policy"])


def reached(lab: str) -> int:
    """Whether one host of a lab reaches the other: ping's exit status."""
    return Lab.open(lab).run("a", ["ping", "-c", "3", "-i", "0.05", "-W", "5", "10.20.0.20"]).returncode


def two_downs() -> list[str]:
    expect_success(*UP)
    both = [Running("down", "--all"), Running("down", "--all")]
    return [one.complaint() for one in both]


def down_during_up() -> tuple[list[str], int]:
    """What two `down` say, one while `up` makes the lab and one while it waits for its nodes, and how `up` ends."""
    said: list[str] = []
    with watched_command(*UP) as up:
        for call in up.calls(up.pidfd):
            if call.process == up.pid:
                phase = _phase()
                if (phase == "made" and not said) or (phase == "waits" and len(said) == 1):
                    taking_down = Running("down", "--all")
                    for other in up.calls(taking_down.pidfd):
                        up.let_go(other)
                    said.append(taking_down.complaint())
            up.let_go(call)
        return said, up.status()


def _phase() -> str:
    """How far `up` has come: "made" while it works on the lab, "waits" when it has let go of it and waits for the nodes."""
    if not LEDGER.exists():
        return "planned"
    try:
        with state.locked(LEDGER.parent, patience_s=0):
            return "waits"
    except NetBoxITError:
        return "made"


def another_lab_of_the_name() -> int:
    """Another state folder has another lab of the same name, made when all of the first one's was removed by hand."""
    expect_success(*UP)
    keep_state()
    expect_success("down")
    Path("/run/kept").rename("/run/gone")
    expect_success(*UP)
    os.environ["NETBOXIT_STATE"] = "/run/gone"
    expect_success("down", "x")
    os.environ["NETBOXIT_STATE"] = str(STATE)
    status = reached("x")
    expect_success("down")
    shutil.rmtree("/run/gone")
    return status


def name_in_use(folder: Callable[[], Path]) -> tuple[str, str] | None:
    """What `up` says of somebody else's folder, and how it changes that; None where a lab makes no such thing."""
    if folder == FOREIGN["real-time group"] and not realtime_budget_us():
        return None
    (foreign := folder()).mkdir(parents=True)
    before = HostState.now(ALL)
    said = Running(*UP).complaint()
    changes = lasting_changes(before)
    foreign.rmdir()
    with suppress(OSError):
        foreign.parent.rmdir()
        rings.FOLDER.rmdir()
    return said, changes


FOREIGN: dict[str, Callable[[], Path]] = {
    "container's group": lambda: cores.group_folder("cpuset", "nbx-x-a"),
    "real-time group": realtime_group.path,
    "memory wire": lambda: rings.FOLDER / "x" / "first.right--meoc.ian",
}

SCENARIOS: dict[str, Callable[[], Any]] = {
    **{name: partial(killed, victims) for name, victims in VICTIMS.items()},
    "reboot": rebooted,
    "half a line": half_a_line,
    "two labs": two_labs,
    "two downs": two_downs,
    "down during up": down_during_up,
    "another lab of the name": another_lab_of_the_name,
    **{name: partial(name_in_use, folder) for name, folder in FOREIGN.items()},
}


def _all() -> dict[str, tuple[Any, str]]:
    prepare()
    before = HostState.now(ALL)
    found = {}
    for name, scenario in SCENARIOS.items():
        found[name] = (scenario(), lasting_changes(before))
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, tuple[Any, str]]:
    """Of each scenario what it returned, and how the host differs from before."""
    return run_in_own_host(_all)


Found = dict[str, tuple[Any, str]]


@pytest.mark.parametrize("name", [*VICTIMS, "reboot", "half a line"])
def test_whatever_happened_to_a_lab_down_leaves_nothing(found: Found, name: str) -> None:
    assert found[name] == (None, "")


def test_of_two_labs_of_one_file_one_goes_while_the_other_carries_traffic(found: Found) -> None:
    (status, scheduled), changes = found["two labs"]
    assert (status, changes) == (0, "")
    assert scheduled[0] == scheduled[1]  # what there is of real-time service is for both


def test_two_downs_at_a_time_are_both_content(found: Found) -> None:
    assert found["two downs"] == (["", ""], "")


def test_down_while_a_lab_comes_up_waits_its_turn_or_ends_it(found: Found) -> None:
    ((busy, quiet), status), changes = found["down during up"]
    assert "another netboxit command" in busy
    assert (quiet, changes) == ("", "")
    assert status == 1  # its lab was taken away


def test_what_another_lab_made_under_the_same_names_is_left_alone(found: Found) -> None:
    assert found["another lab of the name"] == (0, "")


@pytest.mark.parametrize("kind", FOREIGN)
def test_up_neither_uses_nor_removes_what_somebody_else_has_made(found: Found, kind: str) -> None:
    outcome, left = found[kind]
    if outcome is None:
        pytest.skip("this kernel does not ration real-time service, or has none left")
    said, changed = outcome
    assert "exists already" in said or "is there already" in said
    assert (changed, left) == ("", "")
