# SPDX-License-Identifier: GPL-2.0-or-later
"""Random parameters of a technology: each set is either refused with an error that helps, or runs.

python -m netboxes.random_parameters [TECHNOLOGY…] [--sets 10000] [--first 0]

Sets begin with the technology's ordinary segment and have some of their keys changed, as a user's have; values are within a key's
own limits, at them, and now and then beyond, so that what several keys say together is tried as well.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from contracts.quantities import Quantity
from netboxes.engine.virtual import EmulationFailed, TimedFrame, emulate, ethernet, mac, udp
from netboxes.technology import classes_of_queues, technologies
from netboxes.timeline import TimeSeries

#: Simulated time of a run: some frames of any frame clock, and what is sent at its beginning has arrived or not.
DURATION_S = 0.3
#: A set of keys of no more than this is changed at a time.
MOST_CHANGES = 8
#: How often a number is taken at its limits, and beyond them.
AT_LIMIT, BEYOND = 0.25, 0.02
#: An error of Pydantic or of ours that is shorter says nothing.
SHORTEST_MESSAGE = 10

RAN, REFUSED, REFUSED_BY_NETBOX = "ran", "refused", "refused by the netbox"
GOOD = (RAN, REFUSED, REFUSED_BY_NETBOX)


@dataclass(frozen=True)
class Trial:
    """What became of one set."""

    parameters: dict[str, Any]
    #: One of GOOD, or what went wrong.
    outcome: str

    @property
    def is_good(self) -> bool:
        return self.outcome in GOOD


def random_set(technology: str, chance: random.Random) -> dict[str, Any]:
    """Parameters as in YAML."""
    model = technologies()[technology]
    if model.TYPICAL is None:
        raise ValueError(f"{technology} has no ordinary segment to begin with")
    parameters = {**model.TYPICAL, "stations": {name: dict(keys) for name, keys in model.TYPICAL["stations"].items()}}
    station = get_args(model.model_fields["stations"].annotation)[1]
    for number in range(chance.choice((0, 0, 1, 2, 6))):
        parameters["stations"][f"further{number}"] = dict(chance.choice(list(parameters["stations"].values())))
    for keys in parameters["stations"].values():
        if chance.random() < 0.5:
            keys.update(some_fields(station, chance, 3))
    return parameters | some_fields(model, chance, MOST_CHANGES, leave=("stations",))


def some_fields(model: type[BaseModel], chance: random.Random, most: int, leave: Sequence[str] = ()) -> dict[str, Any]:
    """Up to so many of a model's keys with values as in YAML."""
    names = [name for name in model.model_fields if name not in leave]
    chosen = chance.sample(names, min(len(names), chance.randint(0, most)))
    return _of_fields({name: model.model_fields[name] for name in chosen}, chance)


def _of_fields(fields: Mapping[str, FieldInfo], chance: random.Random) -> dict[str, Any]:
    return {field.alias or name: _value(field.annotation, field.metadata, chance) for name, field in fields.items()}


def _value(annotation: Any, metadata: list[Any], chance: random.Random) -> Any:
    for item in metadata:
        if isinstance(item, Quantity):
            return _quantity(item, chance)
        if isinstance(item, TimeSeries):
            return [[f"{at} s", _quantity(item.value, chance)] for at in range(chance.randint(1, 3))]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(arguments[0], [*arguments[1:], *metadata], chance)
    if origin in (Union, UnionType):
        kinds = [argument for argument in arguments if argument is not NoneType]
        return None if NoneType in arguments and chance.random() < 0.2 else _value(chance.choice(kinds), metadata, chance)
    if origin is Literal:
        return chance.choice(arguments)
    if origin is list:
        low = next((item.min_length for item in metadata if isinstance(item, MinLen)), 0)
        high = next((item.max_length for item in metadata if isinstance(item, MaxLen)), 3)
        return [_value(arguments[0], [], chance) for _ in range(chance.randint(low, max(low, min(high, 3))))]
    if origin is tuple:
        return [_value(argument, [], chance) for argument in arguments if argument is not Ellipsis]
    if origin is dict:
        return {name: _value(arguments[1], [], chance) for name in ("one", "two")[: chance.randint(0, 2)]}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        needed = {name: field for name, field in annotation.model_fields.items() if field.is_required()}
        return _of_fields(needed, chance) | some_fields(annotation, chance, 4, leave=tuple(needed))
    return _plain(annotation, metadata, chance)


