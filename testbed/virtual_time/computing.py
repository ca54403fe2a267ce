# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs `virtual-network`, shut in: Click configurations of others could have it read and write files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from contracts import durable
from contracts.errors import NetBoxITError, printable_lines
from contracts.installation import BUILD
from netboxes.technology import build_folder
from system import sandbox
from system.interruption import HeldBack
from system.sandbox import Limits

#: It is over when it is over: as long as there is progress to see.
_LONGEST_S: Final = 30 * 86_400.0
#: Addresses: those that its allocator keeps free for blocks, the libraries, and the frames that each node may hold.
_FOR_ALL: Final = 8 << 30
_FOR_A_NODE: Final = 256 << 20
_LONGEST_FILE: Final = 16 << 30
#: Its lines of progress: the network's time in seconds (netboxes/network/README.md).
_LINE_BYTES: Final = 16


class NotComputed(NetBoxITError):
    """The network could not be run to its end in virtual time."""


def compute(configuration: dict[str, Any], folder: Path, progress: Callable[[float], None]) -> None:
    """Runs the network to its end; `folder` has all its files. `progress` is told the network's time in seconds.

    An interruption ends it there, with its records written, and goes on upwards. Raises NotComputed, SandboxFailed and
    LimitExceeded.
    """
    program = build_folder() / "bin/virtual-network"
    if not program.exists():
        raise NotComputed(f"there is no {program}; remedy: {BUILD}")
    file = folder / "network.json"
    durable.write(file, json.dumps(configuration))
    sandbox.share(folder)
    nodes = len(configuration["netboxes"]) + len(configuration["routers"])
    limits = Limits(_LONGEST_S, _FOR_ALL + nodes * _FOR_A_NODE, file_bytes=_LONGEST_FILE)
    reading, writing = os.pipe()
    with (
        HeldBack() as held,
        os.fdopen(reading, "rb") as stdin,
        os.fdopen(writing, "wb") as alive,
        sandbox.running((str(program), str(file)), limits, stdin=stdin, writes=folder) as running,
    ):
        try:
            with held.allowed():
                while line := running.read(_LINE_BYTES):
                    with suppress(ValueError):  # a configuration of Click can have that output written to, too
                        progress(float(line))
        finally:
            alive.close()
            while running.read(_LINE_BYTES):
                pass
            status = running.wait()
        if status != 0:
            words = printable_lines(running.complaint().strip()).removeprefix(f"{program}: ")
            raise NotComputed(words or f"{program.name} ended with status {status}")
