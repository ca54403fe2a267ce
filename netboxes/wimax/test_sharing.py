# SPDX-License-Identifier: GPL-2.0-or-later
"""ertPS, packing, the base station's schedulers, and reserved rates beyond what a direction carries."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import Emulation, TimedFrame
from netboxes.wimax.cell_under_test import (
    VIDEO,
    VOICE,
    arrived,
    cell,
    delays_ms,
    distance_for,
    goodput_bps,
    hello,
    joined,
    link,
    run,
    stream,
)
from netboxes.wimax.parameters import Parameters

ERTPS = {"class": "voice", "direction": "uplink", "scheduling": "ertPS", "reserved_rate": "100 kbit/s", "packet_size": "116 B"}


def _talkspurts(seconds: float) -> list[TimedFrame]:
    """Speech of 51 kbit/s in every other second."""
    whole = stream(1, 0, ip_bytes=102, rate_bps=50e3, seconds=seconds, start=0.0, dscp=VOICE)
    return [frame for frame in whole if int(frame[0]) % 2 == 0]


def _granted(result: Emulation) -> int:
    return int(result.statistics["segment"]["stations"]["ss1"]["uplink_symbols"])


def test_ertps_has_ugs_delays_and_gives_back_what_silence_does_not_need() -> None:
    frames = {"ss1": _talkspurts(10.0)}
    extended, fixed = (run(cell(service_flows=[ERTPS | {"scheduling": kind}]), frames) for kind in ("ertPS", "UGS"))
    assert len(arrived(extended, 1, 0)) == len(frames["ss1"])
    delays = delays_ms(arrived(extended, 1, 0))
    # As UGS up to a frame, but for the first packets after a silence, which wait for their poll and its grant.
    assert float((delays > 11.0).mean()) < 0.05
    assert delays.max() < 21.0
    assert delays.mean() == pytest.approx(delays_ms(arrived(fixed, 1, 0)).mean(), abs=1.0)
    assert _granted(extended) < 0.75 * _granted(fixed)


def test_ertps_grants_grow_with_the_load_up_to_the_maximum_rate() -> None:
    flow = ERTPS | {"reserved_rate": "50 kbit/s", "maximum_rate": "400 kbit/s"}
    low = stream(1, 0, ip_bytes=102, rate_bps=40e3, seconds=3.0, start=0.0, dscp=VOICE)
    high = stream(1, 0, ip_bytes=102, rate_bps=300e3, seconds=3.0, start=3.0, dscp=VOICE)
    result = run(cell(service_flows=[flow]), {"ss1": low + high})
    rows = arrived(result, 1, 0)
    assert len(rows) == len(low) + len(high)
    late = rows["in_ns"] > 3.5e9
    assert delays_ms(rows[late]).max() < 30.0


def test_downlink_ertps_goes_before_polled_classes() -> None:
    """Beyond a base station's class order there is nothing for it to do: it has the queue itself."""
    flows = [
        ERTPS | {"direction": "downlink", "reserved_rate": "1 Mbit/s", "packet_size": None},
        {"class": "video", "direction": "downlink", "scheduling": "rtPS"},
    ]
    voice = stream(0, 1, ip_bytes=500, rate_bps=0.9e6, seconds=4.0, dscp=VOICE)
    video = stream(0, 1, ip_bytes=1000, rate_bps=8e6, seconds=4.0, dscp=VIDEO, port=6001)
    result = run(cell(service_flows=flows), {"bs": sorted(voice + video)})
    assert len(arrived(result, 0, 1, VOICE)) == len(voice)
    assert delays_ms(arrived(result, 0, 1, VOICE)).max() < 11.0


@pytest.mark.parametrize("direction", ["uplink", "downlink"])
def test_packing_carries_more_small_packets(direction: str) -> None:
    """100-byte packets: 114 bytes and 10 of header and CRC each, or 3 each and 10 a PDU of up to 2047 bytes (17 of them)."""
    sender, receiver, station = (1, 0, "ss1") if direction == "uplink" else (0, 1, "bs")
    frames = {station: stream(sender, receiver, ip_bytes=100, rate_bps=7e6, seconds=3.0)}
    plain, packed = (
        goodput_bps(arrived(run(cell(packing=packing), frames), sender, receiver), 1.0, 3.0) for packing in (False, True)
    )
    assert packed / plain == pytest.approx((114 + 10) / (114 + 3 + 10 / 17), rel=0.01)


def test_packed_frames_are_the_same_frames() -> None:
    frames = {"ss1": stream(1, 0, ip_bytes=100, rate_bps=900e3, seconds=2.0)}
    result = run(cell(packing=True), frames)
    assert [data for _, data in result.received["bs"]] == [data for _, data in frames["ss1"]]


def test_packed_frames_share_the_fate_of_their_pdu() -> None:
    """At the threshold of BPSK 1/2 a PDU of seven packets is lost as one of their joint length is."""
    plain, packed = (
        run(
            cell(packing=packing, distance=distance_for(6.4 + 1e-4)),
            {"bs": stream(0, 1, ip_bytes=100, rate_bps=2e6, seconds=20.0)},
        )
        for packing in (False, True)
    )

    def loss(result: Emulation) -> float:
        lost = result.statistics["frames"]["lost"]["on_air"]
        return float(lost / (lost + result.statistics["frames"]["delivered"]))

    assert loss(packed) > 4.0 * loss(plain)


