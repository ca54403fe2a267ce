# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures at a netbox's port, written by the netbox itself: a memory wire has no interface that a capture program could open."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from testbed.control import Control
from testbed.errors import NetBoxITError
from testbed.rootfs import NODE_FOLDER

#: Some hours of a call, a second or two of the most that a netbox passes.
MOST_FRAMES = 1_000_000

_START_DEADLINE_S = 5.0
_STOP_DEADLINE_S = 20.0
_LOOK_S = 0.05
#: A netbox ends a capture whose caller died so long after it ought to have ended.
_MARGIN_S = 10.0


class CaptureFailed(NetBoxITError):
    """A netbox could not capture, or its capture could not be brought to where the user wants it."""


class BadPort(NetBoxITError):
    """What is to be captured is not written as a netbox and its port."""

    exit_status = 2


class Netboxes(Protocol):
    """The part of a lab that captures use."""

    def control(self, netbox: str, /) -> Control: ...
    def node_folder(self, node: str, /) -> Path: ...


@dataclass(frozen=True)
class Captured:
    """A capture that is complete: what is in the file, and how many frames the netbox had no memory for."""

    port: str
    file: Path
    frames: int
    dropped: int


def capture(
    lab: Netboxes,
    port: str,
    file: Path,
    *,
    duration_s: float,
    frames: int = MOST_FRAMES,
    progress: Callable[[str], None] = lambda _: None,
) -> Captured:
    """Captures what passes "NETBOX.PORT", both ways, to a pcapng file with nanoseconds, until time or frames are reached.

    Raises BadPort, ParameterRefused for a port that the netbox has not, CaptureFailed. An interrupted capture leaves no file.
    """
    netbox, dot, name = port.partition(".")
    if not (netbox and dot and name):
        raise BadPort(f"{port!r} is no port: write NETBOX.PORT, the netbox and its station, as in the topology's wires")
    if not file.parent.is_dir() or file.is_dir():
        raise CaptureFailed(f"{file} cannot be written: {'it is a folder' if file.is_dir() else f'{file.parent} is no folder'}")
    inside = f"capture-{name}.pcapng"
    with lab.control(netbox) as control:
        control.capture(name, f"{NODE_FOLDER}/{inside}", frames, duration_s + _MARGIN_S)
        written = lab.node_folder(netbox) / inside
        try:
            _wait(control, name, duration_s, lambda left_s: progress(f"capturing at {port}, {left_s:.0f} s left"))
            told = _stop(control, name)
            _take(written, file)
        except BaseException:
            with suppress(NetBoxITError):
                _stop(control, name)
            raise
        finally:
            written.unlink(missing_ok=True)
    return Captured(port, file, told["frames"], told["dropped"])


def _wait(control: Control, port: str, duration_s: float, left: Callable[[float], None]) -> None:
    """Until the capture has run for so long, or has ended by itself."""
    _await(lambda: _capture_at(control, port)["state"] != "starting", _START_DEADLINE_S, f"capturing at {port} did not start")
    until = time.monotonic() + duration_s
    while (left_s := until - time.monotonic()) > 0 and _capture_at(control, port)["state"] == "running":
        left(left_s)
        time.sleep(min(_LOOK_S, left_s))


def _stop(control: Control, port: str) -> dict[str, Any]:
    """Ends the capture, and returns what the netbox says of it once all is in the file."""
    answers: list[dict[str, Any]] = []

    def is_written() -> bool:
        answers.append(_checked(control.capture_stop(port), port))
        return bool(answers[-1]["written"])

    _await(is_written, _STOP_DEADLINE_S, f"the capture at port {port} is still being written")
    return answers[-1]


def _capture_at(control: Control, port: str) -> dict[str, Any]:
    return _checked(next(told["capture"] for told in control.status()["ports"] if told["name"] == port), port)


def _checked(told: dict[str, Any], port: str) -> dict[str, Any]:
    if told["error"] is not None:
        raise CaptureFailed(f"capturing at port {port}: {told['file']} cannot be written ({told['error']}); see `df`")
    return told


def _await(condition: Callable[[], bool], patience_s: float, failure: str) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise CaptureFailed(f"{failure} after {patience_s:g} s; see the netbox's log, and the load of its core")
        time.sleep(_LOOK_S)


def _take(written: Path, file: Path) -> None:
    """Copies what a node wrote to where the user wants it. A node can leave a link in its folder, which leads nowhere good."""
    try:
        with os.fdopen(os.open(written, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise CaptureFailed(f"{file} cannot be written: {error.strerror}") from error
