# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens in a lab that is up, as it happens: the ends of the files into which netboxes, routers and commands write it.

`status_with_events` adds the latest of it to the status of a lab.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts import announced
from contracts.run_folder import JOURNAL_FILE
from contracts.run_records import EventRecord
from contracts.shapes import OtherShape, shaped
from contracts.statistics import Details
from ownership.recorded import DamagedRecord
from system import node_files
from testbed.changing import unfinished
from testbed.documents.status import LabStatus
from testbed.documents.watch import Event
from testbed.labs import lab_status
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab

#: What is read of a file at a time. A node could write into its own without end.
_PIECE: Final = 64 << 10
#: Of a journal's first line, which says when it began.
_FIRST_LINE: Final = 256

#: Netboxes begin just before the lab does. What routers told each other while the lab came up is nothing that happened in it.
_EARLIEST_S: Final = -0.5
_MOST_EVENTS: Final = 100


def status_with_events(lab: Lab) -> LabStatus:
    """A lab's status with its latest `events`, at most 100, and `began_ns`, from which their times count.

    They are what netboxes and routers announced and what was changed (docs/watching.md, lines of kind "event").
    """
    status = lab_status.of(lab)
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


class EventReader:
    """Of one lab. The first look finds what happened before, as far as it is in the last 64 KiB of each file."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._journals = {node.name: _Tail(lab.node_folder(node.name) / JOURNAL_FILE) for node in lab.plan.nodes}
        self._log = _Tail(EventLog.of(lab.folder).file)
        #: When the network's time began, in CLOCK_REALTIME, as of the last look: from there count the times of events.
        self.began_ns: int | None = None

    def new(self) -> list[Event]:
        """Lines of kind "event", in the order of their times: `at_s` since the network's time began, `words` for people.

        Each node counts from when its own program began, and again after a reboot; here all times are the lab's.
        """
        log = EventLog.of(self._lab.folder)
        self.began_ns = log.began_ns if log.has_begun else None
        if self.began_ns is None:
            return []
        events: list[Event] = []
        for node, tail in self._journals.items():
            for line in tail.lines():
                if not announced.is_event(line):
                    continue
                with suppress(OverflowError):  # a node can write any number into its own file
                    at_s = line["at_s"] + (tail.began_ns - self.began_ns) / 1e9
                    if _EARLIEST_S <= at_s < math.inf:
                        events.append(self._event(at_s, node, line["event"], announced.words(node, line), line.get("station")))
        if log.file != self._log.path:
            self._log = _Tail(log.file)  # a run has begun in this lab
        for line in self._log.lines():
            with suppress(OtherShape):  # of another version
                change = shaped(line, EventRecord)
                # What a netbox was told is in its own journal.
                if change["kind"] != "parameter" or change.get("error"):
                    words = change["words"] + (f": {change['error']}" if change.get("error") else "")
                    events.append(self._event(change["at_s"], None, change["kind"], words, None))
        return sorted(events, key=lambda event: event["at_s"])

    def _event(self, at_s: float, node: str | None, event: str, words: str, station: str | None) -> Event:
        return {
            "kind": "event",
            "lab": self._lab.name,
            "at_s": at_s,
            "node": node,
            "station": station,
            "event": event,
            "words": "".join(letter if letter.isprintable() else "?" for letter in words),
        }


class _Tail:
    """The lines of a file of JSON that are new since the last look. One that is shorter, or begins otherwise, was begun anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: What a journal says of when the times of its lines begin, CLOCK_REALTIME; 0: it does not say.
        self.began_ns = 0
        self._place: int | None = None
        self._rest = b""

    def lines(self) -> list[Details]:
        try:
            file = node_files.opened(self.path)
        except (OSError, node_files.NodeFileInTheWay):
            return []
        with file:
            size, began_ns = os.fstat(file.fileno()).st_size, _began_ns(file.read(_FIRST_LINE))
            if self._place is None:
                self._place = max(0, size - _PIECE)
            elif size < self._place or began_ns != self.began_ns:
                self._place, self._rest = 0, b""
            self.began_ns = began_ns
            file.seek(self._place)
            new = file.read(_PIECE)
        self._place += len(new)
        *whole, self._rest = (self._rest + new).split(b"\n")
        self._rest = self._rest[-_PIECE:]
        return [line for text in whole if (line := _parsed(text)) is not None]


def _began_ns(start: bytes) -> int:
    first = _parsed(start.partition(b"\n")[0]) or {}
    return began_ns if isinstance(began_ns := first.get("began_ns"), int) else 0


def _parsed(text: bytes) -> Details | None:
    try:
        line = json.loads(text)
    except ValueError:  # the first one may be cut off, and what a node writes may be anything
        return None
    return line if isinstance(line, dict) else None
