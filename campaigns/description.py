# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign file: which topology is run with which values, how often, and what is asked of the runs.

`campaigns.campaign.Campaign.load` reads one. docs/campaigns.md is the reference for users.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, WithJsonSchema, field_validator

from campaigns.parameter import Label, Parameter, ParameterName, first_twice
from contracts.quantities import TIME, Quantity
from testbed.description.input_errors import nearest
from testbed.description.section import Section, Written
from testbed.description.yaml_source import Location

#: The parameter that says which of several topologies.
TOPOLOGY: Final = "topology"
#: More are a mistake: at a second each the runs take twelve days.
MOST_POINTS: Final = 100_000
MOST_RUNS: Final = 1_000_000
_MOST_REPETITIONS: Final = 100_000
#: A number that a person still reads.
_MOST_TOLD: Final = 10**12

_CAMPAIGN_NAME: Final = r"^[a-z0-9][a-z0-9_.-]{0,79}$"
_PERCENT: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+) ?%", re.ASCII)


def _campaign_name(name: str) -> str:
    if not re.fullmatch(_CAMPAIGN_NAME, name, re.ASCII) or name.endswith("\n"):
        raise ValueError(f'"{name}" is not a name; use small letters, digits, -, _ and ., 80 at most')
    return name


CampaignName = Annotated[
    str, Written("name"), AfterValidator(_campaign_name), WithJsonSchema({"type": "string", "pattern": _CAMPAIGN_NAME})
]


@dataclass(frozen=True)
class HalfWidth:
    """Of a confidence interval: in the measure's own unit, or as a share of its mean."""

    value: float
    relative: bool

    def __str__(self) -> str:
        return f"{self.value:.0%}" if self.relative else f"{self.value:g}"


def _half_width(value: object) -> HalfWidth:
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if percent is None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f"{value!r} is not a width; write a number in the measure's unit, or a share of its mean like 5 %")
    number = float(percent[1]) / 100 if percent else float(value)  # type: ignore[arg-type]
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{value!r} is no width that an interval reaches; use more than 0")
    return HalfWidth(number, percent is not None)


class Until(Section):
    """When a point has enough repetitions."""

    measure: str = Field(description="Whose 95 % interval of the mean it is, as `call.mos_e_model`.")
    half_width: Annotated[
        HalfWidth,
        PlainValidator(_half_width),
        Written("number, or `5 %`"),
        WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]}),
    ] = Field(description="Half of the interval at most, in the measure's unit; or a share of the mean, as `5 %`.")


