# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that happened in a run on one clock: what the run changed, and what the netboxes announced."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from results.journal import Journal

#: How much later than the run made it a change may appear in the netbox's journal to be the same one: a netbox that is overloaded
#: is late by 0.1 s at most, besides what its answer took.
_SAME_S = 0.2

_NOT_DETAILS = frozenset({"at_s", "event", "station"})


def happenings(events_file: Path, journals: Mapping[str, Journal], began_ns: int) -> list[dict[str, Any]]:
    """Entries of `events` in metrics.json, by their times, which count from the beginning of the run's network time.

    A change that the run made has the time at which it took effect in the netbox, where its journal says so.
    """
    announced = list(_announced(journals, began_ns))
    made = [_made(line, announced) for line in _lines(events_file)]
    return sorted([*made, *announced], key=lambda one: float(one["time_s"]))


def _announced(journals: Mapping[str, Journal], began_ns: int) -> Iterator[dict[str, Any]]:
    for netbox, journal in journals.items():
        for event in journal.events:
            station, details = event.get("station"), {key: value for key, value in event.items() if key not in _NOT_DETAILS}
            place = netbox if station is None else f"{netbox}.{station}"
            yield {
                "time_s": event["at_s"] + journal.offset_s(began_ns),
                "kind": event["event"],
                "netbox": netbox,
                "station": station,
                "words": f"{place}: {_words(str(event['event']), details)}",
                "details": details,
                "by_run": False,
            }


def _words(event: str, details: Mapping[str, Any]) -> str:
    if event == "set":
        return f"{details.get('parameter')} {_value(details.get('value'))}"
    told = " ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in details.items())
    return f"{event.replace('_', ' ')}{f' ({told})' if told else ''}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _made(line: Mapping[str, Any], announced: list[dict[str, Any]]) -> dict[str, Any]:
    """What the run did; the netbox's word of the same change is taken out of `announced`."""
    begun_s = line["at_s"] + line["late_ms"] / 1e3
    effect_s = begun_s
    for other in announced if line["kind"] == "parameter" else ():
        same = (other["kind"], other["netbox"], other["details"].get("parameter")) == ("set", line["netbox"], line["parameter"])
        if same and -_SAME_S <= other["time_s"] - begun_s <= line["took_ms"] / 1e3 + _SAME_S:
            effect_s = other["time_s"]
            announced.remove(other)
            break
    keys = ("at_s", "late_ms", "took_ms", "error", "parameter", "value", "wire", "state", "traffic")
    return {
        "time_s": effect_s,
        "kind": line["kind"],
        "netbox": line.get("netbox"),
        "station": None,
        "words": line["words"],
        "details": {key: line[key] for key in keys if key in line},
        "by_run": True,
    }


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue  # the run was cut short while it wrote
