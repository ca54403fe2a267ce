# SPDX-License-Identifier: GPL-2.0-or-later
"""What netboxes and routers announce (docs/architecture.md, "Journal"), in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What only its writer knows the keys of: an event's own, in base units, or a technology's statistics.
Details = dict[str, Any]

_NOT_DETAILS = frozenset({"at_s", "event", "station"})


def details(event: Mapping[str, Any]) -> Details:
    """What an event says besides its time, its name and its station."""
    return {key: value for key, value in event.items() if key not in _NOT_DETAILS}


def words(node: str, event: Mapping[str, Any]) -> str:
    """ "field.responder: link down (reason out of range)" """
    place = node if event.get("station") is None else f"{node}.{event['station']}"
    own = details(event)
    if event["event"] == "set":
        return f"{place}: {own.get('parameter')} {_value(own.get('value'))}"
    if event["event"] in ("route", "route_gone") and (paths := _paths(own.get("paths"))) is not None:
        return f"{place}: {own.get('destination')} {'by' if event['event'] == 'route' else 'no more by'} {paths}"
    more = " ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in own.items())
    return f"{place}: {str(event['event']).replace('_', ' ')}{f' ({more})' if more else ''}"


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
