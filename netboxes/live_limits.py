# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be changed of a running netbox, and what its parameters may be, for netbox.json: as `parameters.py` of its technology
says."""

from __future__ import annotations

from functools import cache
from types import NoneType
from typing import Any, cast, get_args

from pydantic import BaseModel

from contracts.netbox_configuration import LiveLimits, ParameterLimit
from netboxes.limits import limit_of
from netboxes.link_layer.link_layer import LinkLayer
from netboxes.queueing.queue import Queue
from netboxes.stages.stage import StationStages
from netboxes.technology import StationParameters, Technology, technologies


@cache
def live_limits(technology: type[Technology], *, has_link_layer: bool = False) -> LiveLimits:
    """For reading alone: of a technology they are always the same."""
    station = get_args(technology.model_fields["stations"].annotation)[1]
    above = LinkLayer.live_limits() if has_link_layer else {}
    return {"segment": _of(technology, technology) | above, "stations": _of(station, technology) | _of(StationStages, technology)}


def live_limits_of_program(name: str, *, has_link_layer: bool = False) -> LiveLimits:
    """Of netbox-<name>, also where that is no technology but a segment of a test: nothing can be changed."""
    if name not in technologies():
        return {"segment": {}, "stations": {}}
    return live_limits(technologies()[name], has_link_layer=has_link_layer)


def _of(model: type[Technology | StationParameters], technology: type[Technology]) -> dict[str, ParameterLimit]:
    others = {name for name, field in model.model_fields.items() if name != "stations" and _has_queue(field.annotation)}
    return {name: _parameter(model, name, technology) for name in sorted(model.LIVE | others)}


def _parameter(model: type[Technology | StationParameters], name: str, technology: type[Technology]) -> ParameterLimit:
    # Each key of a Limit is one of a ParameterLimit.
    limit = cast("ParameterLimit", {**limit_of(model.model_fields[name])})
    if name not in model.LIVE:
        limit["fixed"] = True
    elif "keys" in limit and name in technology.model_fields and NoneType in get_args(technology.model_fields[name].annotation):
        # What a station says instead of the segment can become nothing where the segment's can: elsewhere null is no value.
        limit["removable"] = True
    return limit


def _has_queue(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return issubclass(annotation, Queue) or any(_has_queue(field.annotation) for field in annotation.model_fields.values())
    return any(_has_queue(part) for part in get_args(annotation))
