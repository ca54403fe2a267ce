# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that read a colleague's files on this host: they see nothing else, write nowhere and reach no network (bubblewrap)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from testbed.errors import NetBoxITError
from testbed.files import CHECKOUT
from testbed.system import strays

PROGRAM: Final = "bwrap"

#: Of a merged /usr; programs of the host find their loader and libraries by them.
_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


class SandboxFailed(NetBoxITError):
    """A program could not be shut in, and was not run."""


def run(command: Sequence[str], reads: Mapping[Path, str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Runs a command in namespaces of its own, without capabilities, to its end; its output is text.

    It sees the host's programs, this checkout and what it `reads` (absolute paths, and the text there: files are read by who may
    read them), all read-only; what it writes elsewhere is gone with it. Raises SandboxFailed.
    """
    with ExitStack() as opened:
        return _run(command, {path: opened.enter_context(_opened(text)) for path, text in reads.items()}, timeout_s)


@contextmanager
def _opened(text: str) -> Iterator[int]:
    """A descriptor with the text to be read, in memory alone."""
    descriptor = os.memfd_create("text")
    try:
        with open(descriptor, "w", encoding="utf-8", closefd=False) as file:
            file.write(text)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _run(command: Sequence[str], reads: Mapping[Path, int], timeout_s: float) -> subprocess.CompletedProcess[str]:
    argv = [
        PROGRAM,
        *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
        *("--cap-drop", "ALL"),
        *("--ro-bind", "/usr", "/usr"),
        *(part for name in _LINKS for part in ("--symlink", f"usr/{name}", f"/{name}")),
        *("--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/tmp"),  # the sandbox's own
        *("--ro-bind", str(CHECKOUT), str(CHECKOUT)),
        *(part for path, descriptor in reads.items() for part in ("--ro-bind-data", str(descriptor), str(path))),
        "--",
        *command,
    ]
    try:
        result = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            pass_fds=tuple(reads.values()),
            # bubblewrap's second process waits for ever when its first one is killed too early.
            env=strays.marked_environment(),
        )
    except FileNotFoundError:
        raise SandboxFailed(f"{command[0]} runs in a sandbox only, and {PROGRAM} is not installed; run `make setup`") from None
    except subprocess.TimeoutExpired:
        raise SandboxFailed(f"{' '.join(command)}: not over after {timeout_s:g} s") from None
    if result.stderr.startswith(f"{PROGRAM}: "):
        raise SandboxFailed(
            f"{command[0]} runs in a sandbox only, and none could be made: {result.stderr.strip()}; "
            "this host lets only root make user namespaces, or nobody"
        )
    return result
