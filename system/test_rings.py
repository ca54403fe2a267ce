# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import errno
import os
import stat
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from system import rings, users


@pytest.fixture(autouse=True)
def shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "netboxit")
    return tmp_path


def test_a_wire_has_a_ring_for_each_direction_and_a_bell_for_each_end() -> None:
    place = rings.create("lab", "a.x--b.y", 1 << 16)
    assert {file.name for file in place.iterdir()} == {"left-to-right.ring", "right-to-left.ring", "left.bell", "right.bell"}
    for ring in place.glob("*.ring"):
        content = ring.read_bytes()
        assert content[:8] == b"NBXRING1" and struct.unpack("<Q", content[8:16]) == (1 << 16,)
        assert len(content) == 4096 + (1 << 16) and not any(content[16:])
        assert ring.stat().st_blocks * 512 >= len(content), "memory that is not there yet may be missing when it is needed"
    assert all(stat.S_ISFIFO(bell.stat().st_mode) for bell in place.glob("*.bell"))
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in place.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes other users")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_nodes_of_a_user_namespace_reach_their_wire_and_other_users_do_not(shared_memory: Path, umask: int) -> None:
    shared_memory.chmod(0o711)
    before = os.umask(umask)
    try:
        place = rings.create("lab", "one", 1 << 16, owner=users.FIRST_ID)
        roots = rings.create("lab", "other", 1 << 16)
    finally:
        os.umask(before)
    tops, files = [rings.FOLDER, place.parent], [*place.iterdir(), *roots.iterdir()]
    assert reached_by(users.FIRST_ID, [*tops, place, roots], files) == {place, *place.iterdir()}
    assert not reached_by(65534, [*tops, place, roots], files)


def test_a_command_killed_before_it_opened_the_folders_closes_them_to_no_later_lab() -> None:
    rings.FOLDER.mkdir(mode=0o700)
    place = rings.create("lab", "one", 1 << 16)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (rings.FOLDER, place.parent)] == [0o711, 0o711]


def reached_by(user: int, folders: list[Path], files: list[Path]) -> set[Path]:
    """Which of these folders that user can list, and which files open for writing."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            for path, flags in [(one, os.O_RDONLY) for one in folders] + [(one, os.O_RDWR | os.O_NONBLOCK) for one in files]:
                with suppress(PermissionError):
                    os.close(os.open(path, flags))
                    os.write(writing, os.fsencode(path) + b"\0")
            os.write(writing, b"all tried")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        *found, end = pipe.read().split(b"\0")
    os.waitpid(child, 0)
    assert end == b"all tried"
    return {Path(os.fsdecode(name)) for name in found}


def test_deleting_leaves_nothing_and_spares_other_wires(shared_memory: Path) -> None:
    rings.create("lab", "one", 1 << 16)
    other = rings.create("lab", "other", 1 << 16)
    rings.delete("lab", "one")
    assert [entry.name for entry in other.parent.iterdir()] == ["other"]
    rings.delete("lab", "other")
    rings.delete("lab", "other")
    assert not list(shared_memory.iterdir())


def test_a_wire_that_is_there_already_is_not_touched() -> None:
    place = rings.create("lab", "one", 1 << 16)
    with pytest.raises(rings.MemoryWireFailed, match="is there already, left behind by a lab lab"):
        rings.create("lab", "one", 1 << 16)
    assert len(list(place.iterdir())) == 4


def test_without_memory_the_error_names_the_remedy_and_nothing_is_left(
    shared_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(rings.MemoryWireFailed, match=r"No space left on device.*it takes 8 MiB in /dev/shm.*wire: veth"):
        rings.create("lab", "one")
    assert not list(shared_memory.iterdir())


def test_what_a_node_has_left_in_a_wire_goes_with_it(shared_memory: Path) -> None:
    place = rings.create("lab", "one", 1 << 16)
    (place / "a note").touch()
    rings.delete("lab", "one")
    assert not list(shared_memory.iterdir())


def test_wires_of_another_lab_of_that_name_are_neither_joined_nor_deleted(shared_memory: Path, tmp_path: Path) -> None:
    place = rings.create("lab", "one", 1 << 16, lab_folder=tmp_path / "theirs")
    with pytest.raises(rings.MemoryWireFailed, match="is there already"):
        rings.create("lab", "two", 1 << 16, lab_folder=tmp_path / "ours")
    rings.delete("lab", "one", tmp_path / "ours")
    assert len(list(place.iterdir())) == 4
    rings.delete("lab", "one", tmp_path / "theirs")
    assert not list(shared_memory.iterdir())
