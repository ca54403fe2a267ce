# SPDX-License-Identifier: GPL-2.0-or-later
"""Real labs of two hosts and a wire: what nodes may and may not, and that nothing of a lab stays behind."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import Plan, RoutePlan
from ownership import state
from ownership.state import LabBusy, LabExists, NoSuchLab
from system import cores, namespaces, realtime_group, wires
from system.containers import ContainerFailed
from system.namespaces import NamespaceFailed
from system.processes import ProgramFailed
from system.realtime_support import realtime_budget_us, realtime_support
from system.wires import WireFailed
from testbed.labs import lab_status
from testbed.labs.lab import Lab, NodeFailed, NoSuchNode
from tests.small_labs import PlanPair
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


def test_two_hosts_reach_each_other_by_name_over_ipv4_and_by_address_over_ipv6(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        lab.wait_ready()
        assert lab.run("left", ["ping", "-c", "1", "-W", "2", "right"]).returncode == 0
        assert lab.run("left", ["ping", "-c", "1", "-W", "2", "fd99::2"]).returncode == 0


def test_a_program_keeps_its_output_and_exit_status(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        result = lab.run("right", ["sh", "-c", "hostname; echo problem >&2; exit 7"])
        assert (result.returncode, result.stdout, result.stderr) == (7, "right\n", "problem\n")
        assert lab.run("right", ["no-such-program"]).returncode == 127


def test_a_program_that_takes_too_long_is_killed_inside_its_container(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        before = cores.processes(lab.node("left").container)
        with pytest.raises(ProgramFailed, match="still running after"):
            lab.run("left", ["sleep", "600"], timeout_s=0.3)
        until(lambda: cores.processes(lab.node("left").container) == before)


def test_nobody_waits_for_what_a_killed_program_left_behind_with_its_output(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        begun = time.monotonic()
        with pytest.raises(ProgramFailed, match="still running after"):
            lab.run("left", ["sh", "-c", "sleep 60 & sleep 60"], timeout_s=0.3)
        assert time.monotonic() - begun < 30  # not until the first of them ends


def test_signals_reach_the_program_itself(plan_pair: PlanPair, tmp_path: Path) -> None:
    script = "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: exit(42))\nprint('ready', flush=True)\ntime.sleep(600)"
    with Lab.up(plan_pair()) as lab:
        log = tmp_path / "log"
        program = lab.start("left", ["/usr/bin/python3", "-c", script], log=log)
        until(lambda: "ready" in log.read_text())
        assert Path(f"/proc/{program.pid}/cmdline").read_bytes().startswith(b"/usr/bin/python3\0")
        program.interrupt()
        assert program.wait(10) == 42
        killed = lab.start("left", ["sleep", "600"], log=log)
        killed.kill()
        assert killed.wait(10) == 128 + signal.SIGKILL


def test_programs_of_the_host_see_the_nodes_network_and_the_hosts_files(plan_pair: PlanPair, tmp_path: Path) -> None:
    with Lab.up(plan_pair()) as lab:
        program = lab.in_namespace("left", ["ip", "-o", "address", "show", "wire"], log=tmp_path / "addresses")
        assert program.wait(10) == 0
        assert "10.99.0.1/24" in (tmp_path / "addresses").read_text()
        lab.in_namespace("left", ["sleep", "600"], log=tmp_path / "left-running")


def test_nothing_is_offloaded_on_a_wire_and_it_carries_its_mark(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair(mtu=1400)) as lab:
        for node in lab.plan.nodes:
            with namespaces.entered(node.namespace):
                assert wires.offloads_on("wire") == []
                shown = json.loads(subprocess.check_output(["ip", "-json", "link", "show", "wire"]))[0]
            assert shown["mtu"] == 1400
            assert shown["altnames"] == [f"netboxit:{lab.name}:cable"]


def test_a_frame_as_long_as_the_mtu_passes_and_a_longer_one_does_not(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair(mtu=1400)) as lab:
        ping = ["ping", "-c", "1", "-W", "1", "-M", "do"]
        assert lab.run("left", [*ping, "-s", "1372", "right"]).returncode == 0
        assert lab.run("left", [*ping, "-s", "1373", "right"]).returncode != 0


def test_a_node_sees_no_other_network_and_sends_nothing_by_itself(plan_pair: PlanPair) -> None:
    plan = plan_pair()
    silent = tuple(replace(n, interfaces=tuple(replace(i, addresses=()) for i in n.interfaces)) for n in plan.nodes)
    with Lab.up(replace(plan, nodes=silent)) as lab:
        with namespaces.entered(lab.node("left").namespace):
            shown = json.loads(subprocess.check_output(["ip", "-json", "-s", "link"]))
        assert {interface["ifname"] for interface in shown} == {"lo", "wire"}
        wire = next(interface for interface in shown if interface["ifname"] == "wire")
        assert wire["stats64"]["tx"]["packets"] == 0


def test_a_node_writes_nowhere_but_in_its_own_folder_and_the_temporary_ones(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        for folder in ("/", "/usr", "/etc", "/var", "/sys", str(CHECKOUT)):
            result = lab.run("left", ["touch", f"{folder}/netboxit-written"])
            assert "Read-only file system" in result.stderr, folder
        assert lab.run("left", ["touch", "/tmp/x", "/run/x", "/run/netboxit/x"]).returncode == 0
        assert (lab.node_folder("left") / "x").exists()


def test_a_node_keeps_only_the_capabilities_of_its_plan(plan_pair: PlanPair) -> None:
    # CAP_NET_RAW is bit 13 of capabilities(7).
    for capabilities, mask in (((), 0), (("net_raw",), 1 << 13)):
        with Lab.up(plan_pair(capabilities=capabilities)) as lab:
            status = lab.run("left", ["cat", "/proc/self/status"]).stdout
            for kind in ("CapPrm", "CapEff", "CapBnd"):
                found = re.search(rf"^{kind}:\s*(\w+)$", status, re.MULTILINE)
                assert found is not None
                assert int(found[1], 16) == mask, kind
            assert "NoNewPrivs:\t1" in status


def test_a_node_runs_on_its_cores_only(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        core = lab.node("left").cores[0]
        assert f"Cpus_allowed_list:\t{core}\n" in lab.run("left", ["cat", "/proc/self/status"]).stdout


def test_emulators_get_sched_fifo_together_within_one_budget_and_hosts_do_not(plan_pair: PlanPair) -> None:
    support = realtime_support()
    if not support.fifo:
        pytest.skip(support.reason)
    tried = "chrt -f 50 true && touch /run/netboxit/granted; exec sleep infinity"
    plan = plan_pair(capabilities=("sys_nice",), right=("sh", "-c", tried))
    left, right = plan.nodes
    nodes = (replace(left, command=right.command), replace(right, realtime_priority=50))
    with Lab.up(replace(plan, nodes=nodes, realtime_budget_us=support.budget_us or 0)) as lab:
        until((lab.node_folder("right") / "granted").exists)
        if support.budget_us is not None:
            group = realtime_group.path()
            within = set(map(int, (group / "cgroup.procs").read_text().split()))  # other labs' emulators, too
            assert cores.processes(right.container) <= within and not cores.processes(left.container) & within
            until(lambda: any("sleep" in Path(f"/proc/{one}/cmdline").read_text() for one in cores.processes(left.container)))
            assert not (lab.node_folder("left") / "granted").exists()


def test_a_lab_that_gets_less_real_time_than_was_planned_says_so(plan_pair: PlanPair) -> None:
    if not realtime_budget_us():
        pytest.skip("this kernel does not ration real-time service, or has none left")
    with Lab.up(replace(plan_pair(), realtime_budget_us=1_000_000)) as lab:
        (note,) = (note for note in lab_status.of(lab)["notes"] if "at real-time priority" in note)
        granted = cores.granted_us(realtime_group.path())
        assert f"may use {granted / 1e6:.0%} of each core at real-time priority, not 100%" in note


def test_a_node_whose_process_is_killed_is_reported_dead_and_the_lab_still_goes_down(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        cores.kill_all(lab.node("right").container)
        until(lambda: lab.alive() == {"left": True, "right": False})
        with pytest.raises(NodeFailed, match="right has ended"):
            lab.wait_ready()
        with pytest.raises(NodeFailed, match="right has ended"):
            lab.run("right", ["true"])


def test_at_the_end_commands_are_asked_before_they_are_killed(plan_pair: PlanPair) -> None:
    polite = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: open('/run/netboxit/kept', 'w').write('all') and exit())\n"
    rude = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    for behaviour, killed in ((polite, []), (rude, ["right"])):
        ready = behaviour + "open('/run/netboxit/ready', 'w').close()\nwhile True: signal.pause()"
        with Lab.up(plan_pair(right=("/usr/bin/python3", "-c", ready))) as lab:
            until((lab.node_folder("right") / "ready").exists)
            with lab.finished(deadline_s=1.0) as left:
                assert left == killed
                assert lab.alive() == {"left": False, "right": False}
            assert (lab.node_folder("right") / "kept").exists() == (behaviour == polite)


def test_a_lab_whose_monitors_were_killed_still_goes_down(plan_pair: PlanPair) -> None:
    lab = Lab.up(plan_pair())
    for node in lab.plan.nodes:
        assert cores.kill_all(f"{node.container}.monitor")
    lab.down()


def test_a_command_that_ends_at_once_is_told_with_its_log(plan_pair: PlanPair) -> None:
    plan = plan_pair(right=("sh", "-c", "echo the model diverged; exit 3"))
    with pytest.raises((NodeFailed, ContainerFailed), match="the model diverged"), Lab.up(plan) as lab:
        until(lambda: not lab.alive()["right"])
        lab.wait_ready()


def test_a_wire_that_cannot_be_made_undoes_everything_and_says_which(plan_pair: PlanPair) -> None:
    plan = plan_pair()
    left, right = plan.nodes
    bad = replace(left, routes=(RoutePlan("default", "10.98.0.1"),))
    with pytest.raises(WireFailed, match=r"node left: routes: the kernel answered: .*unreachable"):
        Lab.up(replace(plan, nodes=(bad, right)))


def test_a_namespace_of_somebody_else_is_neither_used_nor_removed(plan_pair: PlanPair) -> None:
    plan = plan_pair()
    foreign = plan.nodes[1].namespace
    namespaces.create([foreign])
    try:
        with pytest.raises(NamespaceFailed, match="not this lab's"):
            Lab.up(plan)
        with namespaces.entered(foreign):
            pass
    finally:
        namespaces.delete(foreign)


def test_a_second_lab_of_the_same_name_is_refused_and_the_first_stays(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        with pytest.raises(LabExists, match=f"netboxit down {lab.name}"):
            Lab.up(plan_pair())
        assert lab.run("left", ["ping", "-c", "1", "-W", "2", "right"]).returncode == 0


def test_two_labs_live_side_by_side_and_do_not_hear_each_other(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair("one")) as one, Lab.up(plan_pair("two")) as two:
        assert state.lab_names() == sorted([one.name, two.name])
        for lab in (one, two):
            assert lab.run("left", ["ping", "-c", "1", "-W", "2", "right"]).returncode == 0
        one.run("right", ["touch", "/run/netboxit/here"])
        assert not (two.node_folder("right") / "here").exists()


def test_a_lab_is_found_again_by_its_name_alone(plan_pair: PlanPair) -> None:
    made = Lab.up(plan_pair())
    try:
        found = Lab.open(made.name)
        assert found.plan == made.plan
        assert found.run("left", ["hostname"]).stdout == "left\n"
        with pytest.raises(NoSuchNode, match="its nodes are left, right"):
            found.run("middle", ["true"])
    finally:
        Lab.open(made.name).down()
    with pytest.raises(NoSuchLab):
        Lab.open(made.name)


def test_a_lab_that_another_command_works_on_is_not_touched(plan_pair: PlanPair) -> None:
    lab = Lab.up(plan_pair())
    with state.locked(lab.folder), pytest.raises(LabBusy):
        lab.down()
    lab.down()


def test_a_netboxit_killed_while_bringing_up_leaves_only_what_down_removes(plan_pair: PlanPair, state_folder: Path) -> None:
    plan = plan_pair()
    script = """
