# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks programs of this host what they know; none of them can keep an examination waiting."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

#: They answer within milliseconds, and when the machine is busy within seconds.
_PATIENCE_S: Final = 10.0


def said(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """What a program wrote on its standard output and error; None when it is not over in time. Raises OSError."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE_S,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout, done.stderr


def silent(program: str) -> str:
    """What is found of a program that is not over in time."""
    return f"{program} does not end within {_PATIENCE_S:g} s when it is asked for its version"
