# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import numpy as np
import pytest

from results.jitter import WARM_UP, running_jitter, settled, unwrap_timestamps


def test_the_estimate_follows_the_formula_of_rfc_3550() -> None:
    # D = 16, 0, -16 ms: J = 1, then 1 - 1/16, then 0.9375 + (16 - 0.9375)/16.
    assert running_jitter(np.array([0.0, 16.0, 16.0, 0.0])) == pytest.approx([1.0, 0.9375, 1.87890625])


def test_a_transit_that_always_changes_by_the_same_gives_that_in_the_end() -> None:
    transit = np.tile([0.0, 5.0], 500)
    assert running_jitter(transit)[-1] == pytest.approx(5.0)


def test_the_time_of_settling_is_left_out_of_long_flows_only() -> None:
    assert settled(np.arange(float(WARM_UP))).size == WARM_UP
    assert settled(np.arange(3.0 * WARM_UP))[0] == WARM_UP


def test_timestamps_go_on_over_the_edge_and_back() -> None:
    stamps = np.array([2**32 - 160, 0, 160, 2**32 - 160 + 320 - 2**32 + 320, 0], np.uint32)
    assert np.diff(unwrap_timestamps(stamps)).tolist() == [160, 160, 320, -480]


def test_a_constant_rate_over_the_edge_has_no_jitter() -> None:
    stamps = (np.arange(200, dtype=np.int64) * 160 + 2**32 - 16_000).astype(np.uint32)
    sent_ms = unwrap_timestamps(stamps) / 8.0
    arrival_ms = np.arange(200) * 20.0
    assert running_jitter(arrival_ms - (sent_ms - sent_ms[0])).max() == pytest.approx(0.0, abs=1e-6)
