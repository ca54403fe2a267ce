# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be changed of a running netbox, and within what limits, for netbox.json: as `parameters.py` of its technology says."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo

from contracts.netbox_configuration import Limit, LiveLimits
from contracts.quantities import Quantity
from netboxes.technology import StationParameters, Technology, technologies


def live_limits(technology: type[Technology]) -> LiveLimits:
    station = get_args(technology.model_fields["stations"].annotation)[1]
    return {"segment": _of(technology), "stations": _of(station)}


def live_limits_of_program(name: str) -> LiveLimits | None:
    """Of netbox-<name>, also where that is no technology but a segment of a test: None, nothing can be changed."""
    return live_limits(technologies()[name]) if name in technologies() else None


def _of(model: type[Technology | StationParameters]) -> dict[str, Limit]:
    return {name: _limit(model.model_fields[name]) for name in sorted(model.LIVE)}


def _limit(field: FieldInfo) -> Limit:
    found = [*_bounds(field.metadata), *_inside(field.annotation)]
    lowest = [low for low, _, _ in found if low is not None]
    highest = [high for _, high, _ in found if high is not None]
    if not (lowest and highest):
        return {}
    unit = next((unit for _, _, unit in found if unit), "")
    return {"minimum": max(lowest), "maximum": min(highest), "unit": unit}


def _inside(annotation: Any) -> Iterator[tuple[float | None, float | None, str]]:
    if get_origin(annotation) is Annotated:
        _, *metadata = get_args(annotation)
        yield from _bounds(metadata)
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _inside(part)


def _bounds(metadata: list[Any]) -> Iterator[tuple[float | None, float | None, str]]:
    for one in metadata:
        if isinstance(one, Quantity):
            yield one.minimum, one.maximum, one.dimension.base
        elif isinstance(one, annotated_types.Ge):
            yield float(one.ge), None, ""  # type: ignore[arg-type]
        elif isinstance(one, annotated_types.Le):
            yield None, float(one.le), ""  # type: ignore[arg-type]
        elif isinstance(one, FieldInfo):
            yield from _bounds(one.metadata)
