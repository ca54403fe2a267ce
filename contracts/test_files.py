# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a topology names: what is found, and what is refused with its reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.files import find_file


def test_a_file_beside_the_topology_is_found_also_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").symlink_to("a")
    assert find_file("a", {"folder": tmp_path}) == find_file("b", {"folder": tmp_path}) == tmp_path / "a"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder", "folder is a folder; name a file"),
        ("pipe", "pipe is a pipe, a socket or a device; name a file"),
        ("circle", "circle is a circle of links; name a file"),
        ("circle/a", "there is no file circle/a"),
        ("none", "there is no file none; looked in"),
        ("x" * 300, "there is no file x"),
        ("out", "there is no file out; looked in"),
        ("../up", "leads out of the topology's folder"),
        ("a\nb", "is not the name of a file"),
        (" ", "is not the name of a file"),
    ],
)
def test_what_is_no_file_is_refused_with_its_reason(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("other")
    (tmp_path / "other").symlink_to("circle")
    (tmp_path / "out").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match=message):
        find_file(name, {"folder": tmp_path})
