# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that happened in a run on one clock: what the run changed, and what netboxes and routers announced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from contracts.announced import details, words
from contracts.run_files import read_lines
from contracts.run_records import EventRecord
from contracts.statistics import Details
from results.journal import EARLIEST_S, Journal
from results.machines import ONE_MACHINE, Machines
from results.metrics_document import Event

#: How much later than the run made it a change may appear in the netbox's journal to be the same one: a netbox that is overloaded
#: is late by 0.1 s at most, besides what its answer took.
_SAME_S = 0.2

#: What is told of a change besides its node.
_TOLD: Final = (
    *("at_s", "late_ms", "took_ms", "error"),
    *("parameter", "value", "link", "wire", "state", "traffic", "power", "for_s", "file", "handler"),
)


def read_events(
    events_file: Path,
    journals: Mapping[str, Journal],
    began_ns: int,
    ended_ns: int | None = None,
    machines: Machines = ONE_MACHINE,
) -> list[Event]:
    """Entries of `events` in metrics.json, by their times, which count from the beginning of the run's network time.

    What happened after `ended_ns` is the lab being taken down, and left out. A change that the run made has the time at which it
    took effect in the netbox, where its journal says so. Each machine's part of a lab makes its own changes, by its own clock.

    Raises DamagedRun.
    """
    until_s = math.inf if ended_ns is None else (ended_ns - began_ns) / 1e9
    announced = [event for event in _announced(journals, began_ns) if EARLIEST_S <= event["time_s"] <= until_s]
    run_events = [_made(line, announced, machines, began_ns) for line in read_lines(events_file, EventRecord)]
    return sorted([*run_events, *announced], key=lambda event: float(event["time_s"]))


def _announced(journals: Mapping[str, Journal], began_ns: int) -> Iterator[Event]:
    for netbox, journal in journals.items():
        offset_s = journal.offset_s(began_ns)
        for event in journal.events:
            yield {
                "time_s": event["at_s"] + offset_s,
                "kind": event["event"],
                "netbox": netbox,
                "station": event.get("station"),
                "words": words(netbox, event),
                "details": details(event),
                "by_run": False,
            }


def _is_same(line: EventRecord, details: Details) -> bool:
    """Whether a netbox tells of the parameter that the run changed; a host in virtual time has names of its own for rates."""
    if line["kind"] == "managed_link":
        return bool(details.get("value") == line.get("value"))
    return line["kind"] == "parameter" and details.get("parameter") == line.get("parameter")


def _made(line: EventRecord, announced: list[Event], machines: Machines, began_ns: int) -> Event:
    """What the run did; the netbox's word of the same change is taken out of `announced`."""
    node = line.get("netbox") or line.get("router") or line.get("node") or line.get("host")
    begun_s = machines.run_s(node, line["at_s"] + line["late_ms"] / 1e3, began_ns)
    latest_s = line["took_ms"] / 1e3 + _SAME_S
    same = [
        event
        for event in announced
        if (event["kind"], event["netbox"]) == ("set", node)
        and _is_same(line, event["details"])
        and -_SAME_S <= event["time_s"] - begun_s <= latest_s
    ]
    if same:
        announced.remove(same[0])
    return {
        "time_s": same[0]["time_s"] if same else begun_s,
        "kind": line["kind"],
        "netbox": None if line["kind"] == "wire" else node,
        "station": None,
        "words": line["words"],
        "details": {key: value for key, value in line.items() if key in _TOLD},
        "by_run": True,
    }
