# SPDX-License-Identifier: GPL-2.0-or-later
"""The suite finds the same however it was started.

A script had a whole run in the background, and there a test that interrupts a change of a lab failed: nothing interrupted it.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from contracts.installation import CHECKOUT


def test_a_test_can_interrupt_itself() -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_it_can_also_where_the_suite_was_told_to_ignore_interrupts() -> None:
    """As a shell without job control tells what it runs in the background."""
    words = ("-m", "pytest", "-q", f"{__file__}::{test_a_test_can_interrupt_itself.__name__}")
    ignoring = ["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh", sys.executable, *words]
    done = subprocess.run(ignoring, cwd=CHECKOUT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout
