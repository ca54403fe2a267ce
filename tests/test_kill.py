# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit down` leaves a host as it was before, at whatever moment a command was killed: a sample of `make kill-test`."""

from __future__ import annotations

import pytest

from tests.kill_trials import Moment, count, moments, sample, try_each

pytestmark = pytest.mark.lab

TRIALS = 60


def test_whenever_netboxit_is_killed_down_leaves_the_host_as_it_was() -> None:
    outcomes = list(try_each(sample(moments(count()), TRIALS)))
    assert {outcome.moment.command for outcome in outcomes} == {"up", "interrupted up", "down"}
    # Programs do not wait equally often each time, so not every moment comes.
    assert sum(outcome.call is not None for outcome in outcomes) > TRIALS / 2
    left = [f"{outcome.moment} ({outcome.call})\n{outcome.problem}" for outcome in outcomes if outcome.problem]
    assert not left, "\n".join(left)


def test_a_sample_is_spread_over_all_moments() -> None:
    everything = [Moment("up", 0, number, "netboxit") for number in range(1000)]
    chosen = [moment.number for moment in sample(everything, 10)]
    assert [number // 100 for number in chosen] == list(range(10))
