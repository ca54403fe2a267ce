# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs whose parts were killed, whose host was rebooted, or that several commands work on at a time go down without a trace.

Each test has a host of its own; what it finds there is returned, so that the assertion is made outside.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed import cores, namespaces, processes, removal, rings, state
from testbed.containers import Container
from testbed.errors import NetBoxITError
from testbed.lab import Lab
from tests.host_state import ALL, HostState
from tests.own_commands import FILE, TOPOLOGY, Running, expect_success, lasting_changes, prepare, watched_command
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


def test_whatever_was_killed_in_a_lab_down_leaves_nothing() -> None:
    def tried() -> dict[str, str]:
        prepare()
        before = HostState.now(ALL)
        changes = {}
        for name, victims in VICTIMS.items():
            expect_success("up", str(FILE))
            lab = Lab.open("x")
            # Outside of all containers, in a node's network: as a capture whose owner was killed.
            capture = lab.in_namespace("a", ["sleep", "600"], log=Path(os.devnull))
            for victim in victims(lab):
                with suppress(ProcessLookupError):  # with a first process all others of its container end
                    os.kill(victim, signal.SIGKILL)
            expect_success("down")
            capture.wait(10)
            changes[name] = lasting_changes(before)
        return changes

    assert run_in_own_host(tried) == dict.fromkeys(VICTIMS, "")


def test_after_a_reboot_only_files_are_left_and_down_removes_them() -> None:
    def tried() -> str:
        prepare()
        before = HostState.now(ALL)
        expect_success("up", str(FILE))
        lab = Lab.open("x")
        shutil.copytree(STATE, "/run/kept", symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
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
        return lasting_changes(before)

    assert run_in_own_host(tried) == ""


def test_a_ledger_with_half_a_last_line_is_undone() -> None:
    def tried() -> str:
        prepare()
        before = HostState.now(ALL)
        expect_success("up", str(FILE))
        with LEDGER.open("a") as ledger:
            ledger.write('{"kind": "namespace", "na')
        expect_success("down")
        return lasting_changes(before)

    assert run_in_own_host(tried) == ""


def test_of_two_labs_of_one_file_one_goes_while_the_other_carries_traffic() -> None:
    def tried() -> tuple[int, str]:
        prepare()
        before = HostState.now(ALL)
        FILE.write_text(json.dumps(without_equipment()))
        expect_success("up", str(FILE), "--name", "one")
        with watched_command("up", str(FILE), "--name", "two") as two:
            for number, call in enumerate(iter(lambda: two.next(two.pidfd), None)):
                if number == 600:  # some containers are there
                    os.kill(two.pid, signal.SIGKILL)
                two.let_go(call)
            two.status()
            taking_down = Running("down", "two")
            while call := two.next(taking_down.pidfd):
                two.let_go(call)
            assert taking_down.complaint() == ""
        status = Lab.open("one").run("a", ["ping", "-c", "3", "-i", "0.05", "-W", "5", "10.20.0.20"]).returncode
        expect_success("down", "--all")
        FILE.write_text(TOPOLOGY)
        return status, lasting_changes(before)

    assert run_in_own_host(tried) == (0, "")


def test_two_downs_at_a_time_are_both_content() -> None:
    def tried() -> tuple[list[str], str]:
        prepare()
        before = HostState.now(ALL)
        expect_success("up", str(FILE))
        both = [Running("down", "--all"), Running("down", "--all")]
        return [one.complaint() for one in both], lasting_changes(before)

    assert run_in_own_host(tried) == (["", ""], "")


def test_down_while_a_lab_comes_up_waits_its_turn_or_ends_it() -> None:
    def tried() -> tuple[list[str], int, str]:
        prepare()
        before = HostState.now(ALL)
        said: list[str] = []
        with watched_command("up", str(FILE)) as up:
            while call := up.next(up.pidfd):
                if call.process == up.pid:
                    phase = _phase()
                    if (phase == "made" and not said) or (phase == "waits" and len(said) == 1):
                        taking_down = Running("down", "--all")
                        while other := up.next(taking_down.pidfd):
                            up.let_go(other)
                        said.append(taking_down.complaint())
                up.let_go(call)
            status = up.status()
        return said, status, lasting_changes(before)

    (busy, quiet), status, changes = run_in_own_host(tried)
    assert "another netboxit command" in busy
    assert (quiet, changes) == ("", "")
    assert status == 1  # its lab was taken away


def _phase() -> str:
    """How far `up` has come: "made" while it works on the lab, "waits" when it has let go of it and waits for the nodes."""
    if not LEDGER.exists():
        return "planned"
    try:
        with state.locked(LEDGER.parent, patience_s=0):
            return "waits"
    except NetBoxITError:
        return "made"


def test_what_another_lab_made_under_the_same_names_is_left_alone() -> None:
    """Another state folder has another lab of the same name, made when all of the first one's was removed by hand."""

    def tried() -> tuple[int, str]:
        prepare()
        before = HostState.now(ALL)
        expect_success("up", str(FILE))
        shutil.copytree(STATE, "/run/kept", symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        expect_success("down")
        Path("/run/kept").rename("/run/gone")
        expect_success("up", str(FILE))
        os.environ["NETBOXIT_STATE"] = "/run/gone"
        expect_success("down", "x")
        os.environ["NETBOXIT_STATE"] = str(STATE)
        status = Lab.open("x").run("a", ["ping", "-c", "3", "-i", "0.05", "-W", "5", "10.20.0.20"]).returncode
        expect_success("down")
        shutil.rmtree("/run/gone")
        return status, lasting_changes(before)

    assert run_in_own_host(tried) == (0, "")


@pytest.mark.parametrize("kind", ["container's group", "real-time group", "memory wire"])
def test_up_neither_uses_nor_removes_what_somebody_else_has_made(kind: str) -> None:
    def tried() -> tuple[str, str]:
        prepare()
        foreign = {
            "container's group": cores.group_folder("cpuset", "nbx-x-a"),
            "real-time group": cores.group_folder("cpu", "nbx-x.realtime"),
            "memory wire": rings.FOLDER / "x" / "first.right--meoc.ian",
        }[kind]
        foreign.mkdir(parents=True)
        before = HostState.now(ALL)
        said = Running("up", str(FILE)).complaint()
        return said, lasting_changes(before)

    said, changes = run_in_own_host(tried)
    assert "exists already" in said or "is there already" in said
    assert changes == ""
