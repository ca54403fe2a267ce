# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from base64 import b64encode
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from system.node_files import OwnFiles
from testbed.several_hosts.agent import AgentFiles, NoSuchFile
from testbed.several_hosts.connection import Answer
from testbed.several_hosts.messages import PIECE
from testbed.several_hosts.remote_part import RemoteFiles, StrangeFile, below, fetch


class There:
    """A connection to files in a folder of this machine."""

    name = "beta"

    def __init__(self, folder: Path) -> None:
        (folder / "own").mkdir(parents=True)
        lab = SimpleNamespace(folder=folder, own_files=lambda node, own: OwnFiles(folder / own))
        self.files = AgentFiles(lambda: lab)  # type: ignore[arg-type,return-value]

    def request(self, method: str, shape: type[object], **parameters: Any) -> Any:
        return self.begin(method, **parameters).result(shape)

    def begin(self, method: str, **parameters: Any) -> Answer:
        answered = Future[Any]()
        answered.set_result(getattr(self.files, method)(**parameters))
        return Answer(self, method, answered)  # type: ignore[arg-type]


@pytest.fixture
def there(tmp_path: Path) -> Any:
    return There(tmp_path / "lab")


def test_files_of_a_node_go_there_and_come_back_whole(there: Any, tmp_path: Path) -> None:
    files, long = RemoteFiles(there, "a", "own"), bytes(range(256)) * (PIECE // 100)
    files.write("spoken.wav", long)
    files.write("config", "größer\n")
    files.write("empty", b"")
    files.write("two", bytes(2 * PIECE))
    assert [(tmp_path / "lab/own" / name).stat().st_size for name in ("empty", "two")] == [0, 2 * PIECE]
    assert files.exists("config") and not files.exists("heard.wav")
    assert files.take("spoken.wav", tmp_path / "kept") and (tmp_path / "kept").read_bytes() == long
    assert not files.exists("spoken.wav") and not files.take("spoken.wav", tmp_path / "again")
    assert (tmp_path / "lab/own/config").read_text() == "größer\n"
    files.remove("config")
    assert not files.exists("config")
    assert there.files.listing() == []


def test_a_file_that_was_not_sent_to_its_end_is_sent_anew(there: Any, tmp_path: Path) -> None:
    there.files.write("a", "own", "spoken.wav", 0, b64encode(b"half of it").decode(), last=False)
    assert not (tmp_path / "lab/own/spoken.wav").exists()
    RemoteFiles(there, "a", "own").write("spoken.wav", b"whole")
    assert (tmp_path / "lab/own/spoken.wav").read_bytes() == b"whole"


def test_what_a_run_left_there_is_listed_and_fetched(there: Any, tmp_path: Path) -> None:
    (there.files.folder / "nodes/a").mkdir(parents=True)
    (there.files.folder / "nodes/a/log").write_text("said")
    (there.files.folder / "nodes/a/link").symlink_to("/etc/passwd")
    (listed_file,) = there.files.listing()
    assert listed_file == {"file": "nodes/a/log", "bytes": 4}
    fetch(there, listed_file, tmp_path / "deep/log")
    assert (tmp_path / "deep/log").read_text() == "said"


def test_nothing_but_the_run_is_handed_out(there: Any, tmp_path: Path) -> None:
    with pytest.raises(NoSuchFile):
        there.files.fetch("../ledger.jsonl", 0)


@pytest.mark.parametrize("file", ["../run.json", "/etc/passwd", "nodes/../../x"])
def test_nothing_comes_to_a_place_outside_of_the_run(file: str, tmp_path: Path) -> None:
    with pytest.raises(StrangeFile):
        below(tmp_path, file)
    assert below(tmp_path, "nodes/a/log") == tmp_path / "nodes/a/log"


def test_a_sparse_file_that_is_fetched_has_holes_here_too(there: Any, tmp_path: Path) -> None:
    with (there.files.folder / "frames.bin").open("wb") as file:
        file.write(b"records")
        file.truncate(64 << 20)
    (listed_file,) = there.files.listing()
    fetch(there, listed_file, tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() == b"records".ljust(64 << 20, b"\0")
    assert (tmp_path / "kept").stat().st_blocks * 512 < 2 << 20


def test_a_file_without_end_is_not_fetched(there: Any, tmp_path: Path) -> None:
    with (there.files.folder / "frames.bin").open("wb") as file:
        file.truncate(8 << 40)
    (listed_file,) = there.files.listing()
    with pytest.raises(StrangeFile, match="longer than"):
        fetch(there, listed_file, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
