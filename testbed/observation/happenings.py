# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens in a lab that is up, as it happens: the ends of the files into which netboxes, routers and commands write it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.observation import announced
from testbed.system import node_files

#: What is read of a file at a time. A node could write into its own without end.
_PIECE: Final = 64 << 10
JOURNAL: Final = "journal.jsonl"


class Happenings:
    """Of one lab. The first look finds what happened before, as far as it is in the last 64 KiB of each file."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._journals = {node.name: _Tail(lab.node_folder(node.name) / JOURNAL) for node in lab.plan.nodes}
        self._log = _Tail(EventLog.of(lab.folder).file)

    def began_ns(self) -> int:
        """When the network's time began, in CLOCK_REALTIME: from there count the times of events."""
        return EventLog.of(self._lab.folder).began_ns

    def new(self) -> list[dict[str, Any]]:
        """Lines of kind "event", in the order of their times: `at_s` since the network's time began, `words` for people."""
        told = []
        for node, tail in self._journals.items():
            for line in tail.lines():
                with suppress(KeyError, TypeError, ValueError):  # a node can write anything into its own file
                    told.append(
                        self._event(float(line["at_s"]), node, line["event"], announced.words(node, line), line.get("station"))
                    )
        if (file := EventLog.of(self._lab.folder).file) != self._log.path:
            self._log = _Tail(file)  # a run has begun in this lab
        for line in self._log.lines():
            # What a netbox was told is in its own journal.
            if "kind" in line and (line["kind"] != "parameter" or line.get("error")):
                words = line["words"] + (f": {line['error']}" if line.get("error") else "")
                told.append(self._event(line["at_s"], None, line["kind"], words, None))
        return sorted(told, key=lambda event: event["at_s"])

    def _event(self, at_s: float, node: str | None, event: str, words: str, station: str | None) -> dict[str, Any]:
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
    """The lines of a file of JSON that are new since the last look. One that has become shorter was begun anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place: int | None = None
        self._rest = b""

    def lines(self) -> list[dict[str, Any]]:
        try:
            file = node_files.opened(self.path)
        except (OSError, node_files.NodeFileInTheWay):
            return []
        with file:
            size = os.fstat(file.fileno()).st_size
            if self._place is None or size < self._place:
                self._place, self._rest = max(0, size - _PIECE) if self._place is None else 0, b""
            file.seek(self._place)
            new = file.read(_PIECE)
        self._place += len(new)
        *whole, self._rest = (self._rest + new).split(b"\n")
        self._rest = self._rest[-_PIECE:]
        return [line for text in whole if (line := _parsed(text)) is not None]


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:  # the first one may be cut off, and what a node writes may be anything
        return None
    return line if isinstance(line, dict) else None
