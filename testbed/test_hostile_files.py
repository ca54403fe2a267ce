# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that no topology is in, and names that no file should have: refused at once, in lines that do a terminal no harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.errors import BadTopology, NetBoxITError
from netboxes.technology import technologies
from testbed.description import live
from testbed.description.topology_file import load


@pytest.fixture
def hostile(tmp_path: Path) -> dict[str, Path]:
    made = {kind: tmp_path / f"{kind}.yaml" for kind in ("fifo", "link", "zero", "folder", "large", "noise")}
    os.mkfifo(made["fifo"])
    made["link"].symlink_to(made["link"])
    made["zero"].symlink_to("/dev/zero")
    made["folder"].mkdir()
    made["large"].write_bytes(b"#" * (10 << 20))
    made["noise"].write_bytes(bytes(range(256)) * 10)
    return made | {
        "device": Path("/dev/zero"),
        "endless": Path("/proc/kmsg"),
        "memory": Path("/proc/self/mem"),
        "missing": tmp_path / "missing.yaml",
        "beyond": made["noise"] / "x.yaml",
        "long": Path("a" * 256),
        "nul": Path("a\0b"),
    }


@pytest.mark.parametrize(
    "kind",
    [
        *("fifo", "link", "zero", "folder", "large", "noise", "device"),
        *("endless", "memory", "missing", "beyond", "long", "nul"),
    ],
)
def test_what_is_no_file_with_a_topology_is_refused_at_once(hostile: dict[str, Path], kind: str) -> None:
    with pytest.raises(BadTopology) as told:
        load(hostile[kind])
    assert all(str(error).isprintable() for error in told.value.errors)


@pytest.mark.parametrize(
    "name", [b"a\nb", b"\x1b[31m", b"$(id)", b"%s%n", b"-x", b"'\"", b"\xff\xfe", b"a" * 250, b"\xe2\x80\xae"]
)
def test_a_name_of_a_file_cannot_write_on_a_terminal_what_it_likes(tmp_path: Path, name: bytes) -> None:
    file = tmp_path / os.fsdecode(name)
    file.write_text("name: x\n")
    with pytest.raises(BadTopology) as told:
        load(file)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("value", ["[" * 20_000, "{a: " * 5_000, "9" * 10_000, "0x" + "f" * 9_999, "\0", "&a [*a]", "!!binary x"])
def test_a_value_on_the_command_line_is_refused_whatever_it_is(value: str) -> None:
    with pytest.raises((NetBoxITError, ValueError)):
        live.read_value(technologies()["wifi"], *live.parsed(f"distance={value}"))
