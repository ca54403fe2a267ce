# SPDX-License-Identifier: GPL-2.0-or-later
"""What a field's annotation says of its value in netbox.json. Expectations are what Pydantic writes there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, PlainSerializer, field_serializer, model_serializer

from contracts.netbox_configuration import Limit
from contracts.quantities import LENGTH, Quantity
from netboxes.limits import limit_of

Length = Annotated[float, Quantity(LENGTH, 1.0, 50.0)]
LENGTH_LIMIT: Limit = {"minimum": 1.0, "maximum": 50.0, "unit": "m"}


class Inner(BaseModel):
    length: Length
    name: str = ""
    other: Length | None = None


class Aliased(BaseModel, serialize_by_alias=True):
    length: Length = Field(alias="len")


class WritesItself(BaseModel):
    length: Length

    @model_serializer
    def _dump(self) -> float:
        return self.length


class WritesAField(BaseModel):
    length: Length

    @field_serializer("length")
    def _text(self, value: float) -> str:
        return f"{value} m"


class Model(BaseModel):
    length: Length
    share: float = Field(ge=0, le=1)
    narrow: Annotated[float, Field(ge=0, le=5)] = Field(ge=1, le=9)
    count: int = Field(ge=1, le=9)
    open_end: float = Field(ge=0)
    maybe: Length | None
    truth: bool | None
    word: Literal["a", "b"]
    number_word: Literal[1, 2]
    either: bool | list[str]
    text: str
    inner: Inner | None
    aliased: Aliased
    places: tuple[Length, Length]
    several: tuple[Length, ...]
    inners: list[Inner] = Field(min_length=1)
    shown: Annotated[int, Field(ge=1, le=9), PlainSerializer(str)]
    by_itself: WritesItself
    by_its_field: WritesAField


INNER: Limit = {"keys": {"length": LENGTH_LIMIT, "other": {**LENGTH_LIMIT, "optional": True}}}


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("length", LENGTH_LIMIT),
        ("share", {"minimum": 0.0, "maximum": 1.0, "unit": ""}),
        ("narrow", {"minimum": 1.0, "maximum": 5.0, "unit": ""}),
        ("count", {"minimum": 1.0, "maximum": 9.0, "unit": "", "whole": True}),
        ("open_end", {}),
        ("maybe", {**LENGTH_LIMIT, "optional": True}),
        ("truth", {"truth": True, "optional": True}),
        ("word", {"words": ["a", "b"]}),
        ("number_word", {}),
        ("either", {}),
        ("text", {}),
        ("inner", {**INNER, "optional": True}),
        ("aliased", {"keys": {"len": LENGTH_LIMIT}}),
        ("places", {"parts": [LENGTH_LIMIT, LENGTH_LIMIT]}),
        ("several", {"items": LENGTH_LIMIT, "fewest": 0}),
        ("inners", {"items": INNER, "fewest": 1}),
        ("shown", {}),
        ("by_itself", {}),
        ("by_its_field", {}),
    ],
)
def test_a_limit_says_what_the_field_says(name: str, limit: dict[str, Any]) -> None:
    assert limit_of(Model.model_fields[name]) == limit
