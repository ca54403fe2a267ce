# SPDX-License-Identifier: GPL-2.0-or-later
"""A user of the machine makes, before any lab is up, the folder that all labs have their memory wires in."""

from __future__ import annotations

from pathlib import Path

import pytest

from system import rings
from testbed.labs import lab_status
from testbed.labs.lab import Lab
from tests import strangers
from tests.host_state import ALL, HostState
from tests.own_commands import UP, expect_success, lasting_changes, prepare
from tests.own_host import run_in_own_host

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]


def test_the_lab_comes_up_says_so_and_leaves_nothing() -> None:
    notes, left = run_in_own_host(_up_and_down)
    assert [note for note in notes if str(rings.FOLDER) in note] == [
        f"{rings.FOLDER} was of user {strangers.STRANGER}; it is removed"
    ]
    assert left == ""


def _up_and_down() -> tuple[list[str], str]:
    """The notes of the lab, and how the host differs from before."""
    prepare()
    before = HostState.now(ALL)
    strangers.run("import os, sys\nos.mkdir(sys.argv[1])", rings.FOLDER)
    expect_success(*UP)
    notes = lab_status.of(Lab("x", Path("/run/state/labs/x")))["notes"]
    expect_success("down")
    return notes, lasting_changes(before)
