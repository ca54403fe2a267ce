# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for the loss-free rate, against contestants made up of chance."""

from __future__ import annotations

import random

import pytest

from bench.bisection import CEILING, NothingGood, Search, highest_good_rate
from bench.trial import Criterion, Trial


class Contestant:
    """Loses what is beyond its capacity, which differs a little in each trial; and in some trials for no reason of its own."""

    def __init__(self, capacity: float, hiccups: float = 0.0, seed: int = 1) -> None:
        self.capacity, self.hiccups, self.chance, self.trials = capacity, hiccups, random.Random(seed), 0

    def is_good(self, rate: float) -> bool:
        self.trials += 1
        sent = round(rate)
        lost = max(0.0, sent - self.capacity * self.chance.gauss(1.0, 0.005))
        if self.chance.random() < self.hiccups:
            lost += sent * 0.01
        trial = Trial(rate, sent, 1.0, sent - round(lost), 10, 20, rate)
        return Criterion().judge(trial) == "good"


@pytest.mark.parametrize("capacity", [700.0, 60_000.0, 1_500_000.0])
@pytest.mark.parametrize("start", [100.0, 50_000.0, 4_000_000.0])
def test_finds_the_capacity_wherever_it_starts(capacity: float, start: float) -> None:
    contestant = Contestant(capacity)
    highest = highest_good_rate(contestant.is_good, start=start, search=Search(resolution=0.02))
    assert capacity * 0.96 <= highest.rate <= capacity * 1.02
    assert contestant.trials == len(highest.tried) < 40


@pytest.mark.parametrize("seed", range(10))
def test_a_machine_that_hiccups_in_every_tenth_trial_does_not_lower_the_rate_much(seed: int) -> None:
    contestant = Contestant(60_000, hiccups=0.1, seed=seed)
    highest = highest_good_rate(contestant.is_good, start=50_000, search=Search(attempts=3))
    assert 57_000 <= highest.rate <= 61_200


def test_starting_near_the_answer_takes_few_trials() -> None:
    contestant = Contestant(60_000)
    highest_good_rate(contestant.is_good, start=58_000, search=Search(step=1.15, attempts=1))
    assert contestant.trials <= 6


def test_a_contestant_that_is_never_good_is_said_to_be() -> None:
    with pytest.raises(NothingGood):
        highest_good_rate(lambda rate: False, start=1000, search=Search())


def test_a_contestant_without_limit_is_tried_up_to_the_ceiling_only() -> None:
    assert highest_good_rate(lambda rate: True, start=1000, search=Search()).rate == CEILING


def trial(*, sent: int = 10_000, received: int = 10_000, lasted_s: float = 1.0, p99_us: float = 100.0) -> Trial:
    return Trial(10_000, sent, lasted_s, received, 50, p99_us, received / lasted_s)


def test_a_trial_is_judged_by_loss_then_by_delay_and_is_short_when_all_was_well_but_less_than_asked() -> None:
    criterion = Criterion(delay_p99_us=1000)
    assert criterion.judge(trial()) == "good"
    assert criterion.judge(trial(received=9_999)) == "lossy"
    assert criterion.judge(trial(sent=100_000, received=99_991, lasted_s=10)) == "good"
    assert criterion.judge(trial(p99_us=1001)) == "late"
    assert criterion.judge(trial(lasted_s=1.1)) == "short"
    assert criterion.judge(trial(received=1, lasted_s=1.1)) == "lossy"
