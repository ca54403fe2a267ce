# SPDX-License-Identifier: GPL-2.0-or-later
"""A user of the machine who has nothing to do with labs: what they can open, list, lock and connect to."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

#: Of no account, and in no group.
STRANGER: Final = 65533

_AS: Final[dict[str, Any]] = {"user": STRANGER, "group": STRANGER, "extra_groups": [], "cwd": "/", "text": True}
_PYTHON: Final = ("/usr/bin/python3", "-IS", "-c")

_REACH = """
import fcntl, os, stat, sys
for path in sys.argv[1:]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        continue
    print(path)
"""
_LOCK = """
import fcntl, os, sys
held = []
for path in sys.argv[1:]:
    try:
        held.append(os.open(path, os.O_RDONLY))
    except OSError:
        continue
    fcntl.flock(held[-1], fcntl.LOCK_EX)
print(len(held), flush=True)
sys.stdin.read()
"""


def run(code: str, *arguments: str | Path) -> str:
    """What a program of the stranger's prints, in Python; fails the test when the program fails."""
    argv = [*_PYTHON, code, *map(str, arguments)]
    done = subprocess.run(argv, **_AS, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def opened(places: Sequence[Path]) -> list[Path]:
    """Those that the stranger can open for reading, and so lock, or list what is in them."""
    return [Path(line) for line in run(_REACH, *places).splitlines()]


@contextmanager
def locking(*places: Path) -> Iterator[tuple[int, int]]:
    """The stranger holds the lock of each that they can open: the number of their process, and of locks."""
    argv = [*_PYTHON, _LOCK, *map(str, places)]
    with subprocess.Popen(argv, **_AS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.stdin.close()
