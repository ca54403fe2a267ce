# SPDX-License-Identifier: GPL-2.0-or-later
"""Percentiles of cyclictest's histogram."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.bare_timer import NoCyclictest, lateness_us, percentiles
from system.realtime_support import realtime_support


def test_percentiles_are_those_of_the_counts() -> None:
    assert percentiles({"100": 9, "20": 900, "3000": 1, "30": 90}) == {"p50": 20, "p90": 20, "p99": 30, "p99_9": 100}


def test_without_cyclictest_it_is_said_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoCyclictest, match="rt-tests"):
        lateness_us(0, 0.1, tmp_path)


@pytest.mark.lab
def test_cyclictest_tells_percentiles_in_order(tmp_path: Path) -> None:
    assert shutil.which("cyclictest")
    if not (support := realtime_support()).fifo:
        pytest.skip(f"no real-time priority to be had: {support.reason}")
    lateness = lateness_us(0, 0.2, tmp_path)
    assert 0 < lateness["p50"] <= lateness["p90"] <= lateness["p99"] <= lateness["p99_9"] <= lateness["max"]
