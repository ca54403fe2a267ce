# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sink makes of a generator's frames, in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from netboxes.engine.virtual import TimedFrame, emulate, udp, vlan


def stream(frames: int, rate: str = "1 kpps", **parameters: Any) -> list[TimedFrame]:
    """What a generator sends."""
    parameters = {"stations": {"out": {}}, "rate": rate, "count": frames, **parameters}
    return emulate("generator", parameters, {}, duration_s=10.0).received["out"]


def late(frames: list[TimedFrame], by_s: float) -> list[TimedFrame]:
    return [(time + by_s, frame) for time, frame in frames]


def in_order(frames: list[bytes]) -> list[TimedFrame]:
    """The frames as they stand, 1 ms apart."""
    return [(1.0 + number * 1e-3, frame) for number, frame in enumerate(frames)]


def sink(frames: list[TimedFrame], stations: str = "a", **options: Any) -> dict[str, Any]:
    ran = emulate("sink", {"stations": {name: {} for name in stations}}, {"a": frames}, **options)
    assert ran.statistics["frames"]["absorbed"] == len(frames)
    announced = {name: station["announced"] for name, station in ran.statistics["segment"]["stations"].items()}
    assert {name: len(left) for name, left in ran.received.items()} == announced
    statistics: dict[str, Any] = ran.statistics["segment"]
    return statistics


def test_a_whole_stream_is_counted_with_its_rate_and_its_delay() -> None:
    counters = sink(late(stream(1000), 0.005))
    expected = {"received": 1000, "lost": 0, "duplicates": 0, "reordered": 0, "foreign": 0}
    assert counters.items() >= expected.items()
    assert counters["stations"] == {"a": {"received": 1000, "bytes": 64_000, "foreign": 0, "announced": 1}}
    assert counters["rate"] == pytest.approx(1000)
    assert (counters["first_ns"], counters["last_ns"]) == (5_000_000, 1_004_000_000)
    delay_us = dict.fromkeys(("mean", "min", "max", "p50", "p90", "p99", "p99_9"), 5000)
    assert counters["delay_us"] == {"count": 1000, **delay_us}


def test_delays_are_in_percentiles() -> None:
    frames = [(time + 0.001 + 0.000_01 * number, frame) for number, (time, frame) in enumerate(stream(1000))]
    delay = sink(frames)["delay_us"]
    assert (delay["min"], delay["max"]) == (1000, 10_990)
    assert delay["mean"] == pytest.approx(5995)
    for share, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99_9")):
        assert delay[name] == pytest.approx(1000 + 10 * (share * 1000 - 1), rel=2e-3)


def test_what_is_missing_between_the_first_and_the_last_is_lost() -> None:
    frames = [frame for _, frame in stream(100)]
    counters = sink(in_order([*frames[5:20], *frames[23:40], *frames[41:90]]))
    assert (counters["received"], counters["lost"], counters["reordered"]) == (81, 4, 0)
    assert (counters["flows"][0]["lowest_sequence"], counters["flows"][0]["next_sequence"]) == (5, 90)


def test_duplicates_are_neither_received_nor_reordered() -> None:
    frames = [frame for _, frame in stream(50)]
    counters = sink(in_order([*frames, frames[49], frames[0], frames[0]]))
    assert (counters["received"], counters["lost"], counters["duplicates"], counters["reordered"]) == (50, 0, 3, 0)


def test_a_frame_is_reordered_when_one_with_a_higher_number_came_before_it() -> None:
    """RFC 4737, section 3.4: of a frame that overtakes three others, the three are reordered."""
    f = [frame for _, frame in stream(10)]
    counters = sink(in_order([f[0], f[4], f[1], f[2], f[3], f[5], *f[6:]]))
    assert (counters["received"], counters["lost"], counters["reordered"]) == (10, 0, 3)


