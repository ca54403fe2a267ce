# SPDX-License-Identifier: GPL-2.0-or-later
"""The index of a campaign: what is in it stays, what is cut short is nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from campaigns.index import Index
from contracts.campaign import INDEX_FILE, CampaignRun
from contracts.durable import NotWritten


def a_run(name: str, attempt: int = 1) -> CampaignRun:
    return {
        "name": name,
        "point": 0,
        "repetition": 0,
        "seed": 1,
        "topology": "emergency",
        "parameters": {"distance": "5 km"},
        "clock": "virtual",
        "status": "valid",
        "attempt": attempt,
        "digest": "0" * 64,
        "took_s": 1.5,
        "failure": None,
    }


def test_what_was_entered_is_read_again(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.append(a_run("0000-00"))
    index.append(a_run("0000-01"))
    assert list(Index(tmp_path).runs.values()) == [a_run("0000-00"), a_run("0000-01")]


def test_of_a_run_that_was_made_again_the_last_line_counts(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.append(a_run("0000-00"))
    index.append(a_run("0000-00", attempt=2))
    assert list(Index(tmp_path).runs.values()) == [a_run("0000-00", attempt=2)]


@pytest.mark.parametrize("cut", [1, 40, 5000])
def test_a_line_that_was_cut_short_is_none_and_hides_no_other(tmp_path: Path, cut: int) -> None:
    Index(tmp_path).append(a_run("0000-00"))
    with (tmp_path / INDEX_FILE).open("a") as file:
        file.write('{"name": "0000-01", "parameters": {"long": "'.ljust(cut, "x")[:cut])
    index = Index(tmp_path)
    assert list(index.runs) == ["0000-00"]
    index.append(a_run("0000-02"))
    assert list(Index(tmp_path).runs) == ["0000-00", "0000-02"]


def test_a_full_disk_leaves_the_index_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(tmp_path)
    index.append(a_run("0000-00"))
    before, write = (tmp_path / INDEX_FILE).read_bytes(), os.write

    def full(descriptor: int, content: bytes) -> int:
        if len(content) < 100:
            raise OSError(28, "No space left on device")
        return write(descriptor, content[:100])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(NotWritten, match="free some space"):
        index.append(a_run("0000-01"))
    assert (tmp_path / INDEX_FILE).read_bytes() == before
    assert list(index.runs) == ["0000-00"]


def test_an_index_behind_a_link_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / INDEX_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        Index(tmp_path).append(a_run("0000-00"))
    assert (tmp_path / "elsewhere").read_text() == ""
