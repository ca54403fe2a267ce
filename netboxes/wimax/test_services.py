# SPDX-License-Identifier: GPL-2.0-or-later
"""The scheduling services: what delay, jitter and share of the uplink each of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from netboxes.engine.virtual import udp
from netboxes.wimax.cell_under_test import (
    DATA,
    VIDEO,
    VOICE,
    arrived,
    cell,
    delays_ms,
    goodput_bps,
    hello,
    joined,
    lost,
    run,
    stream,
)

VOICE_FLOW = {
    "class": "voice",
    "direction": "uplink",
    "scheduling": "rtPS",
    "reserved_rate": "128 kbit/s",
    "maximum_rate": "256 kbit/s",
    "polling_interval": "10 ms",
}
VIDEO_FLOW = {"class": "video", "direction": "uplink", "scheduling": "UGS", "reserved_rate": "440 kbit/s", "packet_size": "298 B"}


def test_polled_uplink_takes_one_to_two_frames() -> None:
    """A packet waits up to a frame for its poll, then a frame for its grant: 10 to 20 ms, 15 ms in the mean, and its own burst.

    A ranging opportunity before one of the two bursts adds or takes 0.25 ms. The thesis measured 14.3 ms.
    """
    result = run(cell(service_flows=[VOICE_FLOW]), {"ss1": stream(1, 0, ip_bytes=102, rate_bps=49.6e3, seconds=20.0, dscp=VOICE)})
    delays = delays_ms(arrived(result, 1, 0, VOICE))
    assert len(delays) == int(20.0 / (8 * 102 / 49.6e3))
    assert delays.min() >= 9.75
    assert delays.max() <= 20.6
    assert delays.mean() == pytest.approx(15.2, abs=0.5)
    assert delays.std() == pytest.approx(10.0 / np.sqrt(12.0), abs=0.4)  # of a uniform wait for the poll


def test_map_for_the_next_frame_costs_another_frame() -> None:
    frames = {"ss1": stream(1, 0, ip_bytes=102, rate_bps=49.6e3, seconds=10.0, dscp=VOICE)}
    result = run(cell(service_flows=[VOICE_FLOW], uplink_map="next-frame"), frames)
    assert delays_ms(arrived(result, 1, 0, VOICE)).mean() == pytest.approx(25.2, abs=0.7)


def test_longer_polling_interval_lengthens_the_wait() -> None:
    """Packets so rare that none rides in another's grant: 0 to 40 ms until the poll, then 10 ms until the grant."""
    flow = VOICE_FLOW | {"polling_interval": "40 ms"}
    frames = {"ss1": stream(1, 0, ip_bytes=102, rate_bps=8.4e3, seconds=60.0, dscp=VOICE)}
    delays = delays_ms(arrived(run(cell(service_flows=[flow]), frames), 1, 0, VOICE))
    assert delays.min() >= 9.75
    assert delays.max() <= 50.6
    assert delays.mean() == pytest.approx(30.2, abs=1.5)


def test_unsolicited_grants_wait_for_nothing_but_the_subframe() -> None:
    """Grants for two packets of 298 bytes in each frame: up to a frame until the burst begins, never a request."""
    flow = VIDEO_FLOW | {"reserved_rate": "720 kbit/s"}
    frames = {"ss1": stream(1, 0, ip_bytes=284, rate_bps=401e3, seconds=10.0, dscp=VIDEO)}
    delays = delays_ms(arrived(run(cell(service_flows=[flow]), frames), 1, 0, VIDEO))
    assert len(delays) == len(frames["ss1"])
    assert delays.min() >= 0.05
    assert delays.max() <= 10.7
    assert delays.mean() == pytest.approx(5.4, abs=0.4)


def test_downlink_best_effort_waits_for_the_next_downlink_subframe() -> None:
    result = run(cell(), {"bs": stream(0, 1, ip_bytes=102, rate_bps=49.6e3, seconds=10.0)})
    delays = delays_ms(arrived(result, 0, 1))
    # 0 to 10 ms, then preamble, FCH, maps and its own symbols: 13 or 14 of 27.8 us.
    assert delays.min() >= 0.3
    assert delays.max() <= 10.5
    assert delays.mean() == pytest.approx(5.4, abs=0.3)


def test_lone_best_effort_station_gets_through_contention() -> None:
    """Each packet finds its station idle, draws one of four opportunities in the first frame, and is granted in the next."""
    frames = {"ss1": stream(1, 0, ip_bytes=500, rate_bps=40e3, seconds=10.0)}
    result = run(cell(), frames)
    delays = delays_ms(arrived(result, 1, 0))
    assert len(delays) == len(frames["ss1"])
    assert delays.min() >= 9.75
    assert delays.max() <= 20.8
    assert result.statistics["segment"]["stations"]["bs"]["request_collisions"] == 0


def test_stations_that_collide_back_off_and_try_again() -> None:
    """Ten stations that send in the same instant draw among four opportunities: most collide at first, all get through."""
    frames = {f"ss{n}": [(0.5, udp(n, 0, 172)), (3.0, udp(n, 0, 172, identification=1))] for n in range(1, 11)}
    result = run(cell(subscribers=10), joined(hello(0), frames))
    assert sum(len(arrived(result, n, 0)) for n in range(1, 11)) == 20
    assert result.statistics["segment"]["stations"]["bs"]["request_collisions"] > 0
    # A collision is known only when T16 (50 ms) runs out.
    assert max(delays_ms(arrived(result, n, 0)).max() for n in range(1, 11)) > 50.0


