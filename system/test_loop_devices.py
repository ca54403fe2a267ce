# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from system import loop_devices, node_disks
from tests.traces import no_loop_images

pytestmark = pytest.mark.lab


def test_files_that_are_attached_at_one_time_get_a_device_each_until_the_block_ends(tmp_path: Path) -> None:
    """The kernel tells all who ask of the same free device: who is slower has to ask again."""
    if refused := node_disks.refused():
        pytest.skip(refused)
    files = [tmp_path / str(number) for number in range(8)]
    begin, attached = Barrier(len(files)), Barrier(len(files))

    def content_of_device(file: Path) -> bytes:
        file.write_bytes(file.name.encode() * 4096)
        begin.wait(30)
        with loop_devices.attached(file) as device:
            attached.wait(30)
            with device.open("rb") as opened:
                return opened.read()

    with ThreadPoolExecutor(len(files)) as pool:
        assert list(pool.map(content_of_device, files)) == [file.read_bytes() for file in files]
    no_loop_images(tmp_path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), loop_devices.attached(tmp_path / "none"):
        pass
