# SPDX-License-Identifier: GPL-2.0-or-later
"""What applications leave in hosts of a lab that stays up is found and goes; what is somebody else's stays."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from contracts.plan import TrafficPlan
from system import cores
from system.node_files import OwnFiles
from testbed.labs.lab import Lab
from testbed.runs.hosts_of_lab import HostsOfLab, NameTaken
from tests.waiting import until

FLOW = TrafficPlan("flow", "command", "a", "b", "10.0.0.1", "10.0.0.2", "return")


class Fake:
    """Hosts a and b, whose programs run on this machine."""

    def __init__(self, folder: Path) -> None:
        self.name, self.folder, self.programs = "sky", folder, list[subprocess.Popen[bytes]]()
        for host in ("a", "b"):
            (folder / host).mkdir()

    def node(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(container=name)

    def node_folder(self, node: str) -> Path:
        return self.folder / node

    def own_files(self, node: str, name: str) -> OwnFiles:
        (self.folder / node / name).mkdir(exist_ok=True)
        return OwnFiles(self.folder / node / name)

    def start(
        self, node: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, held: bool = False
    ) -> subprocess.Popen[bytes]:
        self.programs.append(subprocess.Popen(argv, env=os.environ | dict(env or {})))
        return self.programs[-1]


@pytest.fixture
def lab(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def hosts_of(lab: Fake) -> HostsOfLab:
    return HostsOfLab(cast(Lab, lab), [FLOW])


def test_programs_are_ended_with_what_they_started_and_nothing_else_is(lab: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = hosts_of(lab)
    child = lab.folder / "child"
    hosts.start("a", ["sh", "-c", f"setsid sh -c 'echo $$ > {child}; exec sleep 60' & wait"], log=lab.folder / "log")
    until(lambda: child.exists() and child.read_text().endswith("\n"))
    own = lab.start("a", ["sleep", "60"], log=lab.folder / "log", env={"NETBOXIT_TRAFFIC": "another's"})
    program, numbers = lab.programs[0], {int(child.read_text()), *(one.pid for one in lab.programs)}

    def running(container: str) -> set[int]:
        program.poll()
        return {pid for pid in numbers if container == "a" and Path(f"/proc/{pid}").exists()}

    monkeypatch.setattr(cores, "processes", running)
    try:
        assert hosts.clean() == []
        assert program.wait(5) == -9 and own.poll() is None
        until(lambda: not Path(f"/proc/{child.read_text().strip()}/environ").exists() or is_over(int(child.read_text())))
    finally:
        own.kill()
        own.wait()


def is_over(pid: int) -> bool:
    """Nobody may have waited for it yet."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_their_files_go_and_what_a_link_leads_to_stays(lab: Fake) -> None:
    (lab.folder / "mine").mkdir()
    (lab.folder / "mine/file").write_text("mine")
    hosts = hosts_of(lab)
    hosts.check()
    for host in ("a", "b"):
        hosts.own_files(host, "flow").write("file", "theirs")
    (lab.folder / "a/flow/link").symlink_to(lab.folder / "mine")
    (lab.folder / "b/flow").rename(lab.folder / "b/elsewhere")
    (lab.folder / "b/flow").symlink_to(lab.folder / "mine")
    assert hosts.clean() == []
    assert not (lab.folder / "a/flow").exists() and not (lab.folder / "b/flow").is_symlink()
    assert (lab.folder / "mine/file").read_text() == "mine"


def test_folders_too_deep_to_be_removed_are_told(lab: Fake) -> None:
    inside = lab.folder / "a/flow"
    inside.mkdir()
    descriptor = os.open(inside, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("x", dir_fd=descriptor)
        deeper = os.open("x", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = deeper
    os.close(descriptor)
    (problem,) = hosts_of(lab).clean()
    assert "a/flow is left" in problem
    subprocess.run(["rm", "-r", inside], check=True)


def test_a_name_that_is_taken_is_told_with_what_to_do(lab: Fake) -> None:
    (lab.folder / "b/flow").write_text("mine")
    with pytest.raises(NameTaken, match=r"host b has /run/netboxit/flow already, .* netboxit exec --lab sky b rm -r"):
        hosts_of(lab).check()
