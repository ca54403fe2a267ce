# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan of a file for a lab that is up: what the machine does meanwhile changes nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from ownership import recorded, state
from system import awake
from system.cores import available_cores
from testbed.changing import comparison
from testbed.changing.comparison import HalfUp, compare
from testbed.description.topology_file import load
from testbed.plans.machine_plan import WITHOUT_REALTIME
from testbed.plans.resolve import resolve

EMERGENCY = CHECKOUT / "topologies/emergency.yaml"
#: As on this machine: that does not change.
KEEP_AWAKE = all(map(awake.possible, available_cores()))
GRANTED = RealtimeSupport(True, 950_000, "SCHED_FIFO works", KEEP_AWAKE)
REFUSED = RealtimeSupport(False, 0, "another lab has all of it", KEEP_AWAKE)


def up(realtime: RealtimeSupport) -> Plan:
    """A lab on record, of which nothing runs."""
    plan = resolve(load(EMERGENCY), realtime=realtime)
    recorded.write(state.make_lab_folder(plan.lab), plan)
    return plan


@pytest.mark.parametrize("then", [GRANTED, REFUSED])
@pytest.mark.parametrize("now", [GRANTED, REFUSED])
def test_emulators_keep_what_real_time_service_they_were_granted(
    then: RealtimeSupport, now: RealtimeSupport, state_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = up(then)
    monkeypatch.setattr(comparison, "realtime_support", lambda: now)
    monkeypatch.setattr(comparison, "realtime_budget_us", lambda: now.budget_us)
    found = compare(load(EMERGENCY), None)
    assert [node.realtime_priority for node in found.plan.nodes] == [node.realtime_priority for node in plan.nodes]
    assert found.plan.notes == plan.notes
    assert any(note.startswith(WITHOUT_REALTIME) for note in plan.notes) == (then is REFUSED)
    assert found.difference is not None
    # Nothing of it runs, and that is all that is said.
    assert {node.action for node in found.difference.nodes} == {"restarted"}
    assert {node.reasons for node in found.difference.nodes} == {("it has ended",)}


def test_a_lab_that_never_came_up_whole_is_not_compared(state_folder: Path) -> None:
    plan = up(GRANTED)
    recorded.begin(state.lab_folder(plan.lab), [])
    with pytest.raises(HalfUp, match="netboxit down emergency"):
        compare(load(EMERGENCY), None)


def test_without_such_a_lab_there_is_nothing_to_compare(state_folder: Path) -> None:
    found = compare(load(EMERGENCY), "another")
    assert (found.plan.lab, found.difference, found.unknown) == ("another", None, None)
