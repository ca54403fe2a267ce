# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contracts.errors import NetBoxITError
from results import frames, pcapng
from results.capture import Capture, CaptureFailed, Captures
from tests.waiting import until


class Started:
    """A program in a namespace."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, timeout_s: float | None = None, /) -> int:
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as late:
            raise NetBoxITError(str(late)) from late

    def interrupt(self) -> None:
        self._process.send_signal(2)

    def kill(self) -> None:
        self._process.kill()


class OneNamespace:
    """A host with a dummy of a network: its loopback."""

    def __init__(self) -> None:
        self.name = f"nbt-capture-{os.getpid()}"
        interfaces = [SimpleNamespace(name="lo")]
        nodes = [
            SimpleNamespace(name="host", kind="host", interfaces=interfaces),
            SimpleNamespace(name="box", kind="netbox", interfaces=interfaces),
        ]
        self.plan: Any = SimpleNamespace(nodes=nodes)

    def __enter__(self) -> OneNamespace:
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run(["ip", "-n", self.name, "link", "set", "lo", "up"], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["ip", "netns", "delete", self.name], check=True)

    def in_namespace(self, node: str, argv: Sequence[str], *, log: Path) -> Started:
        with log.open("ab") as output:
            command = ["ip", "netns", "exec", self.name, *argv]
            return Started(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output))

    def ping(self, count: int) -> None:
        command = ["ip", "netns", "exec", self.name, "ping", "-q", "-i", "0.002", "-s", "1000", "-c", str(count), "127.0.0.1"]
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def namespace() -> Iterator[OneNamespace]:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    with OneNamespace() as one:
        yield one


@pytest.mark.lab
def test_frames_are_captured_from_the_first_in_nanoseconds_and_counted(namespace: OneNamespace, tmp_path: Path) -> None:
    with Captures(namespace, tmp_path / "captures"):
        namespace.ping(50)
    packets = list(pcapng.read(tmp_path / "captures/host.pcapng"))
    # Loopback shows each request and each reply, cut to the snapshot length.
    assert len(packets) == 100
    assert {len(packet.data) for packet in packets} == {256}
    assert any(packet.time_ns % 1000 for packet in packets)
    (counts,) = json.loads((tmp_path / "captures/captures.json").read_text())
    assert counts == {"file": "host.pcapng", "node": "host", "interface": "lo", "received": 100, "dropped": 0, "ended": None}


@pytest.mark.lab
def test_a_capture_that_a_full_disk_has_ended_counts_nothing_and_says_why(namespace: OneNamespace, tmp_path: Path) -> None:
    (folder := tmp_path / "captures").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", str(folder)], check=True)
    try:
        (spare := folder / "spare").write_bytes(bytes(8192))
        with Captures(namespace, folder) as captures:
            namespace.ping(300)
            until(lambda: "no space left" in (folder / "host.log").read_text(), "dumpcap ends")
            spare.unlink()  # there is room again when the run ends
        (counts,) = captures.counts()
        kept = frames.read_capture([folder / "host.pcapng"], [])
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    # Loopback shows each of the 600 frames; those that found room are read, whatever dumpcap wrote behind them.
    assert 0 < kept.besides.height < 600
    assert (counts["received"], counts["dropped"]) == (None, None)
    assert counts["ended"] and counts["ended"].startswith("dumpcap: ") and "no space left" in counts["ended"]


@pytest.mark.lab
def test_an_interface_that_is_not_there_is_named_with_dumpcaps_words(namespace: OneNamespace, tmp_path: Path) -> None:
    with pytest.raises(CaptureFailed, match=r"(?s)capturing on nowhere of host did not start; dumpcap said: .*nowhere"):
        Capture(namespace, "host", "nowhere", tmp_path / "x.pcapng").start()


@pytest.mark.lab
def test_a_capture_that_was_killed_has_no_counts(namespace: OneNamespace, tmp_path: Path) -> None:
    capture = Capture(namespace, "host", "lo", tmp_path / "x.pcapng")
    capture.start()
    assert capture._program is not None
    capture._program.kill()
    capture._program.wait(5.0)
    capture.stop()
    assert capture.counts is None
