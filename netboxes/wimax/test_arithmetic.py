# SPDX-License-Identifier: GPL-2.0-or-later
"""The paper-and-pencil part of the validation beside numbers that others worked out, or that can be counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from netboxes.wimax.arithmetic import PROFILES, Frame, carried, collisions
from netboxes.wimax.convolutional_code import closed_form, lost_blocks


def test_frame_of_ten_milliseconds_as_worked_out_by_hand() -> None:
    frame = Frame()
    assert (frame.sampling, round(frame.symbol * 1e9)) == (11.52e6, 27778)
    assert (frame.downlink, frame.uplink) == (177, 177)
    assert frame.downlink_overhead(1) == 2 + 1 + 5  # 18 + 8 and 17 + 12 bytes and a tail byte, of 12 a symbol
    assert (frame.uplink_overhead(1), frame.uplink_overhead(0)) == (8, 17)


@pytest.mark.parametrize(("bandwidth", "sampling"), [(1.75e6, 2e6), (3.5e6, 4e6), (6e6, 6.88e6), (5.5e6, 6.32e6), (4e6, 4.56e6)])
def test_sampling_factor_of_each_family_of_bandwidths(bandwidth: float, sampling: float) -> None:
    assert Frame(bandwidth=bandwidth).sampling == sampling


def test_packets_are_cut_where_bursts_end() -> None:
    # 110 bytes each with header and CRC; in 109 there is room for a fragment of 97, and for the rest in 15.
    assert carried([220], 100) == 2
    assert carried([219], 100) == 1
    assert carried([219, 14], 100) == 1
    assert carried([219, 15], 100) == 2
    assert carried([219, 500], 100, fragmentation=False) == 1 + 4
    # 10 bytes once, 3 with each.
    assert carried([10 + 5 * 103], 100, packing=True) == 5


@pytest.mark.parametrize(("stations", "window"), [(2, 4), (3, 4), (4, 3)])
def test_collisions_are_those_that_counting_finds(stations: int, window: int) -> None:
    draws = list(itertools.product(range(window), repeat=stations))
    alone = sum(draw.count(first) == 1 for draw in draws for first in draw) / len(draws) / stations
    assert collisions(stations, window)[0] == pytest.approx(alone)
    # Two stations meet with 1/4, again and again.
    assert collisions(2, 4)[1] == pytest.approx(1 / 3)


def test_simulated_code_loses_what_its_distance_spectrum_says() -> None:
    """The union bound is one from above, and close where losses are rare."""
    lost, _ = lost_blocks(PROFILES[0], 0.0, 5000, np.random.default_rng(1))
    bound, _ = closed_form(1.0)
    assert 0.5 * bound < lost / 5000 < 1.2 * bound