class Repetitions(Section):
    """How often each point is run. A number alone is `at_least` and `at_most`."""

    until: Until | None = Field(None, description="Repeat a point until the 95 % interval of a measure is narrow enough.")
    at_least: int = Field(5, ge=1, le=_MOST_REPETITIONS, description="Before the interval is looked at.")
    at_most: int = Field(50, ge=1, le=_MOST_REPETITIONS, description="Then a point is over, narrow enough or not.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.at_least > self.at_most:
            yield ("at_least",), f"{self.at_least} is more than at_most, {self.at_most}; exchange them"
        if self.until is None and self.at_least != self.at_most:
            yield (), "nothing says when it is enough; add until: {measure: …, half_width: …}, or write one number"
        if self.until is not None and self.at_least < 2:
            yield ("at_least",), "one run has no interval; use 2 or more"


class Design(Section):
    """How values are combined: `grid`, all with all, `pairs`, the nth of all together, or these keys."""

    latin_hypercube: int | None = Field(
        None,
        ge=2,
        le=100_000,
        description="So many points, spread over the ranges and lists of all parameters that are in no other key (McKay, Beckman "
        "and Conover 1979).",
    )
    pairs: tuple[str, ...] = Field((), description="Parameters whose nth values go together; they are crossed with the others.")
    grid: tuple[str, ...] = Field((), description="Parameters with which each point of the hypercube is crossed.")


class CampaignFile(Section):
    """The whole file."""

    campaign: CampaignName | None = Field(None, description="Its name; by default the file's.")
    description: str = Field("", description="Which question it answers, for the report.")
    topology: str | None = Field(None, description="The topology file, by its path from this file's folder.")
    topologies: Annotated[dict[Label, str], Written("mapping by name")] = Field(
        {}, description="Several, by name, instead of one; they are the values of a parameter `topology`."
    )
    virtual: bool = Field(False, description="In virtual time; otherwise in labs, in real time.")
    duration: Annotated[float, Quantity(TIME, 1.0, 86_400.0)] | None = Field(
        None, description="Of the traffic of each run, in place of the topology's."
    )
    warm_up: Annotated[float, Quantity(TIME, 0.0, 86_400.0)] = Field(
        0.0, description="From the beginning of each run: what is sent meanwhile is in no figure."
    )
    parameters: Annotated[dict[ParameterName, Parameter], Written("mapping by name")] = Field(
        {}, description="What is different from run to run."
    )
    design: Annotated[Design, Written("`grid`, `pairs`, or mapping")] = Field(
        Design(), description="How values are combined; `grid` by default."
    )
    repetitions: Annotated[Repetitions, Written("whole number, or mapping")] = Field(
        Repetitions(at_least=5, at_most=5), description="How often each point is run; 5 by default."
    )
    seed: int = Field(
        1,
        ge=0,
        le=2**31 - 1,
        description="Seeds of runs follow from it, and a Latin hypercube. At each point repetition n has the same seed.",
    )
    measures: tuple[str, ...] = Field((), description="What is asked of the runs, by name, as `call.mos_e_model`.")
    retry: int = Field(2, ge=0, le=10, description="How often a degraded or invalid run is made again.")
    keep: Literal["everything", "frames", "figures"] = Field(
        "everything",
        description="What stays of a run: its whole folder; all but captures; or metrics.json and the tables of figures.",
    )

    @field_validator("design", mode="before")
    @classmethod
    def _from_a_word(cls, value: Any, info: ValidationInfo) -> Any:
        if value == "grid":
            return {}
        if value == "pairs":
            names = list(info.data.get("parameters", ()))
            return {"pairs": [*([TOPOLOGY] if info.data.get("topologies") else []), *names]}
        if not isinstance(value, dict | Design):
            raise ValueError(f"{value!r} is not a design; use grid, pairs or {{latin_hypercube: 40}}")
        return value

    @field_validator("repetitions", mode="before")
    @classmethod
    def _from_a_number(cls, value: Any) -> Any:
        if isinstance(value, dict | Repetitions):
            return value
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_REPETITIONS:
            raise ValueError(f"{value!r} is not a number of repetitions; use 1 to {_MOST_REPETITIONS}, or until: …")
        return {"at_least": value, "at_most": value}

    def names(self) -> list[str]:
        """Of all parameters, that of several topologies first."""
        return [*([TOPOLOGY] if self.topologies else []), *self.parameters]

    def crossed(self) -> list[list[str]]:
        """Names of parameters whose values go together; each group is crossed with the others. The hypercube is one of them."""
        spread = [name for name in self.names() if name not in (*self.design.pairs, *self.design.grid)]
        if self.design.latin_hypercube is None:
            single, together = spread, []
        else:
            single, together = list(self.design.grid), spread
        groups = [[name] for name in single] + [group for group in (list(self.design.pairs), together) if group]
        return sorted(groups, key=lambda group: self.names().index(group[0]))

    def is_spread(self, name: str) -> bool:
        """Whether a Latin hypercube says its values."""
        return self.design.latin_hypercube is not None and name not in (*self.design.pairs, *self.design.grid)

    def count(self) -> int:
        """How many points there are."""
        return math.prod(self._count(group) for group in self.crossed())

    def _count(self, group: Sequence[str]) -> int:
        return self.design.latin_hypercube or 0 if self.is_spread(group[0]) else self._values(group[0])

    def _values(self, name: str) -> int:
        return len(self.topologies) if name == TOPOLOGY else self.parameters[name].count() or 0

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.topology is None and not self.topologies:
            yield (), "nothing says what is run; add topology: FILE"
        if self.topology is not None and self.topologies:
            yield ("topology",), "there are topologies, too; leave one of the two out"
        yield from self._wrong_measures()
        yield from self._wrong_paths()
        design = [*self._wrong_design()]
        yield from design
        if not design:
            yield from self._wrong_count()

    def _wrong_count(self) -> Iterator[tuple[Location, str]]:
        points = self.count()
        fewer = "use fewer values, or design: {latin_hypercube: 100}"
        if points > MOST_POINTS:
            told = str(points) if points < _MOST_TOLD else f"more than {_MOST_TOLD}"
            yield (), f"these are {told} points, and {MOST_POINTS} are the most; {fewer}"
        elif (runs := points * self.repetitions.at_most) > MOST_RUNS:
            yield (), f"these are up to {runs} runs, and {MOST_RUNS} are the most; use fewer repetitions"

    def _wrong_measures(self) -> Iterator[tuple[Location, str]]:
        if (twice := first_twice(self.measures)) is not None:
            yield ("measures", twice), f"{self.measures[twice]} is there already; write it once"

    def _wrong_design(self) -> Iterator[tuple[Location, str]]:
        design, names = self.design, self.names()
        for key, members in (("pairs", design.pairs), ("grid", design.grid)):
            for number, name in enumerate(members):
                place = ("design", key, number)
                if name not in names:
                    yield place, f'there is no parameter "{name}"; {nearest(name, names)}'
                elif key == "grid" and name in design.pairs:
                    yield place, f"{name} is in pairs already; write it once"
            if (twice := first_twice(members)) is not None:
                yield ("design", key, twice), f"{members[twice]} is there already; write it once"
        if design.grid and design.latin_hypercube is None:
            yield ("design", "grid"), "without a hypercube all parameters are crossed with all; leave it out"
        if design.latin_hypercube is not None and not any(self.is_spread(name) for name in names):
            yield ("design", "latin_hypercube"), "no parameter is left for it; take one out of pairs and grid, or add one"
        for name, parameter in self.parameters.items():
            if self.is_spread(name):
                if parameter.steps is not None:
                    yield ("parameters", name, "steps"), "a Latin hypercube chooses its values itself; leave it out"
            elif parameter.count() is None:
                yield ("parameters", name), f"a range needs steps here; add steps: 5, or design: {{latin_hypercube: {40}}}"
        counts = {name: self._values(name) for name in design.pairs if name in names}
        if len({count for count in counts.values() if count}) > 1:
            told = ", ".join(f"{name} has {count}" for name, count in counts.items())
            yield ("design",), f"the nth values go together, and {told}; give all the same number of values, or use grid"

    def _wrong_paths(self) -> Iterator[tuple[Location, str]]:
        #: By topology, who says a value there, or something inside of it.
        owners: dict[str, dict[str, str]] = {name: {} for name in self.topologies or ("",)}
        inside: dict[str, dict[str, str]] = {name: {} for name in owners}
        for name, parameter in self.parameters.items():
            place = ("parameters", name)
            if isinstance(parameter.path, dict):
                yield from self._wrong_names(name, list(parameter.path))
            for topology in owners:
                for path in parameter.paths(topology):
                    above = _and_above(path)
                    outside = (owners[topology][part] for part in above if part in owners[topology])
                    other = next(outside, inside[topology].get(path))
                    if other is not None and not (other == name and parameter.variants):
                        yield place, f"{path} has a value of {other} already; leave one of them out"
                    if self.duration is not None and re.fullmatch(r"traffic\.[^.]+\.duration", path):
                        yield place, f"{path} is in vain where the campaign has a duration for all; leave duration out"
                    owners[topology][path] = name
                    inside[topology] |= dict.fromkeys(above, name)

    def _wrong_names(self, parameter: str, names: Sequence[str]) -> Iterator[tuple[Location, str]]:
        unknown = [name for name in names if name not in self.topologies]
        for name in unknown:
            yield ("parameters", parameter, "path", name), f'there is no topology "{name}"; {nearest(name, self.topologies)}'
        if not unknown and (missing := [name for name in self.topologies if name not in names]):
            yield ("parameters", parameter, "path"), f"nothing says where {missing[0]} has it; add {missing[0]}: …"


def _and_above(path: str) -> list[str]:
    """The path, and those of what it is in."""
    steps = path.split(".")
    return [".".join(steps[:count]) for count in range(1, len(steps) + 1)]
