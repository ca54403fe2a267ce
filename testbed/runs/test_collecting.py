# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run collects from nodes that do all they can to change it meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ownership import state
from testbed.labs import restart
from testbed.labs.lab import Lab
from testbed.runs.measured_lab import NODES, MeasuredLab
from tests.small_labs import PlanPair
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: In place of its files a node puts links to a file of the host's root, and files again, as fast as it can, until it ends.
_SWAPPING = """
import os
os.chdir("/run/netboxit")
for _ in range(2):
    os.fork()
while True:
    for number in range(200):
        new = f".{os.getpid()}"
        os.symlink(SECRET, new)
        os.rename(new, f"file-{number}")
        open(new, "w").write("the node's own")
        os.rename(new, f"file-{number}")
    open("round", "w").close()
"""


def test_a_node_that_swaps_links_for_its_files_has_no_file_of_roots_collected(plan_pair: PlanPair, tmp_path: Path) -> None:
    (secret := tmp_path / "secret").write_text("what only the machine's root may read")
    secret.chmod(0o600)
    program = _SWAPPING.replace("SECRET", repr(str(secret)))
    with Lab.up(plan_pair(right=("/usr/bin/python3", "-c", program))) as lab:
        until((lab.node_folder("right") / "round").exists)
        problems = MeasuredLab(lab, _made(tmp_path / "run")).collect()
        ordinary = {file.name for file in lab.node_folder("right").iterdir() if not file.is_symlink()}
        kept = tmp_path / "run" / NODES / "right"
        copied = {file.name for file in kept.iterdir()}
        assert not any(file.is_symlink() or "machine's root" in file.read_text() for file in kept.iterdir())
        # It was over when the first file was copied: what is no link now was none then.
        assert copied == ordinary
        assert problems == []


def test_nobody_starts_a_node_again_while_its_files_are_collected(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        told: list[Exception] = []

        def power_on() -> None:
            try:
                restart.start(lab.folder, lab.node("right"))
            except state.LabBusy as busy:
                told.append(busy)

        with lab.finished():
            other = threading.Thread(target=power_on)
            other.start()
            other.join()
            assert lab.alive() == {"left": False, "right": False}
        assert len(told) == 1


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
