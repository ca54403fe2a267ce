# SPDX-License-Identifier: GPL-2.0-or-later
"""The points of a campaign: which values its parameters have together. The same file has the same points."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from random import Random

from campaigns.description import TOPOLOGY, CampaignFile
from campaigns.ranges import Scalar


@dataclass(frozen=True)
class Point:
    """A combination of values, as the file writes them, by the parameters' names."""

    #: From 0, for folders. It may be another one when the file has other values; `key` stays.
    number: int
    parameters: Mapping[str, Scalar]

    @property
    def key(self) -> str:
        """The same for the same values, whatever the order of the parameters."""
        return point_key(self.parameters)

    @property
    def words(self) -> str:
        """For people: distance 2 km, codec g711."""
        return ", ".join(f"{name} {value}" for name, value in self.parameters.items())


def point_key(parameters: Mapping[str, object]) -> str:
    """Of values by the parameters' names what tells a point from others."""
    text = json.dumps(dict(sorted(parameters.items())), ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def points(file: CampaignFile) -> tuple[Point, ...]:
    """All points, in the order of the file, the values of its last parameter the fastest."""
    groups = file.crossed()
    rows = product(*(_group(file, group) for group in groups))
    order = file.names()
    combined = ({name: value for part in row for name, value in part.items()} for row in rows)
    return tuple(Point(number, {name: values[name] for name in order}) for number, values in enumerate(combined))


def numbered(designed: Iterable[Point], known: Iterable[tuple[int, Mapping[str, object]]]) -> tuple[Point, ...]:
    """The points with the numbers that `known`, number and values of each point that has runs, has for them.

    The others take the least numbers that are free, in their order: so the numbers do not depend on which runs were over first.
    """
    numbers = {point_key(parameters): number for number, parameters in known}
    used = set(numbers.values())
    free = (number for number in count() if number not in used)
    return tuple(replace(point, number=numbers[point.key] if point.key in numbers else next(free)) for point in designed)


def _group(file: CampaignFile, names: Sequence[str]) -> list[dict[str, Scalar]]:
    """Combinations of parameters whose values go together."""
    if file.is_spread(names[0]):
        columns = [_spread(file, name, file.design.latin_hypercube or 0) for name in names]
    else:
        columns = [list(file.topologies) if name == TOPOLOGY else file.parameters[name].all_values() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _spread(file: CampaignFile, name: str, count: int) -> list[Scalar]:
    """A value out of each of `count` equal parts of the parameter's distribution, in random order.

    McKay, Beckman and Conover (1979), Technometrics 21(2), section 2.
    """
    chance = Random(f"{file.seed}/{name}")
    # Python keeps what random() gives for a seed; of its other methods it keeps less.
    shares = [(stratum + chance.random()) / count for stratum in range(count)]
    order = sorted(range(count), key=[chance.random() for _ in range(count)].__getitem__)
    spread = None if name == TOPOLOGY else file.parameters[name].range
    if spread is not None:
        return [spread.quantile(shares[stratum]) for stratum in order]
    values = list(file.topologies) if name == TOPOLOGY else file.parameters[name].all_values()
    return [values[int(shares[stratum] * len(values))] for stratum in order]
