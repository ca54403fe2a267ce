# SPDX-License-Identifier: GPL-2.0-or-later
"""A full or failing disk: commands say so, leave nothing and lose nothing, and `down` needs no room."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ownership.locks import close_to_users
from tests.disk_trials import Counted, count, moments, try_each
from tests.full_disks import Kind, Unit, mounted
from tests.host_state import ALL, HostState
from tests.killed_commands import COMMANDS
from tests.machine_parts import wait_for_carrier
from tests.own_commands import FILE, Running, lasting_changes, prepare
from tests.own_host import run_in_own_host
from tests.trial import sample

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

_STATE = Path("/run/state")


def test_wherever_the_disk_is_full_or_fails_it_is_told_and_nothing_is_left() -> None:
    counted = count(("up", "interrupted up", "down"))
    check(counted, 16)
    # What takes a lab down has nothing to write.
    assert {name: sum(calls.values()) for name, calls in counted.items() if name != "up"} == {"interrupted up": 0, "down": 0}


@pytest.mark.long
def test_the_same_of_all_commands() -> None:
    check(count(), 60)


def check(counted: Counted, trials: int) -> None:
    outcomes = list(try_each(sample(moments(counted), trials)))
    assert sum(outcome.call is not None for outcome in outcomes) > trials * 0.8
    wrong = [str(outcome) for outcome in outcomes if outcome.problem]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("kind", "unit", "rooms"),
    [
        ("tmpfs", "KiB", (0, 40, 160, 4000, 24000)),
        pytest.param("tmpfs", "KiB", (*range(0, 640, 80), *range(1000, 8000, 3000), 24000), marks=pytest.mark.long),
        pytest.param("tmpfs", "inodes", (*range(0, 120, 16), 200), marks=pytest.mark.long),
        pytest.param("ext4", "KiB", (*range(0, 320, 40), *range(1000, 8000, 3000), 24000), marks=pytest.mark.long),
        pytest.param("ext4", "inodes", (*range(0, 120, 20), 200), marks=pytest.mark.long),
    ],
)
def test_a_lab_comes_up_whole_or_not_at_all_on_a_small_disk(kind: Kind, unit: Unit, rooms: Sequence[int]) -> None:
    told = run_in_own_host(_up_with, kind, unit, rooms)
    assert told[-1] == "", "with enough room it comes up"
    assert "No space left on device" in told[0]


def _up_with(kind: Kind, unit: Unit, rooms: Sequence[int]) -> list[str]:
    """What `up` complained of with so much room; anything else that is wrong is raised."""
    prepare()
    with mounted(kind, _STATE) as disk:
        (_STATE / "labs").mkdir()
        close_to_users(_STATE / "labs")
        FILE.write_text(COMMANDS["up"].lab)
        wait_for_carrier()
        before = HostState.now(ALL)
        complaints = []
        for room in rooms:
            with disk.room(room, unit):
                complaints.append(complaint := Running(*COMMANDS["up"].argv).complaint())
                if complaint:
                    assert "ended with 1:" in complaint, f"{room} {unit}: {complaint}"
                    assert "No space left on device" in complaint, f"{room} {unit}: {complaint}"
                    assert "defect" not in complaint, f"{room} {unit}: {complaint}"
                    assert not list(_STATE.glob("labs/*")), f"{room} {unit}: it left its lab; {complaint}"
                assert (left := Running("down", "--all").complaint()) == "", f"{room} {unit}: {left}"
            assert (changes := lasting_changes(before)) == "", f"{room} {unit}: {complaint}{changes}"
    return complaints
