# SPDX-License-Identifier: GPL-2.0-or-later
"""What is different between two configurations of a netbox, and whether it can be set while the netbox runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from contracts.changes import ParameterChange
from netboxes.technology import Technology, technology_of
from testbed.description.live import station_models, written
from testbed.plans.finding import Finding, two

#: Written by a station model where a distance gives way to a place.
_PLACES = ("position", "path", "wander")

#: A longer value is not shown.
_LONGEST = 60


def compare(netbox: str, before: str, after: str) -> Iterator[Finding]:
    """Between two texts of its `netbox.json` (docs/architecture.md, "Netbox process")."""
    was, becomes = json.loads(before), json.loads(after)
    for key in dict.fromkeys((*was, *becomes)):
        old, new = was.get(key), becomes.get(key)
        if old == new:
            continue
        if key == "stations":
            yield from _stations(old, new)
        elif key == "parameters" and was["technology"] == becomes["technology"]:
            yield from _Parameters(netbox, technology_of(was["technology"]), old, new).compare()
        elif key != "parameters":
            yield from _any(key, old, new)


def _stations(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[Finding]:
    """New and missing ones are the wires' to tell."""
    old, new = ({station["name"]: station for station in stations} for stations in (before, after))
    both = [name for name in new if name in old]
    if both != [name for name in old if name in new]:
        yield Finding("restart", "its stations are in another order")
    for name in both:
        for key in dict.fromkeys((*old[name], *new[name])):
            if old[name].get(key) != new[name].get(key):
                yield from _any(f"station {name}: {key}", old[name].get(key), new[name].get(key))


def _any(key: str, old: object, new: object) -> Iterator[Finding]:
    """What only a start reads; of a mapping, what is different in it."""
    if isinstance(old, dict) and isinstance(new, dict):
        for inner in dict.fromkeys((*old, *new)):
            if old.get(inner) != new.get(inner):
                yield from _any(f"{key} {inner}", old.get(inner), new.get(inner))
    else:
        yield Finding("restart", two(key, old, new))


class _Parameters:
    """Those of the technology, and of its stations."""

    def __init__(self, netbox: str, technology: type[Technology], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        self._netbox, self._technology, self._before, self._after = netbox, technology, before, after

    def compare(self) -> Iterator[Finding]:
        for name in dict.fromkeys((*self._before, *self._after)):
            if name != "stations" and self._before.get(name) != self._after.get(name):
                yield self._finding(name, self._before.get(name), self._after.get(name), self._why_not(name))
        old, new = self._before["stations"], self._after["stations"]
        for station in (station for station in new if station in old):
            for own in dict.fromkeys((*old[station], *new[station])):
                if (was := old[station].get(own)) != (becomes := new[station].get(own)):
                    yield self._finding(f"{station}.{own}", was, becomes, self._why_not_of_station(own, was))

    def _finding(self, parameter: str, old: Any, new: Any, why_not: str | None) -> Finding:
        shown = ["none" if value is None else written(self._technology, parameter, value) for value in (old, new)]
        words = f"{parameter} {shown[0]} → {shown[1]}" if max(map(len, shown)) <= _LONGEST else f"{parameter} is another"
        if why_not is None and new is not None:
            return Finding("live", words, ParameterChange(self._netbox, parameter, new, shown[1]))
        return Finding("restart", words + (f", {why_not}" if why_not else ""))

    def _why_not(self, name: str) -> str | None:
        """Why a parameter of the netbox cannot be set live; "" where the technology says so. None: it can be."""
        if name not in self._technology.LIVE or self._before.get(name) is None:
            return ""
        for parameters in (self._before, self._after):
            for station, said in parameters["stations"].items():
                if self._own(name, said.get(name)) or (name == "distance" and any(said.get(place) for place in _PLACES)):
                    return f"of which station {station} says its own"  # setting it live would be for all stations
        return None

    def _why_not_of_station(self, name: str, before: Any) -> str | None:
        live = any(name in model.LIVE for model in station_models(self._technology))
        # One that had none of its own had the netbox's.
        known = before is not None or name in self._technology.LIVE
        return None if live and known else ""

    def _own(self, name: str, value: Any) -> bool:
        """Whether a station's value is other than what a station has that says nothing."""
        defaults = [of.model_fields[name].default for of in station_models(self._technology) if name in of.model_fields]
        return value is not None and value not in defaults
