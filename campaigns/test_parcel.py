# SPDX-License-Identifier: GPL-2.0-or-later
"""What comes home from a worker, and what an archive of an ill-disposed one may not do."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaigns import parcel
from campaigns.conftest import TOPOLOGY
from campaigns.engine import Done
from campaigns.parcel import BadArchive, Parcel, Returned, pack, unpack
from campaigns.work import Work, perform
from testbed.virtual_run import carry, planned

DONE = Done("valid", 1.0, None)


def archive(*members: tuple[str, Callable[[tarfile.TarInfo], object], bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as made:
        for name, change, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            change(member)
            made.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def of_kind(kind: bytes, target: str = "") -> Callable[[tarfile.TarInfo], object]:
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.linkname = kind, target

    return change


def as_it_is(_: tarfile.TarInfo) -> None:
    pass


def home(tmp_path: Path) -> Path:
    (folder := tmp_path / "runs" / "0000-00").mkdir(parents=True)
    return folder


def test_a_folder_comes_home_as_it_was(tmp_path: Path) -> None:
    (made := tmp_path / "made").mkdir()
    (made / "captures").mkdir()
    (made / "captures/a.pcapng").write_bytes(bytes(range(256)) * 1000)
    (made / "metrics.json").write_text("{}")
    folder = home(tmp_path)
    assert unpack(Returned(DONE, pack(made)), folder) == DONE
    assert {str(file.relative_to(folder)) for file in folder.rglob("*")} == {"captures", "captures/a.pcapng", "metrics.json"}
    assert (folder / "captures/a.pcapng").read_bytes() == bytes(range(256)) * 1000


def test_files_that_the_plan_names_travel_with_it(tmp_path: Path) -> None:
    talk = "talk: {application: call, from: a, to: b, duration: 1 s, codec: pcma}"
    (topology := tmp_path / "x.yaml").write_text(re.sub("flow: .*", talk, TOPOLOGY).partition("events:")[0])
    (first := tmp_path / "first").mkdir()
    carry(planned(topology, None, None), first, lambda _: None)
    recording = tmp_path / "grüße.pcap"
    subprocess.run(["editcap", "-F", "pcap", first / "captures/a.pcapng", recording], check=True, capture_output=True)
    topology.write_text(topology.read_text().replace("codec: pcma", f"codec: pcma, recording: {recording.name}"))
    work = Work.of(planned(topology, None, None), "frames")
    (here := tmp_path / "here").mkdir()
    done = perform(work, here)
    sent = Parcel.of(work)
    recording.unlink()
    folder = home(tmp_path)
    returned = unpack(sent.carry_out(lambda: None), folder)
    assert (returned.status, returned.failure) == (done.status, done.failure) == ("valid", None)
    for file in ("plan.json", "flows.parquet", "frames.parquet"):
        assert (folder / file).read_bytes() == (here / file).read_bytes()
    assert str(recording) in json.loads((folder / "plan.json").read_text())["traffic"][0]["options"].values()


@pytest.mark.parametrize(
    "members",
    [
        [("../x", as_it_is, b"x")],
        [("/tmp/netboxit-of-a-worker", as_it_is, b"x")],
        [("a/../../x", as_it_is, b"x")],
        [("./x", as_it_is, b"x")],
        [("a\nb", as_it_is, b"x")],
        [("x", of_kind(tarfile.SYMTYPE, "/etc/passwd"), b"")],
        [("x", of_kind(tarfile.SYMTYPE, ".."), b""), ("x/y", as_it_is, b"x")],
        [("x", as_it_is, b"x"), ("y", of_kind(tarfile.LNKTYPE, "x"), b"")],
        [("x", of_kind(tarfile.CHRTYPE), b"")],
        [("x", of_kind(tarfile.BLKTYPE), b"")],
        [("x", of_kind(tarfile.FIFOTYPE), b"")],
        [("x", as_it_is, b"x"), ("x", as_it_is, b"y")],
        [("x", as_it_is, b"x"), ("x/y", as_it_is, b"y")],
        [("nowhere/y", as_it_is, b"y")],
    ],
)
def test_what_would_lead_out_of_the_folder_is_refused(members: Any, tmp_path: Path) -> None:
    folder = home(tmp_path)
    with pytest.raises(BadArchive):
        unpack(Returned(DONE, archive(*members)), folder)
    outside = [file for file in tmp_path.rglob("*") if file not in (folder, folder.parent) and folder not in file.parents]
    assert outside == []
    assert not any(file.is_symlink() for file in folder.rglob("*"))
    assert not Path("/tmp/netboxit-of-a-worker").exists()


@pytest.mark.parametrize(
    "returned",
    [
        None,
        b"",
        Returned(DONE, b"no archive"),
        Returned(DONE, archive(("x", as_it_is, b"x" * 5000))[:-30]),
        Returned(DONE, "text"),  # type: ignore[arg-type]
        Returned(Done("splendid", 1.0, None), archive()),  # type: ignore[arg-type]
        Returned(Done("valid", float("nan"), None), archive()),
        Returned(Done("valid", 1.0, b"x"), archive()),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_run_is_refused(returned: object, tmp_path: Path) -> None:
    with pytest.raises(BadArchive):
        unpack(returned, home(tmp_path))


def test_no_archive_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = archive(("x", as_it_is, bytes(20 << 20)))
    monkeypatch.setattr(parcel, "MOST_UNPACKED", 10 << 20)
    assert len(bomb) < 100_000
    with pytest.raises(BadArchive, match="unpacked"):
        unpack(Returned(DONE, bomb), home(tmp_path))
    monkeypatch.setattr(parcel, "MOST_FILES", 2)
    with pytest.raises(BadArchive, match="more than 2 files"):
        unpack(Returned(DONE, archive(*((name, as_it_is, b"") for name in "abc"))), home(tmp_path / "files"))
    monkeypatch.setattr(parcel, "MOST_PACKED", 10)
    with pytest.raises(BadArchive, match="MiB"):
        unpack(Returned(DONE, gzip.compress(b"")), home(tmp_path / "packed"))
