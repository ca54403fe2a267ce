# SPDX-License-Identifier: GPL-2.0-or-later
"""A parameter of a campaign: where in the topology it is, and which values it takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, cast

from pydantic import AfterValidator, Field, WithJsonSchema

from campaigns.ranges import BadEnd, Range, Scalar, Scale
from contracts.campaign import CampaignRun
from testbed.description.section import Section, Written
from testbed.description.yaml_source import Location

#: Parameters are columns of tables and words in formulas.
_NAME: Final = r"^[a-z][a-z0-9_]{0,39}$"
_LABEL: Final = r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$"
#: What a table of runs has besides.
_COLUMNS: Final = frozenset(CampaignRun.__annotations__)
_LONGEST_TEXT: Final = 200
#: Keys of a path; a topology has no more in one another.
_DEEPEST: Final = 20
#: Of a topology, what a campaign sets itself, and by which of its keys.
_OWN: Final = {"seed": "seed and repetitions", "name": "campaign"}


def _parameter_name(name: str) -> str:
    if not re.fullmatch(_NAME, name, re.ASCII) or name.endswith("\n"):
        raise ValueError(f'"{name}" is not the name of a parameter; use small letters, digits and _, a letter first, 40 at most')
    if name in _COLUMNS:
        raise ValueError(f'"{name}" is a column of each table of runs already; choose another name')
    return name


def _label(name: str) -> str:
    if not re.fullmatch(_LABEL, name, re.ASCII) or name.endswith("\n"):
        raise ValueError(f'"{name}" is not a name; use letters, digits, -, _, + and ., 40 at most')
    return name


ParameterName = Annotated[str, AfterValidator(_parameter_name), WithJsonSchema({"type": "string", "pattern": _NAME})]
#: Names a variant or a topology.
Label = Annotated[str, AfterValidator(_label), WithJsonSchema({"type": "string", "pattern": _LABEL})]


def first_twice(words: Sequence[str]) -> int | None:
    """Where a word stands that stood before."""
    seen: set[str] = set()
    for number, word in enumerate(words):
        if word in seen:
            return number
        seen.add(word)
    return None


def check_path(path: object) -> str:
    """Returns the path of a value of a topology. Raises ValueError."""
    if not isinstance(path, str):
        raise ValueError(f"{path!r} is not a path; write one like netboxes.longhaul.distance")
    first, *inside = path.split(".")
    if not all((first, *inside)):
        raise ValueError(f'"{path}" is not a path; write keys and places in lists with a dot between, as events.0.at')
    if len(inside) >= _DEEPEST:
        raise ValueError(f"a path of {len(inside) + 1} keys leads into no topology; {_DEEPEST} are the most")
    if not inside and first in _OWN:
        raise ValueError(f"a campaign sets {first} of each run itself; leave it out, and say {_OWN[first]}")
    return path


def _one_or_several(value: object) -> tuple[str, ...]:
    if value == []:
        raise ValueError("an empty list leads nowhere; give one path at least")
    paths = tuple(map(check_path, value if isinstance(value, list) else [value]))
    if (twice := first_twice(paths)) is not None:
        raise ValueError(f"{paths[twice]} is there twice; write it once")
    return paths


def _paths(value: object) -> Mapping[str, tuple[str, ...]] | tuple[str, ...]:
    if isinstance(value, dict):
        return {_label(name): _one_or_several(paths) for name, paths in value.items()}
    return _one_or_several(value)


def _values(value: object) -> tuple[Scalar, ...] | Mapping[str, Mapping[str, Any]]:
    if isinstance(value, dict):
        return {_label(name): _variant(name, settings) for name, settings in value.items()}
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is one value; write a list of values, or a mapping of names to settings")
    if not value:
        raise ValueError("the list is empty; give one value at least")
    scalars = tuple(map(_scalar, value))
    if (twice := first_twice(list(map(_text, scalars)))) is not None:
        raise ValueError(f"{scalars[twice]} is there twice; write it once, and say repetitions to have runs of the same value")
    return scalars


def _variant(name: str, settings: object) -> Mapping[str, Any]:
    if not isinstance(settings, dict) or not settings:
        raise ValueError(f"{name} is not a mapping of paths to values; write one like {{routers.r1.engine: linux}}")
    return {check_path(path): value for path, value in settings.items()}


def _scalar(value: object) -> Scalar:
    if isinstance(value, dict | list) or value is None:
        what = "nothing" if value is None else "a mapping" if isinstance(value, dict) else "a list"
        raise ValueError(f"{what} is among the values, and has no name for tables; write values: {{NAME: {{PATH: …}}}}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} is not finite; write a number")
    if len(str(value)) > _LONGEST_TEXT or value == "":
        raise ValueError(f"a value has 1 to {_LONGEST_TEXT} characters; give a long one a name: values: {{NAME: {{PATH: …}}}}")
    return cast("Scalar", value)


def _text(value: Scalar) -> str:
    """Of a value what tells it from others: 1 and 1.0 are one value, true is another."""
    return str(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


_PATH_SCHEMA: Final = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}

Paths = Annotated[
    Any,
    AfterValidator(_paths),
    Written("path, a list, or paths by topology"),
    WithJsonSchema({"anyOf": [*_PATH_SCHEMA["anyOf"], {"type": "object", "additionalProperties": _PATH_SCHEMA}]}),
]
Values = Annotated[
    Any,
    AfterValidator(_values),
    Written("list, or mapping by name"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
                {"type": "object", "additionalProperties": {"type": "object", "minProperties": 1}},
            ]
        }
    ),
]
End = Annotated[Any, Written("number, with its unit"), WithJsonSchema({"type": ["string", "number"]})]


class Parameter(Section):
    """Of a campaign: where it is in the topology, and its values: a list, a range, or named variants."""

    path: Paths | None = Field(
        None,
        description="Where the value is in the topology, as `netboxes.longhaul.distance` or `events.0.at`; a list where several "
        "places have the same value, and `{NAME: path}` where topologies have it at other places.",
    )
    values: Values | None = Field(
        None,
        description="The values, as the topology would have them; or variants, several settings together: "
        "`{NAME: {path: value, …}, …}`, without `path`.",
    )
    low: End | None = Field(None, alias="from", description="The lower end of a range, as `1 Mbit/s`.")
    high: End | None = Field(None, alias="to", description="The upper end of a range.")
    steps: int | None = Field(
        None, ge=2, le=100_000, description="How many values of the range, with both ends; not in a Latin hypercube."
    )
    scale: Scale = Field("linear", description="How the values of a range are spread: evenly, or evenly in their logarithm.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.values is None and self.low is None and self.high is None:
            yield (), "a parameter needs values, or a range; write values: [a, b], or from: a, to: b"
        elif self.values is not None:
            for key, name in (("low", "from"), ("high", "to"), ("steps", "steps"), ("scale", "scale")):
                if key in self.model_fields_set:
                    yield (name,), f"{name} is of a range, and there are values; leave one of them out"
            if isinstance(self.values, Mapping) and self.path is not None:
                yield ("path",), "variants have paths of their own; leave it out"
        else:
            for end, key in ((self.low, "from"), (self.high, "to")):
                if end is None:
                    yield (), f"a range has two ends; add {key}: …"
            if self.low is not None and self.high is not None:
                yield from self._wrong_range()
        if self.path is None and not isinstance(self.values, Mapping):
            yield (), "nothing says where in the topology the value is; add path: netboxes.…"

    def _wrong_range(self) -> Iterator[tuple[Location, str]]:
        try:
            found = Range.between(self.low, self.high, self.scale)
        except BadEnd as error:
            yield (error.key,), str(error)
            return
        if self.steps is not None and len({str(value) for value in found.steps(self.steps)}) < self.steps:
            yield (
                ("steps",),
                f"{self.steps} steps of this range are not {self.steps} values; use fewer"
                + (", or write from and to with a decimal point" if found.whole else ""),
            )

    @property
    def range(self) -> Range | None:
        """None where it has values."""
        return None if self.values is not None else Range.between(self.low, self.high, self.scale)

    @property
    def variants(self) -> Mapping[str, Mapping[str, Any]]:
        """By name, the values by their paths; none where it has others."""
        return self.values if isinstance(self.values, Mapping) else {}

    def count(self) -> int | None:
        """How many values it has; None of a range without steps."""
        return self.steps if self.values is None else len(self.values)

    def all_values(self) -> list[Scalar]:
        """Of variants their names. It needs steps where it is a range."""
        if (found := self.range) is not None:
            return found.steps(self.steps or 2)
        return list(self.values or ())

    def paths(self, topology: str) -> tuple[str, ...]:
        """Where the topology of that name has it. Of variants all paths of all of them."""
        if self.variants:
            return tuple(dict.fromkeys(path for settings in self.variants.values() for path in settings))
        return tuple(self.path.get(topology, ())) if isinstance(self.path, Mapping) else tuple(self.path or ())

    def assignments(self, topology: str, value: Scalar) -> Iterator[tuple[str, Any]]:
        """Paths in the topology of that name, and what they have by this value."""
        if self.variants:
            yield from self.variants[str(value)].items()
        else:
            yield from ((path, value) for path in self.paths(topology))
