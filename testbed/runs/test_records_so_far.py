# SPDX-License-Identifier: GPL-2.0-or-later
"""Records are copied out of a file that goes on, and are those of the time that was measured."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from results import records
from system.node_files import NodeFileInTheWay
from testbed.runs import records_so_far

HEADER = b"NETBOXIT" + (1).to_bytes(4, "little") + (48).to_bytes(4, "little")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of ten frames, which came in at 100, 101, … ns."""
    written = np.zeros(10, records.RECORD)
    written["identity"], written["in_ns"] = range(10), range(100, 110)
    (file := tmp_path / "frames.bin").write_bytes(HEADER + written.tobytes())
    return file


def copied(file: Path, first: int, end: int, since_ns: int = 0) -> tuple[str | None, list[int]]:
    to = file.with_name("copy.bin")
    wrong = records_so_far.copy(file, to, first, end, since_ns)
    return wrong, list(map(int, records.read(to)["identity"]))


def test_those_before_and_after_are_left_out(file: Path) -> None:
    assert copied(file, 3, 7) == (None, [3, 4, 5, 6])


def test_frames_that_came_in_before_are_left_out_though_they_were_settled_later(file: Path) -> None:
    assert copied(file, 3, 7, since_ns=105) == (None, [5, 6])


def test_more_than_is_looked_at_at_a_time_is_copied_whole(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records_so_far, "_PIECE", 3)
    assert copied(file, 0, 10) == (None, list(range(10)))


def test_nothing_new_is_no_error(file: Path) -> None:
    assert copied(file, 10, 10) == (None, [])


def test_records_that_are_not_there_are_told_and_the_others_kept(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 60)  # of the last two one is cut short, and one gone
    wrong, identities = copied(file, 5, 10)
    assert identities == [5, 6, 7] and wrong is not None and "2 of its records are missing" in wrong


def test_a_file_that_a_node_made_long_without_writing_it_is_not_copied(file: Path) -> None:
    os.truncate(file, 8 << 30)
    wrong, identities = copied(file, 5, (8 << 30) // 48 - 1)
    assert identities == [] and wrong is not None and "never written" in wrong


def test_a_link_in_its_place_is_not_followed(file: Path) -> None:
    (link := file.with_name("link.bin")).symlink_to(file)
    with pytest.raises(NodeFileInTheWay):
        copied(link, 0, 10)
