# SPDX-License-Identifier: GPL-2.0-or-later
"""Monitors: LXC's process beside each container, which starts it, waits for its end and is known by its command line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from testbed.system import cores, marks
from testbed.system.processes import ProcessIdentity

PROGRAM = "lxc-execute"


def options(home: Path, name: str) -> list[str]:
    """What a monitor's command line says of its container: the folder of the lab's containers, and its name."""
    return ["-P", str(home), "-n", name]


def of(home: Path, names: Sequence[str]) -> list[ProcessIdentity]:
    """Those of a lab's containers, also when their starter was killed."""
    own = [_written(options(home, name)) for name in names]
    return [monitor for monitor, line in _all() if any(words in line for words in own)]


def is_anothers(home: Path, name: str, group: str) -> bool:
    """Whether a control group of the container of that name is another lab's.

    By its mark, or, where that is still to come, by the monitor that makes it. What has neither was being made by the lab of that
    folder when its maker was killed.
    """
    found = marks.of(cores.folders(group))
    if found:
        return found != {marks.of_lab(home.parent)}
    of_that_name, own = _written(["-n", name]), _written(options(home, name))
    return any(of_that_name in line and own not in line for _, line in _all())


def _all() -> Iterator[tuple[ProcessIdentity, bytes]]:
    """Whosever they are, with their command lines."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # One that has become LXC a moment ago has none yet.
            while not (line := (entry / "cmdline").read_bytes()) and (entry / "exe").readlink().name == PROGRAM:
                time.sleep(0.0002)
            if line.startswith(f"{PROGRAM}\0".encode()) and (identity := ProcessIdentity.of(int(entry.name))):
                yield identity, line


def _written(words: Sequence[str]) -> bytes:
    return "".join(f"\0{word}" for word in words).encode() + b"\0"