import json, sys
from testbed.labs.lab import Lab
from contracts.plan import Plan
Lab.up(Plan.from_json(json.load(sys.stdin)))
"""
    for moment in ("namespace", "wire", "container"):
        process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, cwd=CHECKOUT, text=True)
        assert process.stdin is not None
        json.dump(plan.to_json(), process.stdin)
        process.stdin.close()
        ledger = state_folder / "labs" / plan.lab / "ledger.jsonl"
        until(lambda: ledger.exists() and f'"{moment}"' in ledger.read_text())  # noqa: B023
        process.kill()
        process.wait()
        Lab.open(plan.lab).down()


def test_after_a_reboot_down_finds_nothing_but_the_folder_and_removes_it(plan_pair: PlanPair) -> None:
    plan = plan_pair()
    lab = Lab.up(plan)
    ledger = (lab.folder / "ledger.jsonl").read_bytes()
    lab.down()
    folder = state.make_lab_folder(lab.name)
    (folder / "ledger.jsonl").write_bytes(ledger)
    # What a bind mount leaves of itself on a disk.
    stale = [namespaces.path(node.namespace) for node in plan.nodes]
    for file in stale:
        file.touch()
    Lab.open(lab.name).down()
    assert not any(file.exists() for file in stale)


def test_the_plan_survives_being_written_as_json(plan_pair: PlanPair) -> None:
    plan = plan_pair()
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
