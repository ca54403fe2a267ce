# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures at the hosts' interfaces, by dumpcap in each host's network namespace: pcapng with nanoseconds on the host clock."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol, Self

from contracts import durable
from contracts.errors import NetBoxITError
from contracts.plan import NodePlan, Plan, WireEnd
from contracts.run_folder import COUNTS_FILE
from contracts.run_records import CaptureCount

#: Headers, and the 128 bytes of payload that a frame's identity takes (docs/architecture.md), with room for options.
SNAPSHOT_BYTES = 256
#: The kernel's ring for each capture: seconds of a busy link while the two cores are elsewhere.
RING_MIB = 8
_START_DEADLINE_S = 10.0
_STOP_DEADLINE_S = 5.0
#: dumpcap takes frames from the kernel's ring every 250 ms, and leaves there what is in it when it is told to end.
RING_S = 0.5

_COUNTS = re.compile(r"Packets received/dropped on interface '.*?': (\d+)/(\d+)")
#: dumpcap names its file once the interface is open and the ring is set up.
_CAPTURING = "File: "


class CaptureFailed(NetBoxITError):
    """A capture could not be started, or ended while it should have run."""


class Program(Protocol):
    """A program started by the lab."""

    def poll(self) -> int | None:
        """Its exit status; None while it runs."""

    def wait(self, timeout_s: float | None = None, /) -> int:
        """The same, when it has ended. Raises NetBoxITError when it does not within this time."""

    def interrupt(self) -> None:
        """SIGINT."""

    def kill(self) -> None:
        """SIGKILL."""


class Namespaces(Protocol):
    """The part of a lab that captures use."""

    @property
    def plan(self) -> Plan:
        """That of the lab."""

    def in_namespace(self, node: str, argv: Sequence[str], *, log: Path) -> Program:
        """Starts a program of this machine in the network namespace of a node."""


class Capture:
    """One interface of one node."""

    def __init__(self, namespaces: Namespaces, node: str, interface: str, path: Path) -> None:
        self._namespaces, self.node, self.interface, self.path = namespaces, node, interface, path
        self._log = path.with_suffix(".log")
        self._program: Program | None = None
        #: Frames that it saw, and that the kernel dropped before the program could take them: known after the end, of a capture
        #: that went on until then.
        self.counts: tuple[int, int] | None = None
        #: Of one that ended before, as where the disk was full: what dumpcap said.
        self.ended: str | None = None

    def start(self) -> None:
        """Returns when frames are being captured. Raises CaptureFailed with what dumpcap said."""
        command = ["dumpcap", "-i", self.interface, "-s", str(SNAPSHOT_BYTES), "-B", str(RING_MIB), "-q", "-w", str(self.path)]
        self._program = self._namespaces.in_namespace(self.node, command, log=self._log)
        until = time.monotonic() + _START_DEADLINE_S
        while _CAPTURING not in self._said():
            if self._program.poll() is not None or time.monotonic() > until:
                output = self._said().strip() or "nothing"
                self.stop()
                raise CaptureFailed(f"capturing on {self.interface} of {self.node} did not start; dumpcap said: {output}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends the capture and reads its counters; safe to call twice. Frames of the last moment may be missing."""
        if self._program is None:
            return
        program, self._program = self._program, None
        if program.poll() is not None:
            # What it counts until then is no count of the run.
            self.ended = _complaint(self._said())
            return
        program.interrupt()
        try:
            program.wait(_STOP_DEADLINE_S)
        except NetBoxITError:
            program.kill()
            program.wait(_STOP_DEADLINE_S)
        if counts := _COUNTS.search(self._said()):
            self.counts = int(counts[1]), int(counts[2])

    def _said(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""


class Captures:
    """Captures at every interface of every host, and at those said `besides`, for the length of a with block.

    At the end `captures.json` tells for each file the node, the interface and the counters.
    """

    def __init__(self, namespaces: Namespaces, folder: Path, besides: Collection[WireEnd] = ()) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._captures = [
            Capture(namespaces, node.name, interface.name, folder / file_name(node, interface.name))
            for node in namespaces.plan.nodes
            for interface in node.interfaces
            if node.kind == "host" or WireEnd(node.name, interface.name) in besides
        ]

    def __enter__(self) -> Self:
        try:
            for capture in self._captures:
                capture.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(RING_S)
        for capture in self._captures:
            capture.stop()
        durable.write(self._folder / COUNTS_FILE, json.dumps(self.counts(), indent=2) + "\n")

    def counts(self) -> list[CaptureCount]:
        """For each capture; `received` and `dropped` are null when its program ended early, `ended` then says why."""
        return [
            {
                "file": capture.path.name,
                "node": capture.node,
                "interface": capture.interface,
                "received": capture.counts[0] if capture.counts else None,
                "dropped": capture.counts[1] if capture.counts else None,
                "ended": capture.ended,
            }
            for capture in self._captures
        ]


def _complaint(output: str) -> str:
    """Of what dumpcap said: from its complaint to its counters."""
    complaint = output[output.rfind("dumpcap: ") :].partition("Packets captured:")[0]
    return " ".join(complaint.split()) or "dumpcap said nothing"


def file_name(node: NodePlan, interface: str) -> str:
    """`<host>.pcapng` at the first interface of a host, `<node>-<interface>.pcapng` at any other."""
    first = node.kind == "host" and node.interfaces[0].name == interface
    return f"{node.name}.pcapng" if first else f"{node.name}-{interface}.pcapng"
