# SPDX-License-Identifier: GPL-2.0-or-later
"""BBR sends as fast as the bottleneck, and no faster: what is on its way does not grow beyond what the path holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import bulk, pair
from netboxes.endpoints.test_congestion_windows import DATA, SEGMENT_S, window
from netboxes.endpoints.test_web import visited
from results import pcapng

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


@pytest.mark.parametrize(("rate", "burst"), [(1e6, 1), (10e6, 2), (60e6, 4)])
def test_bbr_sends_bursts_of_a_millisecond_and_leaves_room_for_three(rate: float, burst: int, tmp_path: Path) -> None:
    """Linux's tcp_tso_autosize(): what the pacing rate sends in 2^-10 s, at least two segments, below 1.2 Mbit/s one
    (bbr_min_tso_segs). Its bbr_quantization_budget() adds three bursts to the product, to an even number, and two segments while
    it probes for more. Two of eight phases have other rates."""
    product = rate / 8 * 2 * DELAY_S
    sends = bulk("sender", until_s=8.0, tcp={"variant": "bbr"})
    ran = pair(tmp_path, [sends], [bulk("receiver")], rate=rate, delay_s=DELAY_S, queue=2 * product + 50_000, duration_s=8.0)
    packets = [(packet.time_ns, packet.data) for packet in pcapng.read(tmp_path / "pair.pcapng")]
    sent = [time for time, frame in packets if frame[36:38] == (5001).to_bytes(2) and len(frame) > DATA and time > 5e9]
    times, lengths = np.unique(sent, return_counts=True)
    assert len(times) > 100
    assert np.mean(lengths == burst) > 0.7
    [connection] = ran["left"]["flows"][0]["connections"]
    most = 2 * product / DATA + 3 * burst + 4 + burst  # with an aggregate
    assert connection["cwnd"] / DATA < most + 1


def test_bbr_sends_at_the_rate_of_the_path_after_a_pause(tmp_path: Path) -> None:
    """Samples of what its application limits are none of the path (draft-cheng-iccrg-delivery-rate-estimation-00, 3.3): a page
    after a pause takes a round trip and the time of its frames."""
    pages = [{"objects": [400_000], "requests": [250], "parse_s": 0, "think_s": 2.0}]
    bbr = {"pages": pages, "tcp": {"variant": "bbr"}}
    _, got = visited(tmp_path, {**bbr, "until_s": 30}, bbr, duration_s=32.0, rate=10e6, delay_s=DELAY_S, queue=200_000)
    expected = 2 * DELAY_S + 400_000 / DATA * SEGMENT_S
    took = [one["ended_s"] - one["asked_s"] for one in got[3:]]
    assert len(took) > 5
    assert np.mean(took) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("begins_s", [10.3, 10.6, 10.65, 10.9])
def test_a_timeout_while_bbr_probes_the_round_trip_ends_nothing(begins_s: float, tmp_path: Path) -> None:
    """It probes for 0.2 s, 10 s after the smallest round trip (draft-cardwell-iccrg-bbr-congestion-control-02, 4.3.4), and the
    line loses all: a timeout, then the transfer goes on (RFC 6298, 5.5)."""
    events = [(begins_s, "up", False), (begins_s + 1.0, "up", True)]
    sends = bulk("sender", until_s=14.0, tcp={"variant": "bbr"})
    told = pair(tmp_path, [sends], [bulk("receiver")], delay_s=DELAY_S, duration_s=15.0, events=events)
    (sender,) = told["left"]["flows"]
    # All of the time but that of the outage and of the timeouts that it left behind.
    assert sender["acknowledged"] > 0.7 * 10e6 / 8 * 12
