# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks programs of this host what they know. Each has a deadline, so that none delays an examination for long."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from contracts.errors import NetBoxITError

#: They answer within milliseconds, and when the machine is busy within seconds.
_PATIENCE_S: Final = 10.0


class NoAnswer(NetBoxITError):
    """A program is not there, or does not end in time."""


def ask(command: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What a program wrote on its standard output and error. Raises NoAnswer, and OSError where it cannot be started."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE_S,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except (FileNotFoundError, PermissionError):  # execvp(3): EACCES also where a folder of PATH may not be searched
        raise NoAnswer(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{command[0]} does not end within {_PATIENCE_S:g} s when it is asked for its version") from None
