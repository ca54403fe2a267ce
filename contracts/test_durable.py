# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts import durable
from contracts.durable import NotWritten
from tests.small_labs import RoomFor

TEXT = "x" * 10_000


@pytest.mark.parametrize("write", [durable.put, durable.write, durable.create])
def test_a_file_has_what_was_written_and_nothing_is_beside_it(write: Callable[[Path, str | bytes], None], tmp_path: Path) -> None:
    write(file := tmp_path / "file", TEXT)
    assert file.read_text() == TEXT
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("room", [0, 5000])
@pytest.mark.parametrize("write", [durable.put, durable.write, durable.create])
def test_a_file_for_which_there_is_no_room_is_refused_and_not_there(
    write: Callable[[Path, str | bytes], None], room: int, tmp_path: Path, room_for: RoomFor
) -> None:
    file = tmp_path / "file"
    with room_for(room), pytest.raises(NotWritten, match=f"{file} cannot be written: .*; .* repeat"):
        write(file, TEXT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("room", [0, 5000])
def test_a_file_stays_as_it_was_when_there_is_no_room_for_its_successor(room: int, tmp_path: Path, room_for: RoomFor) -> None:
    (file := tmp_path / "file").write_text("before")
    with room_for(room), pytest.raises(NotWritten):
        durable.put(file, TEXT)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_what_another_writer_left_half_written_is_in_nobodys_way(tmp_path: Path) -> None:
    durable.beside(file := tmp_path / "file").write_text("half a f")
    durable.put(file, TEXT)
    assert file.read_text() == TEXT
    assert list(tmp_path.iterdir()) == [file]


def test_of_two_who_create_a_file_one_is_refused(tmp_path: Path) -> None:
    durable.create(file := tmp_path / "file", "first")
    with pytest.raises(FileExistsError):
        durable.create(file, "second")
    assert file.read_text() == "first"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("number", durable.OF_THE_PLACE)
def test_errors_of_the_place_are_told_with_it_and_a_remedy(number: int, tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match=f"^{tmp_path}/file cannot be written: .+; .+"), durable.told(tmp_path / "file"):
        raise OSError(number, "as the kernel says")


def test_other_errors_are_left_to_the_caller(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), durable.told(tmp_path):
        raise PermissionError(errno.EACCES, "not yours")
