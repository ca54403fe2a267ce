# SPDX-License-Identifier: GPL-2.0-or-later
"""Real hosts with files and programs that their topology brings into them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.plan import RealtimeSupport
from ownership import operators
from ownership.operators import NotConfined
from system import node_disks
from testbed.changing import alteration, apply_now
from testbed.description.topology_file import load
from testbed.labs import deployment, lab_status
from testbed.labs.deployment import FilesChanged
from testbed.labs.lab import Lab
from testbed.plans.resolve import resolve
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient, pytest.mark.usefixtures("nothing_left")]

_GET = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())"
_SERVE = "cd /srv/site && exec python3 -m http.server 80"


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A topology's folder, with a folder in it."""
    (folder := tmp_path / "beside").mkdir()
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text("hello")
    (folder / "site/tool").write_text("#!/bin/sh\necho it ran\n")
    (folder / "site/tool").chmod(0o4755)
    return folder


def topology(beside: Path, **web: Any) -> Path:
    network = {
        "name": f"own{os.getpid()}",
        "hosts": {"web": {"address": "10.0.0.1/24", **web}, "client": {"address": "10.0.0.2/24"}},
        "wires": [["web", "client"]],
    }
    (file := beside / "x.yaml").write_text(json.dumps(network))
    return file


def up(file: Path) -> Lab:
    return Lab.up_and_ready(resolve(load(file), realtime=RealtimeSupport(False, None, "")))


def answers(lab: Lab) -> str:
    return lab.run("client", ["/usr/bin/python3", "-c", _GET, "http://web/"]).stdout.strip()


def inside(lab: Lab, line: str) -> str:
    done = lab.run("web", ["sh", "-c", line])
    return (done.stdout + done.stderr).strip()


def state(lab: Lab) -> str | None:
    program = lab.program("web")
    return program.state if program else None


@pytest.fixture
def web(beside: Path) -> Iterator[Lab]:
    with up(topology(beside, files={"/srv/site": "site", "/root/one": "site/index.html"}, start=_SERVE)) as lab:
        until(lambda: answers(lab) == "hello")
        yield lab


def test_a_web_server_of_ones_own_answers_and_its_files_are_the_hosts(web: Lab, beside: Path) -> None:
    assert inside(web, "stat -c '%U %a' /srv/site /srv/site/tool /root/one") == "root 755\nroot 755\nroot 644"
    assert inside(web, "echo new > /srv/site/index.html && echo more > /srv/other && cat /srv/other") == "more"
    assert answers(web) == "new" and (beside / "site/index.html").read_text() == "hello"
    assert "Permission denied" in inside(web, "/srv/site/tool") and inside(web, "sh /srv/site/tool") == "it ran"
    assert web.run("client", ["ls", "-A", "/srv", "/root"]).stdout.split() == ["/root:", "/srv:"], "another host has none of it"


def test_a_reboot_starts_the_program_again_and_leaves_the_files_as_they_are(web: Lab) -> None:
    inside(web, "echo new > /srv/site/index.html")
    apply_now.change(web, "web", "reboot=100ms")
    until(lambda: answers(web) == "new")
    program = web.program("web")
    assert program and (program.state, program.starts) == ("runs", 1)


def test_a_host_cannot_have_another_folder_shown_at_its_next_start(web: Lab) -> None:
    """What its files are on is not in a folder that it can change."""
    inside(web, "cd /run/netboxit && rm -rf srv web.files ../web.files; ln -s / srv; ln -s / web.files; mv /srv/site /srv/old")
    inside(web, "ln -s /etc /srv/site")
    apply_now.change(web, "web", "reboot=100ms")
    until(lambda: state(web) in ("runs", "ended"))
    assert "tool" in inside(web, "ls /srv/old")
    assert "shadow" not in inside(web, "ls /srv/site/")


def test_what_apply_brings_is_there_after_it(web: Lab, beside: Path) -> None:
    (beside / "site/index.html").write_text("other")
    inside(web, "echo own > /srv/own")
    done = alteration.apply(topology(beside, files={"/srv/site": "site"}, start=_SERVE), None)
    assert done.difference is not None
    (found,) = done.difference.nodes_to_be("restarted")
    assert found.reasons == ("what is copied to /srv/site is another", "what is copied to /root/one is gone")
    until(lambda: answers(web) == "other")
    assert inside(web, "ls -A /srv /root").split() == ["/root:", "/srv:", "site"]
    same = alteration.apply(beside / "x.yaml", None).difference
    assert same is not None and same.nothing()
    without = alteration.apply(topology(beside), None).difference
    assert without is not None and [node.name for node in without.nodes_to_be("restarted")] == ["web"]
    lab = Lab.open(web.name)
    assert inside(lab, "ls -A /srv /run/netboxit").split() == ["/run/netboxit:", "log", "program.log", "/srv:"]


def test_a_disk_that_its_program_has_filled_is_told(beside: Path) -> None:
    if refused := node_disks.refused():
        pytest.skip(refused)
    fill = "cat /dev/zero >/srv/site/more"
    with up(
        topology(beside, files={"/srv/site": "site", "/root/one": "site/index.html"}, start=fill, limits={"disk": "16 MB"})
    ) as lab:
        until(lambda: state(lab) == "ended")
        assert "web has reached its limit of disk: the disk with /srv and /root is full (16 MB)" in lab_status.of(lab)["notes"]


def test_a_program_that_ends_is_told_and_one_that_fails_is_started_again(beside: Path) -> None:
    with up(topology(beside, start="echo because; exit 3")) as lab:
        until(lambda: state(lab) == "ended")
        status = lab_status.of(lab)
        assert "web: its program has ended with status 3; the end of its log: because" in status["notes"]
        told = {node["name"]: node["program"] for node in status["nodes"]}
        assert told == {"web": {"state": "ended", "status": 3, "starts": 1, "log": "because"}, "client": None}
        assert lab.alive() == {"web": True, "client": True}
        alteration.apply(
            topology(beside, start="test -e there || { touch there; exit 3; }; exec sleep 1000", restart="on-failure"), None
        )
        lab = Lab.open(lab.name)
        until(lambda: state(lab) == "runs" and (lab.program("web") or 0) and lab.program("web").starts == 2)  # type: ignore[union-attr]
        assert any("was started 2 times, and ended last with status 3" in note for note in lab_status.of(lab)["notes"])


def test_what_changes_before_it_is_copied_is_told_and_leaves_nothing(beside: Path) -> None:
    plan = resolve(load(topology(beside, files={"/srv/site": "site"})), realtime=RealtimeSupport(False, None, ""))
    (beside / "site/index.html").write_text("other")
    with pytest.raises(FilesChanged, match="has changed since the lab was planned"):
        Lab.up(plan)


def test_an_operators_file_starts_nothing_as_the_machines_root(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = resolve(load(topology(beside, start="touch here")), realtime=RealtimeSupport(False, None, ""))
    monkeypatch.setenv(operators.VARIABLE, "65534")
    monkeypatch.setattr(deployment.Deployment, "_in_users", lambda self, node: False)
    with pytest.raises(NotConfined, match="node web would start a program as the machine's own root"):
        Lab.up(plan)


def test_files_without_disks_of_their_own_are_removed_with_the_lab(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_disks, "refused", lambda: "this test has none")
    with up(topology(beside, files={"/srv/site": "site"}, start=_SERVE)) as lab:
        until(lambda: answers(lab) == "hello")
        assert stat.S_IMODE((lab.folder / "nodes/web.files/srv/site/tool").stat().st_mode) == 0o755
