# SPDX-License-Identifier: GPL-2.0-or-later
"""Data from outside, held against the type that it ought to have: a TypedDict, a dataclass or a Pydantic model."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from contracts.errors import printable

Shape = TypeVar("Shape")

#: Numbers that a stranger's program may have written, within what can be reckoned with and drawn.
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=2**53)]


class OtherShape(ValueError):
    """The data has not the shape. The message names the first place in it that does not fit, and what ought to be there."""


def shaped(data: object, shape: type[Shape]) -> Shape:
    """The data as a value of the type, without keys that the type does not have. Raises OtherShape."""
    value: Shape = _checked(lambda: _adapter(shape).validate_python(data))  # type: ignore[arg-type]  # types are hashable
    return value


def parsed(text: str, shape: type[Shape]) -> Shape:
    """A JSON text as a value that is strictly of the type: the text "1" is no number. Raises OtherShape, also of other texts."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OtherShape(f"no JSON: {error}") from None
    value: Shape = _checked(lambda: _adapter(shape).validate_python(data, strict=True))  # type: ignore[arg-type]
    return value


def _checked(validate: Callable[[], Any]) -> Any:
    try:
        return validate()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise OtherShape(printable(f"{place or 'all of it'}: {first['msg']}")) from None


def check(data: object, shape: type[object]) -> None:
    """Raises OtherShape unless the data are strictly of the type: the text "1" is no number. There may be further keys."""
    _checked(lambda: _adapter(shape).validate_json(json.dumps(data), strict=True))  # type: ignore[arg-type]


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    """Made when it is needed: of a whole plan it takes 50 ms."""
    return TypeAdapter(shape)
