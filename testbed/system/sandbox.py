# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that read a colleague's files on this host: they see nothing else, write nowhere and reach no network (bubblewrap)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
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


def run(command: Sequence[str], reads: Sequence[Path], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Runs a command in namespaces of its own, without capabilities, to its end; its output is text.

    It sees the host's programs, this checkout and the files that it `reads` (absolute paths), all read-only; what it writes
    elsewhere is gone with it. Raises SandboxFailed.
    """
    argv = [
        PROGRAM,
        *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
        *("--cap-drop", "ALL"),
        *("--ro-bind", "/usr", "/usr"),
        *(part for name in _LINKS for part in ("--symlink", f"usr/{name}", f"/{name}")),
        *("--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/tmp"),  # the sandbox's own
        *("--ro-bind", str(CHECKOUT), str(CHECKOUT)),
        *(part for path in reads for part in ("--ro-bind-try", str(path), str(path))),
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
