# SPDX-License-Identifier: GPL-2.0-or-later
"""Outages of flows whose frames and losses are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from results.flow_path import FlowPath, Gap
from results.metrics import per_second
from results.outage import outages

BEGAN_NS = 1_700_000_000_000_000_000
MS = 1_000_000


def flow(frames: Sequence[tuple[float, float | None]]) -> pl.DataFrame:
    """`frames`: when each was sent, in ms, and its delay, or None when it was lost."""
    sent = [BEGAN_NS + round(at * MS) for at, _ in frames]
    received = [None if delay is None else BEGAN_NS + round((at + delay) * MS) for at, delay in frames]
    return pl.DataFrame(
        {"sent_ns": sent, "received_ns": received, "payload_bytes": [160] * len(frames), "path": [0] * len(frames)},
        schema={"sent_ns": pl.Int64, "received_ns": pl.Int64, "payload_bytes": pl.UInt32, "path": pl.UInt32},
    )


NEAR, FAR = (FlowPath((netbox,), (Gap("a", netbox, ()), Gap(netbox, "b", ()))) for netbox in ("near", "far"))


def told(rows: pl.DataFrame, protocol: Any = "udp") -> Any:
    outage_figures = outages(rows, protocol, (NEAR, FAR), BEGAN_NS)
    assert outage_figures is not None
    return outage_figures


def voice(lost: range, delay: float = 100.0, after: float = 100.0, count: int = 200) -> list[tuple[float, float | None]]:
    """50 frames a second."""
    return [(20.0 * n, None if n in lost else delay if n < lost.stop else after) for n in range(count)]


def test_a_flow_without_losses_has_none() -> None:
    assert told(flow(voice(range(0)))) == {"threshold_ms": 60.0, "count": 0, "total_ms": 0, "longest_ms": 0.0, "list": []}


def test_single_losses_are_none() -> None:
    frames = [(20.0 * n, None if n % 10 == 3 else 100.0) for n in range(200)]
    assert told(flow(frames))["count"] == 0


def test_an_outage_is_from_the_last_arrival_to_the_next_with_delay_and_way_on_both_sides() -> None:
    rows = flow(voice(range(50, 75), delay=260.0, after=300.0))
    found = told(rows.with_columns(path=(pl.int_range(pl.len()) >= 75).cast(pl.UInt32)))
    (one,) = found["list"]
    assert (one["begin_s"], one["duration_ms"], one["lost"], one["ended"]) == (
        pytest.approx(1.24),
        pytest.approx(26 * 20.0 + 40.0),
        25,
        True,
    )
    assert (one["before"]["delay_ms"], one["before"]["via"]) == (pytest.approx(260.0), ["near"])
    assert (one["after"]["delay_ms"], one["after"]["via"]) == (pytest.approx(300.0), ["far"])
    assert one["way_changed"] and one["delay_changed"]


def test_an_outage_during_which_frames_wait_counts_too() -> None:
    frames = [(20.0 * n, 100.0 + max(0.0, 600.0 - 20.0 * (n - 50)) if n >= 50 else 100.0) for n in range(200)]
    (one,) = told(flow(frames))["list"]
    assert (one["duration_ms"], one["lost"]) == (pytest.approx(620.0), 0)


def test_a_pause_of_the_sender_is_none_even_with_a_lost_frame_before_it() -> None:
    frames = voice(range(49, 50), count=50) + [(6000.0 + 20.0 * n, 100.0) for n in range(50)]
    assert told(flow(frames))["count"] == 0


def test_what_a_host_held_while_its_wire_was_unplugged_is_an_outage() -> None:
    frames = [(20.0 * n, 100.0) for n in range(50)] + [(2000.0 + 0.1 * n, 100.0) for n in range(50)]
    frames += [(2020.0 + 20.0 * n, 100.0) for n in range(50)]
    (one,) = told(flow(frames))["list"]
    assert one["duration_ms"] == pytest.approx(1020.0)


def test_pictures_that_come_in_bursts_have_pauses_of_their_own() -> None:
    frames = [(66.7 * picture + 0.2 * part, 50.0) for picture in range(60) for part in range(6)]
    assert told(flow(frames))["count"] == 0


def test_one_that_does_not_end_lasts_until_the_last_frame_would_have_come() -> None:
    (one,) = told(flow(voice(range(100, 200))))["list"]
    assert (one["ended"], one["after"], one["lost"]) == (False, None, 100)
    assert one["duration_ms"] == pytest.approx(2000.0)


def test_tcp_is_silent_in_an_outage_and_between_what_it_has_to_say() -> None:
    talk = [(20.0 * n, 30.0) for n in range(20)]
    retries = [(600.0, None), (1000.0, None), (1800.0, 30.0)]
    idle = [(9000.0, 30.0), (9020.0, 30.0)]
    (one,) = told(flow([*talk, *retries, *idle]), "tcp")["list"]
    assert (one["begin_s"], one["duration_ms"]) == (pytest.approx(0.41), pytest.approx(1420.0))


def test_seconds_count_losses_when_sent_and_goodput_when_arrived() -> None:
    found = per_second(flow(voice(range(50, 75), count=100)), BEGAN_NS)
    assert found is not None
    assert found["second"] == [0, 1, 2]
    assert found["sent"] == [50, 50, 0]
    assert found["loss_ratio"] == [0.0, 0.5, None]
    assert found["delay_ms"] == [100.0, 100.0, None]
    assert sum(found["goodput_kbps"]) == pytest.approx(75 * 160 * 8 / 1e3)
