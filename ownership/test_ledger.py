# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from contracts.durable import NotWritten
from ownership.ledger import Ledger, Record, Undoer, UndoFailed
from tests.small_labs import RoomFor


def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


def test_records_come_back_in_the_order_of_creation_with_their_details(tmp_path: Path) -> None:
    records = [Record("namespace", "a"), Record("wire", "w", {"namespace": "a"}), Record("namespace", "b")]
    ledger(tmp_path).add(*records[:2])
    ledger(tmp_path).add(records[2])
    assert ledger(tmp_path).records() == records


def test_a_line_that_was_cut_off_while_written_does_not_count(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.add(Record("namespace", "a"))
    with (tmp_path / "ledger.jsonl").open("a") as file:
        file.write('{"kind": "namespace", "na')
    assert book.records() == [Record("namespace", "a")]
    book.add(Record("wire", "w"))
    assert book.records() == [Record("namespace", "a"), Record("wire", "w")]


def test_records_that_find_no_room_are_refused_and_those_before_stay(tmp_path: Path, room_for: RoomFor) -> None:
    book, file = ledger(tmp_path), tmp_path / "ledger.jsonl"
    book.add(before := Record("namespace", "a"))
    text = file.read_bytes()
    for room in (0, 1, 20):
        with room_for(len(text) + room), pytest.raises(NotWritten, match=f"{file} cannot be written: .*; .*repeat"):
            book.add(Record("wire", "w"), Record("namespace", "b"))
        assert book.records() == [before]
        assert file.read_bytes() == text


def test_undo_needs_no_room(tmp_path: Path, room_for: RoomFor) -> None:
    book = ledger(tmp_path)
    book.add(Record("namespace", "a"))
    undone: list[Record] = []
    with room_for(0):
        book.undo({"namespace": undone.extend})
    assert undone == [Record("namespace", "a")]


def test_what_was_removed_and_could_not_be_struck_out_is_still_on_record(tmp_path: Path, room_for: RoomFor) -> None:
    """It is gone already when the lab goes down, which is fine."""
    book = ledger(tmp_path)
    book.add(record := Record("namespace", "a"))
    undone: list[Record] = []
    with room_for(0), pytest.raises(NotWritten):
        book.remove([record], {"namespace": undone.extend})
    assert undone == [record]
    assert book.records() == [record]


def test_undo_goes_backwards_and_hands_neighbours_of_one_kind_over_together(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.add(Record("namespace", "a"), Record("namespace", "b"), Record("wire", "w"), Record("namespace", "c"))
    undone: list[list[str]] = []

    def undo(records: list[Record]) -> None:
        undone.append([record.name for record in records])

    book.undo({"namespace": undo, "wire": undo})
    assert undone == [["c"], ["w"], ["b", "a"]]


def test_what_cannot_be_removed_does_not_keep_the_rest_and_is_told_at_the_end(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.add(Record("namespace", "a"), Record("wire", "w"))
    undone: list[str] = []

    def refuse(records: list[Record]) -> None:
        raise OSError(16, "Device or resource busy")

    def undo(records: list[Record]) -> None:
        undone.extend(record.name for record in records)

    undoers: dict[str, Undoer] = {"namespace": undo, "wire": refuse}
    with pytest.raises(UndoFailed, match=r"wire w: .*busy"):
        book.undo(undoers)
    assert undone == ["a"]


def test_nothing_recorded_is_nothing_to_undo(tmp_path: Path) -> None:
    ledger(tmp_path).undo({})
    assert ledger(tmp_path).records() == []


def test_some_can_be_removed_while_the_rest_stays_and_made_again_later(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    kept, gone, again = Record("namespace", "a"), Record("wire", "w"), Record("wire", "w", {"mtu": 1400})
    book.add(kept, gone)
    undone: list[Record] = []
    book.remove([gone], {"wire": undone.extend})
    assert (undone, book.records()) == ([gone], [kept])
    book.add(again)
    assert book.records() == [kept, again]


def test_what_could_not_be_removed_stays_in_the_ledger(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.add(Record("wire", "w"))

    def refuse(records: list[Record]) -> None:
        raise OSError(16, "Device or resource busy")

    with pytest.raises(UndoFailed):
        book.remove(book.records(), {"wire": refuse})
    assert book.records() == [Record("wire", "w")]
