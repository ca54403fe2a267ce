# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.soak_judgement import Sample, columns, judged, table

Held = Callable[[float], tuple[int, int, int]]


def soaked(held: Held, seconds: int = 600) -> list[Sample]:
    return [Sample(float(at), {"node: program": held(at)}) for at in range(0, seconds, 2)]


def problems(samples: list[Sample]) -> list[str]:
    return [line for one in judged(samples) for line in one.problems]


def test_what_stays_the_same_and_what_only_wavers_is_no_growth() -> None:
    chance = random.Random(1)
    assert problems(soaked(lambda _: (50_000 + chance.randrange(-3000, 3000), 12 + chance.randrange(2), 3))) == []


def test_what_grows_only_while_it_warms_up_is_no_growth() -> None:
    assert problems(soaked(lambda at: (20_000 + int(min(at, 140) * 500), 10 + int(min(at, 140) / 10), 2))) == []


@pytest.mark.parametrize("seed", range(20))
def test_what_wavers_is_no_growth_in_a_short_soak_either(seed: int) -> None:
    chance = random.Random(seed)
    assert problems(soaked(lambda _: (50_000 + chance.randrange(-3000, 3000), 12 + chance.randrange(2), 3), 30)) == []


@pytest.mark.parametrize(
    ("held", "kind"),
    [
        (lambda at: (50_000 + int(at * 10), 12, 3), "memory_kib grew from"),
        (lambda at: (50_000, 12 + int(at / 200), 3), "files grew from"),
        (lambda at: (50_000, 12, 3 + int(at / 200)), "threads grew from"),
    ],
)
def test_what_leaks_is_told(held: Held, kind: str) -> None:
    (problem,) = problems(soaked(held))
    assert problem.startswith(f"node: program: {kind}")


def test_a_program_that_is_there_for_a_moment_now_and_then_is_not_judged() -> None:
    samples = [Sample(float(at), {"node: now and then": (at * 1000, at, 1)} if at % 10 == 0 else {}) for at in range(0, 600, 2)]
    assert judged(samples) == []


def test_the_table_has_a_line_for_each_program() -> None:
    assert "| node: program | 50000 → 50000 | 50000 | 12 → 12 | 3 → 3 |" in table(judged(soaked(lambda _: (50_000, 12, 3))))


def test_columns_hold_each_sample_and_say_where_a_program_was_not_there() -> None:
    samples = [Sample(0.0, {"a: b": (10, 2, 1)}), Sample(2.0, {}), Sample(4.0, {"a: b": (12, 3, 1), "c: d": (7, 1, 1)})]
    told = columns(samples)
    assert told["at_s"] == [0.0, 2.0, 4.0]
    assert told["held"]["a: b"] == {"memory_kib": (10, None, 12), "files": (2, None, 3), "threads": (1, None, 1)}
    assert told["held"]["c: d"]["memory_kib"] == (None, None, 7)
