# SPDX-License-Identifier: GPL-2.0-or-later
"""Which measures have values that are not thought of as normally distributed."""

from __future__ import annotations

import pytest

from applications.registry import measures


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *((name, True) for name in ("delay_ms_p99", "delay_ms_p99_9", "queue_packets_max", "jitter_ms_min", "loss_ratio")),
        *(
            (name, False)
            for name in ("delay_ms_mean", "goodput_kbps", "mos_e_model", "packets", "tcp_completion_s", "psnr_db_mean")
        ),
    ],
)
def test_percentiles_extremes_and_ratios_are_told_by_their_names(name: str, is_one: bool) -> None:
    assert measures()[name].is_percentile_or_ratio is is_one