def test_a_first_frame_that_is_late_itself_counts_from_its_number() -> None:
    f = [frame for _, frame in stream(10)]
    counters = sink(in_order([f[3], f[1], f[2], *f[4:]]))
    assert (counters["received"], counters["lost"], counters["reordered"]) == (9, 0, 2)
    assert counters["flows"][0]["lowest_sequence"] == 1


def test_a_frame_older_than_the_window_stays_lost_and_is_told() -> None:
    f = [frame for _, frame in stream(66_000, "100 kpps")]
    flow = sink(in_order([*f[1:], f[0], f[700]]))["flows"][0]
    assert (flow["received"], flow["lost"], flow["duplicates"], flow["unplaced"]) == (65_999, 0, 1, 1)


def test_a_gap_longer_than_the_window_is_all_lost() -> None:
    f = [frame for _, frame in stream(140_000, "100 kpps")]
    flow = sink(in_order([*f[:10], *f[-10:]]))["flows"][0]
    assert (flow["received"], flow["lost"], flow["duplicates"]) == (20, 139_980, 0)


def test_flows_are_told_apart_by_addresses_and_ports() -> None:
    flows = [stream(20), stream(20, destination_port=9), stream(20, source_address="198.18.0.2")]
    counters = sink(sorted(in_order([frame for _, frame in flow])[i] for i in range(20) for flow in flows))
    assert [(flow["source"], flow["destination"], flow["received"]) for flow in counters["flows"]] == [
        ("198.18.0.1:40000", "198.19.0.1:7", 20),
        ("198.18.0.1:40000", "198.19.0.1:9", 20),
        ("198.18.0.2:40000", "198.19.0.1:7", 20),
    ]


def test_flows_beyond_the_table_are_counted_together() -> None:
    frame = stream(1)[0][1]
    counters = sink(in_order([frame[:34] + port.to_bytes(2) + frame[36:] for port in range(1, 1031)]))
    assert (len(counters["flows"]), counters["received"], counters["unlisted"]) == (1024, 1024, 6)
    assert counters["delay_us"]["count"] == 1030


def test_frames_with_a_vlan_tag_are_a_generators_too() -> None:
    assert sink(in_order([vlan(frame, 5) for _, frame in stream(10)]))["received"] == 10


def test_other_frames_are_foreign() -> None:
    frames = [udp(1, 2), udp(1, 2, 4), udp(1, 2, version=6), b"\xff" * 60, stream(1)[0][1][:50]]
    counters = sink(in_order(frames))
    assert (counters["foreign"], counters["received"], counters["delay_us"]) == (5, 0, {"count": 0})


def test_it_takes_frames_for_addresses_behind_the_same_station() -> None:
    assert sink(in_order([udp(1, 2), udp(2, 1), udp(1, 2)]), stations="ab")["stations"]["a"]["received"] == 3


@pytest.mark.parametrize("tagged", [False, True])
def test_a_new_flow_makes_it_announce_the_host_that_the_flow_is_for(tagged: bool) -> None:
    """RFC 5227, section 2.3: an ARP request whose sender and target addresses are both the announced one."""
    frames = [vlan(frame, 5) if tagged else frame for _, frame in stream(10)]
    announced = [frame for _, frame in emulate("sink", {"stations": {"a": {}}}, {"a": in_order(frames)}).received["a"]]
    mac, address, tag = bytes.fromhex("020000000200"), bytes([198, 19, 0, 1]), bytes.fromhex("81000005") if tagged else b""
    arp = bytes.fromhex("0001080006040001") + mac + address + bytes(6) + address
    assert announced == [(b"\xff" * 6 + mac + tag + bytes.fromhex("0806") + arp).ljust(64, b"\0")]


def test_nobody_is_announced_for_a_flow_to_a_group() -> None:
    frames = stream(10, destination_mac="01:00:5e:00:00:01")
    assert emulate("sink", {"stations": {"a": {}}}, {"a": frames}).received["a"] == []
