# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from results import records

HEADER = b"NETBOXIT" + (1).to_bytes(4, "little") + (48).to_bytes(4, "little")


def test_records_are_read_and_one_cut_short_is_left_out(tmp_path: Path) -> None:
    wanted = np.zeros(3, records.RECORD)
    wanted["identity"] = [1, 2, 2**64 - 1]
    wanted["fate"] = [0, records.Fate.OUTAGE, 0]
    (tmp_path / "frames.bin").write_bytes(HEADER + wanted.tobytes() + b"cut short")
    assert np.array_equal(records.read(tmp_path / "frames.bin")[["identity", "fate"]], wanted[["identity", "fate"]])


@pytest.mark.parametrize("content", [b"", HEADER[:15], b"NETBOXIU" + HEADER[8:], HEADER[:8] + bytes(8)])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "frames.bin").write_bytes(content)
    with pytest.raises(records.BadRecords, match="no frame records"):
        records.read(tmp_path / "frames.bin")


def test_a_file_with_no_record_yet_has_none(tmp_path: Path) -> None:
    (tmp_path / "frames.bin").write_bytes(HEADER)
    assert len(records.read(tmp_path / "frames.bin")) == 0


def test_a_sparse_file_of_a_node_is_refused_before_it_takes_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "frames.bin"
    file.write_bytes(HEADER)
    os.truncate(file, 8 << 40)
    with pytest.raises(records.BadRecords, match="never written"):
        records.read(file)
