# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.debian_program import DebianProgram
from system import containers, cores, monitors, node_disks
from testbed.documents.host import Ability
from testbed.probes import asking, isolation, network, programs, timing, trial_lab
from testbed.probes.doctor import examine
from testbed.probes.finding import examined
from testbed.views import result_view


@pytest.mark.usefixtures("state_folder")
def test_whatever_is_missing_has_a_remedy_and_says_what_is_lost() -> None:
    findings = examine()["findings"]
    assert len(findings) > 20
    for finding in findings:
        assert finding.found, finding.name
        if finding.there != "yes":
            assert finding.lost, finding.name
            assert finding.remedy, finding.name


def test_labs_can_run_exactly_when_nothing_needed_is_missing() -> None:
    there = Ability("wires", "yes", "made", needed=True)
    missing = Ability("wires", "no", "refused", "wires", "be root", needed=True)
    assert examined((there, replace(missing, needed=False), replace(missing, there="partly")))["able"]
    assert not examined((there, missing))["able"]


def test_an_examination_can_be_read_by_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    result_view.show_examination(examined([Ability("wires", "yes", "made", needed=True)]), as_json=True)
    assert json.loads(capsys.readouterr().out)["findings"][0]["name"] == "wires"


def test_a_program_that_is_not_installed_is_missed_with_what_it_is_for() -> None:
    finding = programs.tool(DebianProgram("netboxit-no-such-program", "none", "calls"), "install it")
    assert (finding.there, finding.lost) == ("no", "calls")


def test_the_version_of_an_installed_program_is_found() -> None:
    assert programs.tool(DebianProgram("python3", "python3", "everything"), "install it").found.startswith("3.")


def test_a_library_that_its_interpreter_does_not_find_is_missed() -> None:
    library = DebianProgram("python3", "python3-none", "a library", "-cimport netboxit_no_such_library")
    finding = programs.tool(library, "install it")
    assert (finding.there, finding.found) == ("no", "it tells no version; python3-none may be missing")


@pytest.mark.timeout(30)
def test_a_program_that_does_not_answer_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "sleeper"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(asking, "_PATIENCE_S", 0.2)
    finding = programs.tool(DebianProgram("sleeper", "none", "sleep"), "install it")
    assert (finding.there, finding.lost) == ("no", "sleep")
    assert "does not end within 0.2 s" in finding.found and f"{program} --version" in finding.remedy


def test_lxc_is_missed_where_the_path_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isolation.lxc().there == "no"


def test_control_groups_are_missed_where_none_has_cpuset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "hierarchies", lambda: (cores.Hierarchy(Path("/cgroup"), 1, frozenset({"memory"})),))
    assert isolation.control_groups().there == "no"
    assert not isolation.realtime().found.startswith("SCHED_FIFO works")


def test_control_groups_that_are_hidden_are_told_with_how_to_enter_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "hierarchies", lambda: ())
    assert "`nsenter --net=/run/netns/NAME`" in isolation.control_groups().remedy
    with pytest.raises(containers.ContainerFailed, match=r"no control group hierarchy is mounted here.*nsenter --net="):
        containers.HostFacts.read()


def test_what_nothing_bounds_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "hierarchies", lambda: (cores.Hierarchy(Path("/cgroup"), 2, frozenset({"memory"})),))
    finding = isolation.limits_of_nodes()
    assert finding.there == "partly" and finding.lost.startswith("one node can use up this host's processes")
    assert "bounded: memory" in finding.found and "not bounded: processes" in finding.found
    assert "cgroup_disable=pids" in finding.remedy and "cgroup_disable=memory" not in finding.remedy


@pytest.mark.lab
def test_whether_nodes_can_have_disks_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    if refused := node_disks.refused():
        pytest.skip(refused)
    assert "disk" not in isolation.limits_of_nodes().lost
    monkeypatch.setattr(node_disks, "_GET_FREE", 0)  # the kernel refuses that
    finding = isolation.limits_of_nodes()
    assert finding.there == "partly" and "not bounded: disk" in finding.found
    assert "cannot be mounted" in finding.remedy and "losetup --find" in finding.remedy


def test_the_number_of_cores_is_that_of_this_process() -> None:
    assert timing.core_count().found == f"{len(os.sched_getaffinity(0))} usable"


def test_examining_leaves_the_network_and_the_control_groups_as_they_were() -> None:
    def seen() -> tuple[set[str], set[str]]:
        groups = {str(path) for h in cores.hierarchies() for path in h.folder.glob(f"netboxit-probe-{os.getpid()}-*")}
        return {path.name for path in Path("/sys/class/net").iterdir()}, groups

    before = seen()
    network.wires_and_ports()
    isolation.realtime()
    assert seen() == before


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left", "state_folder")
def test_a_lab_is_brought_up_before_doctor_says_that_labs_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    there = trial_lab.probe()
    assert (there.there, there.needed) == ("yes", True) and "memory and veth" in there.found
    monkeypatch.setattr(monitors, "PROGRAM", "/bin/false")
    missing = trial_lab.probe()
    assert (missing.there, missing.needed) == ("no", True) and "did not start (lxc-execute ended with 1)" in missing.found
    assert missing.lost and missing.remedy
