# SPDX-License-Identifier: GPL-2.0-or-later
"""Real hosts with Debian packages that the machine does not have."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from contracts.plan import RealtimeSupport
from system.file_trees import NoRoom
from system.package_layers import PackagesNotInstalled
from testbed.changing import alteration, apply_now
from testbed.description.topology_file import load
from testbed.labs.lab import Lab
from testbed.plans.resolve import resolve
from tests.debian_packages import Repository
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient, pytest.mark.usefixtures("nothing_left", "repository")]

_SCRIPT = (
    "mkdir /var/lib/own-tool && useradd --system own-user && chown own-user /var/lib/own-tool && echo theirs >/var/lib/own-tool/x"
)
_TOOL = "#!/bin/sh\ncat /etc/own-tool/says /var/lib/own-tool/x\nexec sleep 1000\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    tmp_path.chmod(0o755)
    made = Repository(tmp_path / "repository")
    made.add("own-tool", {"/usr/sbin/own-tool": _TOOL, "/etc/own-tool/says": "it says\n"}, after=_SCRIPT)
    made.add("own-other", {"/usr/bin/own-other": "#!/bin/sh\necho other\n"})
    made.add("own-ballast", {"/var/lib/own-ballast": "0123456789abcdef" * (1 << 21)})
    monkeypatch.setenv("APT_CONFIG", str(made.configuration))
    return made


def topology(folder: Path, **web: Any) -> Path:
    network = {
        "name": f"own{os.getpid()}",
        "hosts": {"web": {"address": "10.0.0.1/24", **web}, "client": {"address": "10.0.0.2/24"}},
        "wires": [["web", "client"]],
    }
    (file := folder / "x.yaml").write_text(json.dumps(network))
    return file


def up(file: Path) -> Lab:
    return Lab.up_and_ready(resolve(load(file), realtime=RealtimeSupport(False, None, "")))


def inside(lab: Lab, line: str, node: str = "web") -> str:
    done = lab.run(node, ["sh", "-c", line])
    return (done.stdout + done.stderr).strip()


def log(lab: Lab) -> str:
    program = lab.program("web")
    return program.log if program else ""


def test_a_host_has_what_its_packages_bring_and_may_change_it(tmp_path: Path) -> None:
    with up(topology(tmp_path, packages=["own-tool"], start="own-tool")) as lab:
        until(lambda: log(lab) == "it says / theirs")
        assert inside(lab, "stat -c '%U %a' /etc/own-tool/says /usr/sbin/own-tool").split("\n")[0] == "root 755"
        assert inside(lab, "stat -c '%U %a' /var/lib/own-tool /var/lib /etc/passwd") == "own-user 755\nroot 755\nroot 644"
        assert "Read-only file system" in inside(lab, "touch /usr/sbin/x")
        assert "own-tool" not in inside(lab, "ls /usr/sbin /etc/own-tool/ /var/lib", "client").replace("/etc/own-tool/:", "")
        assert "own-user" not in inside(lab, "cat /etc/passwd", "client")
        inside(lab, "echo it said >/etc/own-tool/says")
        apply_now.change(lab, "web", "reboot=100ms")
        until(lambda: "it said / theirs" in log(lab))
        assert not Path("/usr/sbin/own-tool").exists() and not Path("/etc/own-tool").exists()


def test_files_of_its_user_replace_what_packages_have_brought(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine\n")
    files = {"/var/lib/own-tool/x": "x", "/etc/own-tool/says": "x", "/etc/more": "x"}
    with up(topology(tmp_path, packages=["own-tool"], files=files, start="own-tool")) as lab:
        until(lambda: log(lab) == "mine / mine")
        assert inside(lab, "stat -c %U /etc/own-tool/says /etc/own-tool /etc/more; cat /etc/more") == "root\nroot\nroot\nmine"
        assert inside(lab, "cat /etc/more", "client") == "", "there it is an empty file"


def test_apply_brings_other_packages_and_takes_those_away_that_are_gone(tmp_path: Path) -> None:
    with up(topology(tmp_path, packages=["own-tool"])) as lab:
        done = alteration.apply(topology(tmp_path, packages=["own-other"]), None).difference
        assert done is not None and [node.name for node in done.nodes_to_be("restarted")] == ["web"]
        assert inside(lab, "own-other; ls /usr/sbin/own-tool").startswith("other\nls: cannot access")
        same = alteration.apply(tmp_path / "x.yaml", None).difference
        assert same is not None and same.nothing()
        alteration.apply(topology(tmp_path), None)
        assert "not found" in inside(lab, "own-other") and inside(lab, "ls -A /var/lib /etc/passwd") == "/etc/passwd\n\n/var/lib:"


@pytest.mark.parametrize(
    ("web", "error", "said"),
    [
        ({"packages": ["no-such-thing"]}, PackagesNotInstalled, "Unable to locate package no-such-thing"),
        ({"packages": ["own-ballast"], "limits": {"disk": "16 MB"}}, NoRoom, "give the host more by limits"),
    ],
)
def test_what_cannot_be_had_is_told_and_leaves_no_lab(
    web: dict[str, Any], error: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        up(topology(tmp_path, **web))
