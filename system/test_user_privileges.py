# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process does as root for an operator is done, file by file, with that user's rights."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.plan import Plan
from ownership import operators
from system.user_privileges import as_user
from testbed.changing import set_command
from testbed.description import topology_file
from testbed.description.live import BadChange
from testbed.description.targets import RouterTarget, Targets
from testbed.observation.capture_files import BadTarget, CaptureFile, target
from testbed.observation.capture_sources import CaptureFailed
from testbed.run import NoResults, make_folder
from testbed.runs.handing_over import NotHandedOver, being_written

pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to give rights up")]

NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of the operator's, for whom this process works meanwhile."""
    for part in (tmp_path, *tmp_path.parents[:2]):
        part.chmod(0o711)
    monkeypatch.setenv(operators.VARIABLE, str(NOBODY))
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (own := tmp_path / "own").mkdir()
    os.chown(own, NOBODY, NOBODY)
    return own


def rights() -> dict[str, str]:
    lines = Path("/proc/thread-self/status").read_text().splitlines()
    return {
        key: value for key, _, value in (line.partition(":\t") for line in lines) if key in ("Uid", "Gid", "Groups", "CapEff")
    }


def test_a_file_is_opened_with_the_rights_of_its_user(folder: Path, tmp_path: Path) -> None:
    (secret := tmp_path / "secret").write_text("of root")
    secret.chmod(0o600)
    before = rights()
    with as_user():
        (folder / "made").write_text("of the operator")
        with pytest.raises(PermissionError):
            secret.read_text()
        with pytest.raises(PermissionError):
            (tmp_path / "new").touch()
        # Of the kernel's settings the kernel asks for the user, not for who opens files.
        with pytest.raises(PermissionError):
            os.open("/proc/sys/kernel/hostname", os.O_RDWR)
        assert rights()["CapEff"] == "0" * 16
    assert rights() == before
    assert secret.read_text() == "of root"
    assert (folder / "made").stat().st_uid == NOBODY
    assert Path("/proc/self/environ").stat().st_uid == 0, "its files in /proc are root's again, and can be opened by name"


@pytest.mark.usefixtures("folder")
def test_other_threads_keep_theirs_and_blocks_can_be_in_each_other() -> None:
    inside, seen = threading.Event(), threading.Event()

    def reader() -> None:
        with as_user(), as_user():
            inside.set()
            seen.wait(10)

    before = rights()
    (thread := threading.Thread(target=reader)).start()
    assert inside.wait(10)
    during = rights()
    seen.set()
    thread.join()
    assert during == before


def test_for_root_itself_nothing_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(operators.VARIABLE)
    before = rights()
    with as_user():
        assert rights() == before
    with being_written(folder) as place:
        assert place == folder


def test_a_run_is_handed_over_as_the_operators(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), being_written(folder) as place:
        (place / "nodes/a").mkdir(parents=True)
        (place / "nodes/a/log").write_text("what it said")
        (place / "nodes/a/log").chmod(0o600)
        raise RuntimeError("it failed, and is kept all the same")
    assert (folder / "nodes/a/log").read_text() == "what it said"
    assert {path.stat().st_uid for path in folder.rglob("*")} == {NOBODY}
    assert not (tmp_path / "state/runs").exists()


def test_nothing_is_written_where_a_link_in_a_runs_folder_leads(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "roots").mkdir()
    (folder / "nodes").symlink_to(tmp_path / "roots")
    with pytest.raises(NotHandedOver, match="--results"), being_written(folder) as place:
        (place / "nodes").mkdir()
        (place / "nodes/log").write_text("what it said")
    assert list((tmp_path / "roots").iterdir()) == []
    (folder / "nodes").unlink()
    (tmp_path / "file").touch()
    (folder / "log").symlink_to(tmp_path / "file")
    with pytest.raises(NotHandedOver), being_written(folder) as place:
        (place / "log").write_text("what it said")
    assert (tmp_path / "file").read_text() == ""


def test_what_an_operator_names_is_none_of_roots(folder: Path, tmp_path: Path) -> None:
    (secret := tmp_path / "secret.click").write_text("what only root may read")
    secret.chmod(0o600)
    (folder / "x.yaml").write_text("name: x\nrouters: {r: {configuration: x.click, interfaces: {a: 10.0.0.1/24}}}\n")
    (folder / "x.click").symlink_to(secret)
    for file in (secret, folder / "x.yaml"):
        with pytest.raises(BadTopology) as told:
            topology_file.load(file)
        assert "what only root" not in str(told.value)
    with pytest.raises(BadChange, match="Permission denied"):
        set_command.change(Targets({}, {"r": RouterTarget("click")}, (), (), ()), "r", f"configuration={secret}")
    before = Path("/proc/sys/kernel/core_pattern").read_text()
    for file in (tmp_path / "x.pcapng", secret, Path("/proc/sys/kernel/core_pattern")):
        with pytest.raises((CaptureFailed, BadTarget), match="Permission denied"):
            _, opened = target(["a", str(file)], ring=None, live=False, json=False, overwrite=True)
            opened([])
        with pytest.raises(CaptureFailed, match="Permission denied"):
            CaptureFile(file, [], overwrite=True)
    assert Path("/proc/sys/kernel/core_pattern").read_text() == before


def test_a_run_has_no_folder_where_a_link_leads_out_of_the_operators_own(folder: Path, tmp_path: Path) -> None:
    plan = Plan("x", "x.yaml", 1, (), (), (), 1e-3, "mark")
    (tmp_path / "roots").mkdir()
    (folder / "runs").symlink_to(tmp_path / "roots")
    for results in (folder, tmp_path / "roots", tmp_path):
        with pytest.raises(NoResults, match="Permission denied"):
            make_folder(plan, results)
    assert list((tmp_path / "roots").iterdir()) == []
