# SPDX-License-Identifier: GPL-2.0-or-later
"""The control socket of a netbox, or of a host's part in managed links: JSON-RPC 2.0, one object a line."""

from __future__ import annotations

import itertools
import json
import math
import socket
import time
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from contracts.control import Begun, CaptureState, NetboxCounters, RecordsWritten, Reopened, RunningStatistics
from contracts.errors import NetBoxITError, WrongInput, printable
from contracts.node_status import NetboxStatus
from contracts.shapes import Shape, check
from system import node_files

_LONGEST_ANSWER: Final = 16 << 20


#: An answer of which nothing is read.
_Unread = dict[str, object]


class ControlFailed(NetBoxITError):
    """Nobody answers at a control socket."""


class ParameterRefused(WrongInput):
    """A request was refused; the message is its receiver's own."""


class Control(AbstractContextManager["Control"]):
    """A client of one netbox, or of another program that answers alike; requests are answered in turn."""

    def __init__(self, name: str, path: Path, timeout_s: float = 5.0, kind: str = "netbox") -> None:
        self._named = f"{kind} {name}"
        self._numbers = itertools.count(1)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_s)
        try:
            with node_files.socket_address(path) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise ControlFailed(f"{self._named}: its control socket does not answer ({error.strerror or error})") from error
        self._timeout_s, self._received = timeout_s, b""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def status(self) -> NetboxStatus:
        return self._request("status", {}, NetboxStatus)

    def statistics(self) -> RunningStatistics:
        return self._request("statistics", {}, RunningStatistics)

    def counters(self) -> NetboxCounters:
        """Ports, frames, lateness and CPU time of the statistics: what takes the netbox next to no time to say."""
        return self._request("counters", {}, NetboxCounters)

    def set(self, parameter: str, value: object) -> None:
        """Changes a live parameter; `value` in its base unit. Raises ParameterRefused with what the netbox permits."""
        self._request("set", {"parameter": parameter, "value": value}, _Unread)

    def set_of(self, link: str, parameter: str, value: int) -> None:
        """Of a host's part in a managed link (middleware/README.md). Raises ParameterRefused."""
        self._request("set", {"name": link, "parameter": parameter, "value": value}, _Unread)

    def begin(self, interval_s: float | None) -> float:
        """The network's time begins now: paths, profiles and traces start from their time 0, statistics anew.

        With an interval the netbox's journal samples its statistics. Returns its simulated time, in seconds.
        """
        return self._request("begin", {"interval_s": interval_s}, Begun)["simulated_s"]

    def reset(self) -> None:
        """Starts the statistics of lateness, and those that the segment counts, anew."""
        self._request("reset", {}, _Unread)

    def capture(self, port: str, file: str, frames: int, seconds: float) -> CaptureState:
        """Begins a capture at a port, to a file as the netbox sees it. Raises ParameterRefused."""
        return self._request("capture", {"port": port, "file": file, "frames": frames, "seconds": seconds}, CaptureState)

    def capture_stop(self, port: str) -> CaptureState:
        """Ends it. To be repeated until the answer's `written` is true: then all is in the file. Raises ParameterRefused."""
        return self._request("capture_stop", {"port": port}, CaptureState)

    def reopen(self, port: str, deadline_s: float = 10.0) -> None:
        """The netbox goes on with the interface that has the port's name by now. Raises ParameterRefused, ControlFailed."""
        deadline = time.monotonic() + deadline_s
        while not self._request("reopen", {"port": port}, Reopened)["done"]:
            if time.monotonic() > deadline:
                raise ControlFailed(f"{self._named}: port {port} is not open again after {deadline_s:g} s")
            time.sleep(0.005)

    def write_records(self) -> RecordsWritten:
        """Writes some of the frame records that wait. To be repeated until all are `written` or `dropped`; `left` wait."""
        return self._request("write_records", {}, RecordsWritten)

    def _request(self, method: str, parameters: dict[str, object], shape: type[Shape]) -> Shape:
        number = next(self._numbers)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._line(time.monotonic() + self._timeout_s)
        except OSError as error:
            raise ControlFailed(f"{self._named}: no answer to {method} ({error})") from error
        if not line.endswith(b"\n"):
            raise ControlFailed(f"{self._named}: ended while it was asked for {method}; its log says why")
        # In its place may be another program of the node, which says what it likes.
        try:
            answer = json.loads(line)
            if answer["id"] != number:
                raise ControlFailed(f"{self._named}: answered request {int(answer['id'])} instead of {number}")
            if "error" in answer:
                raise ParameterRefused(f"{self._named}: {printable(str(answer['error']['message']))}")
            check(answer["result"], shape)
            result: Shape = _harmless(answer["result"])
            return result
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ControlFailed(f"{self._named}: answered {method} with what it never says") from None

    def _line(self, until: float) -> bytes:
        """The whole of an answer by then, however many pieces come meanwhile; without its end when the other side has ended."""
        while b"\n" not in self._received and len(self._received) < _LONGEST_ANSWER:
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError("timed out")
            self._socket.settimeout(left)
            if not (piece := self._socket.recv(65536)):
                break
            self._received += piece
        line, end, self._received = self._received.partition(b"\n")
        return line + end


def _harmless(value: Any) -> Any:
    """What would spoil a terminal is made visible. Raises ValueError for numbers that no netbox has."""
    if isinstance(value, str):
        return value if value.isprintable() else printable(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number of a netbox, nor of JSON")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("no netbox has an integer of more than 64 bits")
    if isinstance(value, list):
        return [_harmless(item) for item in value]
    if isinstance(value, dict):
        return {_harmless(key): _harmless(item) for key, item in value.items()}
    return value