def _quantity(quantity: Quantity, chance: random.Random) -> str:
    return f"{_number(quantity.minimum, quantity.maximum, chance):.6g} {quantity.dimension.base}"


def _number(low: float, high: float, chance: random.Random) -> float:
    fate = chance.random()
    if fate < BEYOND:
        return high + abs(high) + 1.0
    if fate < BEYOND + AT_LIMIT:
        return chance.choice((low, high))
    if low > 0.0 and high / low > 100.0:
        return float(min(high, max(low, low * (high / low) ** chance.random())))
    return chance.uniform(low, high)


def _plain(annotation: Any, metadata: list[Any], chance: random.Random) -> Any:
    if annotation is bool:
        return chance.random() < 0.5
    if annotation in (int, float):
        low = next((float(getattr(item, "ge", getattr(item, "gt", 0))) for item in metadata if isinstance(item, Ge | Gt)), 0.0)
        high = next((float(getattr(item, "le", getattr(item, "lt", 0))) for item in metadata if isinstance(item, Le | Lt)), 1e3)
        number = _number(low, high, chance)
        return round(number) if annotation is int else number
    if annotation is str:
        return chance.choice(("default", "one", "voice", "x"))
    return chance.choice(("", "nothing", 0, -1))


def frames(stations: Sequence[str], chance: random.Random) -> dict[str, list[TimedFrame]]:
    """A few frames of all kinds from all stations."""
    return {
        station: [
            (0.01 + 0.2 * chance.random(), _frame(number, chance.randrange(len(stations)), chance))
            for _ in range(chance.randint(0, 12))
        ]
        for number, station in enumerate(stations)
    }


def _frame(source: int, destination: int, chance: random.Random) -> bytes:
    if chance.random() < 0.15:
        return ethernet(mac(source), b"\xff" * 6, chance.choice((0x0806, 0x88B5)), bytes(chance.randint(0, 1400)))
    return udp(
        source,
        destination,
        chance.choice((0, 20, 100, 500, 1400, 1472 if chance.random() < 0.5 else 60)),
        dscp=chance.choice((0, 0, 10, 34, 46)),
        identification=chance.randrange(65536),
    )


def try_set(technology: str, chance: random.Random) -> Trial:
    """One set, refused or run."""
    parameters = random_set(technology, chance)
    try:
        model = technologies()[technology].model_validate(parameters)
    except ValidationError as error:
        vague = [entry["msg"] for entry in error.errors() if len(entry["msg"]) < SHORTEST_MESSAGE]
        return Trial(parameters, f"refused without a reason: {vague}" if vague else REFUSED)
    stations = list(model.model_dump()["stations"])
    used = {**model.classes_used(), **dict(classes_of_queues(model))}
    names = sorted(set(used.values()) - {"default"})
    classes = [{"name": name, "match": {"dscp": [dscp]}} for dscp, name in zip((46, 34, 10, 0), names, strict=False)]
    try:
        emulate(technology, parameters, frames(stations, chance), classes=classes, duration_s=DURATION_S)
    except EmulationFailed as error:
        return Trial(parameters, REFUSED_BY_NETBOX if "ended with 2: " in str(error) else f"the netbox failed: {error}")
    return Trial(parameters, RAN)


def try_numbered(technology: str, number: int) -> Trial:
    """The set of that number: the same every time."""
    return try_set(technology, random.Random(f"{technology} {number}"))


def segments() -> list[str]:
    """Technologies that have an ordinary segment; those that are ends of a network have none."""
    return [name for name, technology in technologies().items() if technology.TYPICAL is not None]


Names = Annotated[list[str] | None, typer.Argument(metavar="TECHNOLOGY…")]


def main(names: Names = None, sets: int = 10_000, first: int = 0) -> None:
    """Tries so many random sets of parameters of each technology; exit status 1 when one neither ran nor was refused."""
    numbers = range(first, first + sets)
    wrong = 0
    with ProcessPoolExecutor() as processes:
        for name in names or segments():
            tally: Counter[str] = Counter()
            for number, trial in enumerate(processes.map(partial(try_numbered, name), numbers, chunksize=20), first):
                tally[trial.outcome if trial.is_good else "wrong"] += 1
                if not trial.is_good:
                    print(f"{name}, set {number}: {trial.outcome}\n    {trial.parameters}", flush=True)
            wrong += tally["wrong"]
            print(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in tally.items())}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    typer.run(main)