def test_without_crc_a_packet_takes_four_bytes_less() -> None:
    frames = {"ss1": stream(1, 0, ip_bytes=100, rate_bps=7e6, seconds=3.0)}
    with_crc, without = (goodput_bps(arrived(run(cell(crc=crc), frames), 1, 0), 1.0, 3.0) for crc in (True, False))
    assert without / with_crc == pytest.approx(124 / 120, rel=0.01)


def test_without_fragmentation_only_whole_packets_fill_a_burst() -> None:
    """Seven packets of 1024 bytes fit into the 158 or 167 symbols of 48 bytes that the uplink has; a part of one does not."""
    parameters = cell(fragmentation=False, distance=distance_for(16.4 + 1.2))
    result = run(parameters, {"ss1": stream(1, 0, ip_bytes=1000, rate_bps=8e6, seconds=3.0)})
    assert link(result)["uplink_profile"] == "16-QAM 1/2"
    assert goodput_bps(arrived(result, 1, 0), 1.0, 3.0) == pytest.approx(7 * 8000 / 10e-3, rel=0.01)


def test_a_packet_that_no_burst_holds_is_lost_and_holds_up_no_other() -> None:
    parameters = cell(fragmentation=False, frame="5 ms", distance=distance_for(6.4 + 1.2))
    large = stream(1, 0, ip_bytes=1500, rate_bps=12e3, seconds=3.0)
    small = stream(1, 0, ip_bytes=100, rate_bps=20e3, seconds=3.0, port=6000)
    result = run(parameters, {"ss1": sorted(large + small)})
    assert result.statistics["segment"]["stations"]["ss1"]["lost_unsupported"] == len(large)
    assert len(arrived(result, 1, 0)) == len(small)


def _near_and_far(scheduler: str, **flow: Any) -> list[float]:
    """Goodput (Mbit/s) of a near station (64-QAM 3/4) and of a far one (QPSK 3/4), both greedy, downlink."""
    flows = [{"class": "video", "direction": "downlink", "scheduling": "BE", "station": "ss1"} | flow] if flow else []
    parameters = cell(subscribers=2, scheduler=scheduler, service_flows=flows)
    parameters["stations"]["ss1"]["distance"] = "300 m"
    frames = {
        "bs": sorted(
            stream(0, 1, ip_bytes=1000, rate_bps=16e6, seconds=3.0, start=1.0, dscp=VIDEO)
            + stream(0, 2, ip_bytes=1000, rate_bps=16e6, seconds=3.0, start=1.0, dscp=VIDEO, port=6001)
        )
    }
    result = run(parameters, joined(hello(1, 2), frames))
    return [goodput_bps(arrived(result, 0, n), 2.0, 4.0) / 1e6 for n in (1, 2)]


def test_schedulers_divide_what_is_not_reserved_in_their_ways() -> None:
    near, far = _near_and_far("strict")
    assert near == pytest.approx(far, rel=0.05)  # bytes round robin
    near, far = _near_and_far("weighted", weight=3.0)
    assert near / far == pytest.approx(3.0, rel=0.05)
    near, far = _near_and_far("proportional-fair")
    assert near / far == pytest.approx(108 / 36, rel=0.1)  # equal times
    near, far = _near_and_far("maximum-snr")
    assert near > 13.0
    assert far < 0.3


def test_uplink_shares_follow_weights_within_a_station_too() -> None:
    flows = [
        {"class": "voice", "direction": "uplink", "scheduling": "BE", "weight": 1.0},
        {"class": "video", "direction": "uplink", "scheduling": "BE", "weight": 4.0},
    ]
    voice = stream(1, 0, ip_bytes=500, rate_bps=5e6, seconds=4.0, dscp=VOICE)
    video = stream(1, 0, ip_bytes=500, rate_bps=5e6, seconds=4.0, dscp=VIDEO, port=6001)
    result = run(cell(scheduler="weighted", service_flows=flows), {"ss1": sorted(voice + video)})
    shares = [goodput_bps(arrived(result, 1, 0, dscp), 2.0, 4.0) for dscp in (VIDEO, VOICE)]
    assert shares[0] / shares[1] == pytest.approx(4.0, rel=0.1)


def test_reserved_rates_beyond_todays_profile_are_announced() -> None:
    flow = {"class": "video", "direction": "uplink", "scheduling": "UGS", "reserved_rate": "3 Mbit/s"}
    frames = {"ss1": stream(1, 0, ip_bytes=284, rate_bps=100e3, seconds=3.0, start=0.0, dscp=VIDEO)}
    changes = [(1.0, "distance", 6000.0), (2.0, "distance", 2500.0)]
    result = run(cell(service_flows=[flow]), frames, events=changes)
    (begin,), (end,) = result.events("overbooked"), result.events("not_overbooked")
    assert begin["at_s"] == pytest.approx(1.0, abs=0.011)
    assert begin["direction"] == "uplink"
    assert begin["reserved_symbols"] > begin["symbols"] == 177 - 8
    assert end["at_s"] == pytest.approx(2.0, abs=0.011)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"service_flows": [ERTPS | {"reserved_rate": None}]}, "needs `reserved_rate`"),
        ({"service_flows": [ERTPS | {"grant_interval": "5 ms"}]}, "the `grant_interval` of ertPS is at least a frame, 10 ms"),
        ({"service_flows": [ERTPS | {"reserved_rate": "20 Mbit/s"}]}, "even with 64-QAM 3/4, 15.4"),
        ({"scheduler": "fifo"}, "'strict', 'weighted', 'proportional-fair' or 'maximum-snr'"),
    ],
)
def test_impossible_reservations_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(cell(**changes))
