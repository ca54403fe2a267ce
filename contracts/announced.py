# SPDX-License-Identifier: GPL-2.0-or-later
"""What netboxes and routers announce (docs/architecture.md, "Journal"), in words."""

from __future__ import annotations

from typing import Any, NotRequired, TypeGuard

from typing_extensions import TypedDict

from contracts.statistics import Details, Measure

_NOT_DETAILS = frozenset({"at_s", "event", "station"})


class AnnouncedEvent(TypedDict):
    """A line of a journal that tells of an event; further keys are the event's own."""

    at_s: Measure
    event: str
    station: NotRequired[str | None]


def is_event(line: Details) -> TypeGuard[AnnouncedEvent]:
    """Whether a line of a journal tells of an event; a node can write anything into its own."""
    return (
        isinstance(line.get("at_s"), int | float)
        and isinstance(line.get("event"), str)
        and isinstance(line.get("station"), str | None)
    )


def details(event: AnnouncedEvent) -> Details:
    """What an event says besides its time, its name and its station."""
    return {key: value for key, value in event.items() if key not in _NOT_DETAILS}


def words(node: str, event: AnnouncedEvent) -> str:
    """ "field.responder: link down (reason out of range)" """
    place = node if event.get("station") is None else f"{node}.{event['station']}"
    own = details(event)
    if event["event"] == "set":
        return f"{place}: {own.get('parameter')} {_value(own.get('value'))}"
    if event["event"] in ("route", "route_gone") and (paths := _paths(own.get("paths"))) is not None:
        return f"{place}: {own.get('destination')} {'by' if event['event'] == 'route' else 'no more by'} {paths}"
    if event["event"] == "policing":
        of = f" of {_value(own['node'])}" if own.get("node") is not None else ""
        return f"{place}: {_value(own.get('stage'))} drops packets{of}, {_value(own.get('dropped'))} so far"
    more = " ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in own.items())
    return f"{place}: {event['event'].replace('_', ' ')}{f' ({more})' if more else ''}"


def _paths(value: Any) -> str | None:
    """The paths of a route; None of what no router writes, as another program of its node may."""
    try:
        return " and ".join(f"{path['interface']} ({path['gateway'] or 'its own network'})" for path in value)
    except (TypeError, LookupError):
        return None


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
