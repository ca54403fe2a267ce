# SPDX-License-Identifier: GPL-2.0-or-later
"""How the command line ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testbed.files import CHECKOUT

HUNG_UP = """\
import signal
from testbed.views.console import guarded
raise SystemExit(guarded(lambda: signal.raise_signal(signal.SIGHUP)))
"""


@pytest.mark.parametrize(("before", "status"), [("", 1), ('trap "" HUP;', 0)])
def test_a_command_ends_with_its_terminal_unless_it_runs_under_nohup(before: str, status: int) -> None:
    """What nohup(1) does for the program that it starts is that trap."""
    words = ["sh", "-c", f'{before} exec "$@"', "sh", sys.executable, "-c", HUNG_UP]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "interrupted" in done.stderr) == (status, status == 1), done.stderr