def test_best_effort_without_any_grant_gives_up_in_the_end() -> None:
    """The other station's UGS takes the whole uplink; after 16 contention retries a frame is discarded (10.1)."""
    greedy = VIDEO_FLOW | {"reserved_rate": "6 Mbit/s", "station": "ss1"}
    frames = {"ss2": stream(2, 0, ip_bytes=284, rate_bps=2e3, seconds=3.0)}
    result = run(cell(subscribers=2, service_flows=[greedy]), joined(hello(0), frames), duration_s=12.0)
    assert lost(result, "retry_limit") >= 1
    assert len(arrived(result, 2, 0)) == 0


def test_reserved_video_is_untouched_by_overload() -> None:
    """E6 of the thesis: video on UGS, voice on rtPS, data on best effort, together more than the uplink at BPSK 1/2 carries."""
    far = cell(distance="7.5 km", noise_figure="3 dB", service_flows=[VIDEO_FLOW, VOICE_FLOW], downlink_share=0.76)
    video = stream(1, 0, ip_bytes=284, rate_bps=401e3, seconds=10.0, dscp=VIDEO, port=6000)
    voice = stream(1, 0, ip_bytes=102, rate_bps=66e3, seconds=10.0, dscp=VOICE, port=6001)
    data = stream(1, 0, ip_bytes=284, rate_bps=305e3, seconds=10.0, dscp=DATA, port=6002)
    alone = run(far, {"ss1": video})
    together = run(far, {"ss1": sorted(video + voice + data)})
    before, after = delays_ms(arrived(alone, 1, 0, VIDEO)), delays_ms(arrived(together, 1, 0, VIDEO))
    assert len(after) == len(video)
    # A station spends what others were granted by class too, so company can only help.
    assert after.mean() <= before.mean() + 0.1
    assert after.max() <= before.max() + 1.0
    assert delays_ms(arrived(together, 1, 0, VOICE)).mean() < 30.0
    assert len(arrived(together, 1, 0, VOICE)) == len(voice)
    assert lost(together, "queue_full") > 0.1 * len(data)
    assert delays_ms(arrived(together, 1, 0, DATA)).mean() > 500.0


def test_maximum_rate_holds_an_excess_back() -> None:
    flow = VOICE_FLOW | {"maximum_rate": "300 kbit/s"}
    frames = {"ss1": stream(1, 0, ip_bytes=500, rate_bps=600e3, seconds=8.0, dscp=VOICE)}
    result = run(cell(service_flows=[flow]), frames)
    carried = goodput_bps(arrived(result, 1, 0, VOICE), 2.0, 8.0)
    assert carried * 514 / 500 == pytest.approx(300e3, rel=0.03)


def test_downlink_maximum_rate_is_kept_too() -> None:
    flow = {"class": "video", "direction": "downlink", "scheduling": "BE", "maximum_rate": "500 kbit/s"}
    frames = {"bs": stream(0, 1, ip_bytes=500, rate_bps=900e3, seconds=8.0, dscp=VIDEO)}
    result = run(cell(service_flows=[flow]), frames)
    assert goodput_bps(arrived(result, 0, 1, VIDEO), 2.0, 8.0) * 514 / 500 == pytest.approx(500e3, rel=0.02)


def test_nrtps_keeps_its_reserved_rate_beside_a_greedy_rtps_flow() -> None:
    greedy = VOICE_FLOW | {"maximum_rate": "50 Mbit/s"}
    reserved = {
        "class": "video",
        "direction": "uplink",
        "scheduling": "nrtPS",
        "reserved_rate": "1 Mbit/s",
        "polling_interval": "50 ms",
    }
    # GPSS lets the station spend a grant by class, so the flows are on two stations.
    two = cell(subscribers=2, service_flows=[greedy, reserved])
    second = stream(2, 0, ip_bytes=1000, rate_bps=0.9e6, seconds=6.0, dscp=VIDEO, port=6001)
    first = stream(1, 0, ip_bytes=1000, rate_bps=8e6, seconds=6.0, dscp=VOICE)
    result = run(two, joined(hello(0), {"ss1": first, "ss2": second}))
    assert goodput_bps(arrived(result, 2, 0, VIDEO), 2.0, 6.0) == pytest.approx(0.9e6, rel=0.03)


def test_two_subscribers_share_best_effort_evenly() -> None:
    frames = {f"ss{n}": stream(n, 0, ip_bytes=1000, rate_bps=6e6, seconds=5.0, port=5000 + n) for n in (1, 2)}
    result = run(cell(subscribers=2), joined(hello(0), frames))
    first, second = (goodput_bps(arrived(result, n, 0), 1.5, 5.0) for n in (1, 2))
    assert first == pytest.approx(second, rel=0.03)
    assert first + second == pytest.approx(4.6e6, rel=0.03)


def test_stale_frames_are_discarded_where_a_latency_is_set() -> None:
    flow = {
        "class": "video",
        "direction": "downlink",
        "scheduling": "BE",
        "maximum_rate": "300 kbit/s",
        "maximum_latency": "100 ms",
    }
    frames = {"bs": stream(0, 1, ip_bytes=500, rate_bps=600e3, seconds=5.0, dscp=VIDEO)}
    result = run(cell(service_flows=[flow]), frames)
    assert lost(result, "queue_expired") > 100
    # 100 ms at a frame's beginning, and the rest of an SDU already begun.
    assert delays_ms(arrived(result, 0, 1, VIDEO)).max() <= 130.0
