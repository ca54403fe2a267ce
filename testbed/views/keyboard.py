# SPDX-License-Identifier: GPL-2.0-or-later
"""Single keys of a terminal, which gets back the settings that it had."""

from __future__ import annotations

import os
import select
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keys() -> Iterator[int | None]:
    """The terminal's descriptor, at which each key can be read at once and is not echoed; None where there is no terminal."""
    if not sys.stdin.isatty():
        yield None
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def pressed(descriptor: int | None, key: str, seconds: float, ended: threading.Event) -> bool:
    """Waits so long for that key, or for the event. False: the time is over."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0:
        if descriptor is None:
            return ended.wait(left_s)
        # A signal interrupts nothing here (PEP 475): it is noticed within the tenth of a second.
        if select.select([descriptor], [], [], min(left_s, 0.1))[0] and key in os.read(descriptor, 64).decode(errors="replace"):
            return True
        if ended.is_set():
            return True
    return False
