# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from system import kernel, node_disks
from system.node_disks import NodeDisk, NodeDiskFailed
from tests.traces import no_loop_images

pytestmark = pytest.mark.lab


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Of an image and of what it is mounted at. Afterwards no block device is left."""
    if refused := node_disks.refused():
        pytest.skip(refused)
    image, folder = tmp_path / "disks" / "a", tmp_path / "nodes" / "a"
    yield image, folder
    node_disks.delete(image, folder)
    assert not image.exists()
    assert not folder.exists() or not folder.is_mount()
    no_loop_images(tmp_path)


def test_a_disk_is_as_large_as_it_was_said_and_takes_what_is_in_it(places: tuple[Path, Path]) -> None:
    image, folder = places
    node_disks.create([NodeDisk(image, folder, 1_000_000_000)])
    assert folder.is_mount()
    assert list(folder.iterdir()) == []
    found = os.statvfs(folder)
    assert 0.9e9 < found.f_blocks * found.f_frsize < 1e9
    assert found.f_flag & os.ST_NOSUID and found.f_flag & os.ST_NODEV and found.f_flag & os.ST_NOEXEC
    assert image.stat().st_blocks * 512 < 10e6


def test_an_image_that_a_killed_command_left_is_made_anew(places: tuple[Path, Path]) -> None:
    image, folder = places
    image.parent.mkdir()
    image.write_bytes(b"half an image")
    folder.mkdir(parents=True)
    node_disks.create([NodeDisk(image, folder, 16 << 20)])
    assert folder.is_mount()


def test_what_is_gone_is_removed_already(places: tuple[Path, Path]) -> None:
    image, folder = places
    node_disks.create([NodeDisk(image, folder, 16 << 20)])
    for _ in range(2):
        node_disks.delete(image, folder)
    # As after a reboot: the image is there, and nothing is mounted.
    image.write_bytes(b"")
    node_disks.delete(image, folder)
    assert not image.exists()


def test_what_makes_a_disk_fail_is_told_with_its_words(tmp_path: Path) -> None:
    if refused := node_disks.refused():
        pytest.skip(refused)
    with pytest.raises(NodeDiskFailed, match=r"mkfs\.ext4"):
        node_disks.create([NodeDisk(tmp_path / "disks/a", tmp_path / "nodes/a", 1000)])
    no_loop_images(tmp_path)


def test_disks_of_one_size_are_made_alike_and_keep_apart_what_is_written(tmp_path: Path) -> None:
    if refused := node_disks.refused():
        pytest.skip(refused)
    sizes_mib = {"a": 16, "b": 16, "c": 32}
    disks = [NodeDisk(tmp_path / "disks" / name, tmp_path / "nodes" / name, mib << 20) for name, mib in sizes_mib.items()]
    try:
        node_disks.create(disks)
        for disk in disks:
            (disk.folder / "name").write_text(disk.folder.name)
        assert [(disk.folder / "name").read_text() for disk in disks] == ["a", "b", "c"]
        assert [len(list(disk.folder.iterdir())) for disk in disks] == [1, 1, 1]
        sizes = [os.statvfs(disk.folder).f_blocks for disk in disks]
        assert sizes[0] == sizes[1] < sizes[2]
        # As another program sees a file system: nothing of a copy is wrong.
        for disk in disks:
            kernel.unmount(disk.folder)
            subprocess.run(["fsck.ext4", "-f", "-n", str(disk.image)], check=True, capture_output=True)
    finally:
        for disk in disks:
            node_disks.delete(disk.image, disk.folder)
    no_loop_images(tmp_path)


def test_files_that_are_attached_at_one_time_get_a_device_each_until_the_block_ends(tmp_path: Path) -> None:
    """The kernel tells all who ask of the same free device: who is slower has to ask again."""
    if refused := node_disks.refused():
        pytest.skip(refused)
    files = [tmp_path / str(number) for number in range(8)]
    begin, attached = Barrier(len(files)), Barrier(len(files))

    def content_of_device(file: Path) -> bytes:
        file.write_bytes(file.name.encode() * 4096)
        begin.wait(30)
        with node_disks.loop_device(file) as device:
            attached.wait(30)
            with device.open("rb") as opened:
                return opened.read()

    with ThreadPoolExecutor(len(files)) as pool:
        assert list(pool.map(content_of_device, files)) == [file.read_bytes() for file in files]
    no_loop_images(tmp_path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), node_disks.loop_device(tmp_path / "none"):
        pass
