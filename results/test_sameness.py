# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from contracts.run_folder import FRAMES_TABLE, MEASURES_TABLE
from results.sameness import NotComparable, Sameness, check_comparable, compare
from results.stored_runs import StoredRun

FRAMES = {"flow": ["call", "call", "web"], "sent_ns": [1, 2, 3], "received_ns": [10, None, 30], "delay": [0.1, float("nan"), 0.3]}


def run(folder: Path, frames: pl.DataFrame | None, compression: str = "zstd") -> StoredRun:
    folder.mkdir()
    if frames is not None:
        frames.write_parquet(folder / FRAMES_TABLE, compression=compression)  # type: ignore[arg-type]
    return StoredRun(folder.name, folder, (), None)


def compared(tmp_path: Path, before: pl.DataFrame, now: pl.DataFrame | None, compression: str = "zstd") -> Sameness:
    return compare(run(tmp_path / "before", before, compression), run(tmp_path / "now", now))


def test_the_same_bytes_are_the_same_to_the_bit(tmp_path: Path) -> None:
    frames = pl.DataFrame(FRAMES)
    assert compared(tmp_path, frames, frames) == {"identical": [FRAMES_TABLE], "equal": [], "differences": []}


def test_the_same_values_in_another_file_are_equal_also_what_is_not_known(tmp_path: Path) -> None:
    frames = pl.DataFrame(FRAMES)
    assert compared(tmp_path, frames, frames, "snappy") == {"identical": [], "equal": [FRAMES_TABLE], "differences": []}


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("received_ns", [10, 20, 31], "row 2 (call) is the first that differs: received_ns was None, now 20; 2 of 3 rows do"),
        ("delay", [0.1, 0.2, 0.3], "row 2 (call) is the first that differs: delay was nan, now 0.2; 1 of 3 rows do"),
        ("flow", ["call", "call", "a\x1b["], "row 3 (web) is the first that differs: flow was 'web', now 'a\\x1b['; 1 of 3"),
        ("sent_ns", [1.0, 2.0, 3.0], "not the same columns: sent_ns"),
    ],
)
def test_the_first_row_that_differs_is_told(tmp_path: Path, column: str, values: list[object], words: str) -> None:
    found = compared(tmp_path, pl.DataFrame(FRAMES), pl.DataFrame(FRAMES | {column: values}))
    assert found["differences"][0].startswith(f"{FRAMES_TABLE}: {words}")


def test_rows_that_one_of_them_lacks_are_told(tmp_path: Path) -> None:
    frames = pl.DataFrame(FRAMES)
    found = compared(tmp_path, frames, frames[:2])
    assert found["differences"] == [f"{FRAMES_TABLE}: the run has more rows, its repetition 2; the first 2 are the same"]


def test_a_table_that_the_new_run_lacks_is_told(tmp_path: Path) -> None:
    assert compared(tmp_path, pl.DataFrame(FRAMES), None)["differences"] == [
        f"{FRAMES_TABLE}: the run has it, and its repetition has none"
    ]


def test_a_run_without_tables_and_one_that_is_damaged_are_told(tmp_path: Path) -> None:
    with pytest.raises(NotComparable, match="netboxit report"):
        check_comparable(run(tmp_path / "bare", None))
    before, now = run(tmp_path / "before", None), run(tmp_path / "now", pl.DataFrame(FRAMES))
    (before.folder / FRAMES_TABLE).write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(NotComparable, match="cannot be read"):
        compare(before, now)
    (before.folder / FRAMES_TABLE).unlink()
    (before.folder / MEASURES_TABLE).symlink_to("/etc/passwd")
    with pytest.raises(NotComparable, match="is a link"):
        compare(before, now)
