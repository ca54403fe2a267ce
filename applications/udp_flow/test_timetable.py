# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import numpy as np
import pytest

from applications.udp_flow.timetable import Timetable


def test_a_constant_flow_keeps_its_distance() -> None:
    times = Timetable("constant", 8.0, 1.0, 11.0).departures()
    assert times.size == 80
    assert times[0] == 1.0
    assert np.allclose(np.diff(times), 0.125)


def test_poisson_gaps_are_exponential_and_the_same_again() -> None:
    table = Timetable("poisson", 100.0, 0.0, 200.0, seed="a")
    times = table.departures()
    gaps = np.diff(times)
    # 20 000 gaps: their mean and deviation are both 10 ms, with a standard error of 0.7 and 1.4 %; four of them.
    assert gaps.mean() == pytest.approx(0.01, rel=0.03)
    assert gaps.std() == pytest.approx(0.01, rel=0.06)
    assert np.array_equal(times, table.departures())
    assert not np.array_equal(times[:10], Timetable("poisson", 100.0, 0.0, 200.0, seed="b").departures()[:10])


def test_on_off_sends_in_exponential_periods() -> None:
    table = Timetable("on-off", 50.0, 2.0, 4002.0, on_s=1.0, off_s=3.0, seed="a")
    periods = np.asarray(table.periods())
    lengths, silences = periods[:, 1] - periods[:, 0], periods[1:, 0] - periods[:-1, 1]
    # About 1000 of each: a standard error of 3 %; four of them.
    assert lengths.mean() == pytest.approx(1.0, rel=0.13)
    assert silences.mean() == pytest.approx(3.0, rel=0.13)
    assert periods[0, 0] == 2.0
    assert periods[-1, 1] <= 4002.0
    times = table.departures()
    inside = np.searchsorted(periods[:, 0], times, "right") - 1
    assert np.all(times < periods[inside, 1])
    # A period begins with a datagram, so one of length T has ceil(50 T).
    assert times.size == pytest.approx(50.0 * lengths.sum() + 0.5 * len(periods), rel=0.01)
