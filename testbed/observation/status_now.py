# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab's status with what happened in it lately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ownership.recorded import DamagedRecord
from testbed.changing import unfinished
from testbed.observation.event_reader import EventReader

if TYPE_CHECKING:
    from testbed.documents.status import LabStatus
    from testbed.labs.lab import Lab

_MOST_EVENTS: Final = 100


def status_with_events(lab: Lab) -> LabStatus:
    """A lab's status with its latest `events`, at most 100, and `began_ns`, from which their times count.

    They are what netboxes and routers announced and what was changed (docs/watching.md, lines of kind "event").
    """
    status = lab.status()
    try:
        if left := unfinished.of(lab.folder):
            status["notes"].append(left.note(lab.name))
    except DamagedRecord as error:
        status["notes"].append(str(error))
    event_reader = EventReader(lab)
    events = event_reader.new()[-_MOST_EVENTS:]
    return {
        "lab": status["lab"],
        "folder": status["folder"],
        "nodes": status["nodes"],
        "wires": status["wires"],
        "equipment": status["equipment"],
        "notes": status["notes"],
        "began_ns": event_reader.began_ns,
        "events": events,
    }
