# SPDX-License-Identifier: GPL-2.0-or-later
"""BBR sends as fast as the bottleneck, and no faster: what is on its way does not grow beyond what the path holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netboxes.endpoints.test_congestion_windows import SEGMENT_S, window

DELAY_S = 0.05


@pytest.mark.parametrize("acknowledged", [1, 2])
def test_bbr_keeps_a_bandwidth_delay_product_on_its_way(acknowledged: int, tmp_path: Path) -> None:
    """N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016: in most of its cycle BBR sends at
    the bottleneck's rate with one bandwidth-delay product on its way, for one of eight round trips a quarter more."""
    times, segments, _ = window(tmp_path, "bbr", delay_s=DELAY_S, duration_s=20.0, ack_every=acknowledged)
    product = (2 * DELAY_S + SEGMENT_S) / SEGMENT_S
    settled = segments[(times > times[0] + 4) & (times < times[0] + 10)]
    assert np.median(settled) == pytest.approx(product, rel=0.08)
    assert 1.2 * product < settled.max() < 1.4 * product
