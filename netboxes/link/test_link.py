# SPDX-License-Identifier: GPL-2.0-or-later
"""The plain link in virtual time: what its parameters do, one by one. Distributions and shares are in validation.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netboxes.engine.virtual import Change, Emulation, EmulationFailed, TimedFrame, emulate, fragments, mac, udp
from results.records import Fate
from testbed.description.topology_file import load

FOLDER = Path(__file__).parent
CHECKOUT = FOLDER.parents[1]
LEFT, RIGHT = 0, 1
ETHERNET, IP_UDP = 14, 28
#: Disciplines that share a transmitter among flows.
SCHEDULERS = ("drr", "scfq", "wf2q+", "qfq", "qfq+")


def frames(count: int, gap_s: float = 1e-3, payload: int = 472, at: float = 1.0) -> list[TimedFrame]:
    return [(at + number * gap_s, udp(LEFT, RIGHT, payload, identification=number)) for number in range(count)]


def pass_over(
    link: dict[str, Any],
    left: Sequence[TimedFrame],
    right: Sequence[TimedFrame] = (),
    events: Sequence[Change] = (),
    **options: Any,
) -> Emulation:
    stations = link.pop("stations", {"left": {}, "right": {}})
    return emulate("link", {"stations": stations, **link}, {"left": left, "right": right}, events=events, **options)


def delays_ms(emulation: Emulation, station: int = RIGHT) -> NDArray[np.float64]:
    """In the order of arrival."""
    arrived = emulation.records[(emulation.records["fate"] == Fate.DELIVERED) & (emulation.records["station_out"] == station)]
    return np.asarray((arrived["out_ns"] - arrived["in_ns"]) / 1e6, np.float64)


def counters(emulation: Emulation, station: str = "left") -> dict[str, Any]:
    statistics: dict[str, Any] = emulation.statistics["segment"]["stations"][station]
    return statistics


def test_a_frame_takes_its_bytes_by_the_rate_and_then_the_delay() -> None:
    ran = pass_over({"rate": "1 Mbit/s", "delay": "20 ms"}, frames(2, gap_s=0.0))
    byte_ms = 8e-3
    frame_ms = (500 + ETHERNET) * byte_ms
    assert list(delays_ms(ran)) == pytest.approx([20 + frame_ms, 20 + 2 * frame_ms], abs=1e-6)


def test_a_link_without_parameters_passes_everything_at_once() -> None:
    ran = pass_over({}, frames(10))
    assert len(ran.received["right"]) == 10
    assert max(delays_ms(ran)) < 1e-3


def test_a_station_says_what_is_different_in_the_direction_in_which_it_sends() -> None:
    stations = {"left": {"delay": "70 ms", "loss": 0.0}, "right": {}}
    back = [(time, udp(RIGHT, LEFT, 472)) for time, _ in frames(5)]
    ran = pass_over({"stations": stations, "delay": "10 ms"}, frames(5), back)
    assert list(delays_ms(ran, RIGHT)) == pytest.approx([70.0] * 5, abs=1e-3)
    assert list(delays_ms(ran, LEFT)) == pytest.approx([10.0] * 5, abs=1e-3)


def test_everything_changes_while_it_runs_and_by_direction() -> None:
    changes: list[Change] = [
        (1.5, "delay", 0.1),
        (2.5, "left.delay", 0.2),
        (3.5, "left.loss", {"model": "independent", "probability": 1.0}),
        (4.5, "loss", {"model": "independent", "probability": 0.0}),
    ]
    back = [(time, udp(RIGHT, LEFT, 472)) for time, _ in frames(5, gap_s=1.0)]
    ran = pass_over({"delay": "10 ms"}, frames(5, gap_s=1.0), back, changes)
    assert list(delays_ms(ran, RIGHT)) == pytest.approx([10.0, 100.0, 200.0, 200.0], abs=1e-3)
    assert list(delays_ms(ran, LEFT)) == pytest.approx([10.0, 100.0, 100.0, 100.0, 100.0], abs=1e-3)
    assert counters(ran)["lost"]["on_air"] == 1


def test_a_new_rate_is_for_frames_that_have_not_begun() -> None:
    frame_ms = (500 + ETHERNET) * 8e-3
    ran = pass_over({"rate": "1 Mbit/s"}, frames(3, gap_s=0.0), events=[(1.001, "rate", 2e6)])
    assert list(delays_ms(ran)) == pytest.approx([frame_ms, 1.5 * frame_ms, 2 * frame_ms], abs=1e-5)


def test_none_overtakes_when_the_delay_falls() -> None:
    ran = pass_over({"delay": "50 ms"}, frames(20), events=[(1.0105, "delay", 0.01)])
    assert [data for _, data in ran.received["right"]] == [data for _, data in frames(20)]


@pytest.mark.parametrize(("queue", "arrive"), [(10, 11), ({"bytes": "5.2 kB"}, 11), ({"packets": 5, "bytes": "5 kB"}, 6)])
def test_a_queue_is_as_long_as_it_is_said(queue: Any, arrive: int) -> None:
    ran = pass_over({"rate": "1 Mbit/s", "queue": queue}, frames(30, gap_s=0.0))
    assert len(ran.received["right"]) == arrive  # with the one being sent
    assert counters(ran)["lost"]["queue_full"] == 30 - arrive


def test_who_waited_for_too_long_is_dropped_when_its_turn_comes() -> None:
    ran = pass_over({"rate": "1 Mbit/s", "queue": {"time": "10 ms"}}, frames(30, gap_s=0.0))
    assert len(ran.received["right"]) == 3  # each takes 4.1 ms
    assert counters(ran)["lost"]["queue_expired"] == 27


def test_what_waits_moves_to_a_new_queue() -> None:
    new = {"discipline": "fifo", "packets": 5, "bytes": 2e9, "time": None}
    ran = pass_over({"rate": "1 Mbit/s"}, frames(30, gap_s=0.0), events=[(1.001, "queue", new)])
    assert [data for _, data in ran.received["right"]] == [data for _, data in frames(6)]
    assert counters(ran)["lost"]["queue_full"] == 24


def test_a_queue_with_a_rate_of_its_own_sends_so_much_and_none_in_bursts() -> None:
    """The first frame goes at once. Each other one begins when the one before has had its time at the queue's rate."""
    frame_ms, own_ms = (500 + ETHERNET) * 8e-3 / 10, (500 + ETHERNET + 24) * 8e-3 / 2
    ran = pass_over(
        {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"rate": "2 Mbit/s", "overhead": "24 B"}}, frames(10, gap_s=0.0)
    )
    assert list(delays_ms(ran)) == pytest.approx([20 + frame_ms + place * own_ms for place in range(10)], abs=1e-5)


def test_a_queue_that_loses_its_own_rate_sends_at_once_what_waited() -> None:
    frame_ms, own_ms = (500 + ETHERNET) * 8e-3, (500 + ETHERNET) * 8.0
    slow = {"discipline": "fifo", "packets": 100, "rate": 1e3}
    fast = {"discipline": "fifo", "packets": 100, "rate": None}
    ran = pass_over({"rate": "1 Mbit/s"}, frames(4, gap_s=0.0), events=[(0.5, "queue", slow), (7.0, "queue", fast)])
    assert own_ms < 6000 < 2 * own_ms
    assert list(delays_ms(ran)) == pytest.approx([frame_ms, own_ms + frame_ms, 6000 + frame_ms, 6000 + 2 * frame_ms], abs=1e-5)


def test_fq_codel_keeps_the_fragments_of_a_packet_in_order() -> None:
    """Later ones have no ports to be told apart by."""
    sent = [piece for number in range(40) for piece in fragments(udp(LEFT, RIGHT, 800, identification=number), 400)]
    ran = pass_over({"rate": "1 Mbit/s", "queue": "fq-codel"}, [(1.0, piece) for piece in sent])
    received = [frame for _, frame in ran.received["right"]]
    assert received == [piece for piece in sent if piece in received] and len(received) > 40


@pytest.mark.parametrize("discipline", ["fq-codel", *SCHEDULERS])
def test_a_queue_of_flows_keeps_a_call_apart_from_a_flood(discipline: str) -> None:
    flood = [(1 + n * 1e-3, udp(LEFT, RIGHT, 1200, ports=(1000, 1000), identification=n)) for n in range(4000)]
    call = [(1 + n * 20e-3, udp(LEFT, RIGHT, 100, ports=(5004, 5004), identification=n)) for n in range(200)]
    waits = {}
    for name in ("fifo", discipline):
        ran = pass_over({"rate": "5 Mbit/s", "queue": {"discipline": name, "packets": 200}}, flood + call)
        small = ran.records[(ran.records["length"] < 300) & (ran.records["fate"] == Fate.DELIVERED)]
        waits[name] = float(np.median(small["out_ns"] - small["in_ns"])) / 1e6
    assert waits["fifo"] > 100
    # QFQ+ serves an aggregate of lines at a time: 8 frames of 1514 bytes take 19.4 ms.
    assert waits[discipline] < (20 if discipline == "qfq+" else 5)


@pytest.mark.parametrize("discipline", SCHEDULERS)
def test_flows_of_several_lengths_have_max_min_fair_shares(discipline: str) -> None:
    """Of 6 Mbit/s who offers 1 Mbit/s has that; who offers 3 and 8 Mbit/s have a half of the rest each (Bertsekas and Gallager,
    Data Networks, 6.5.2)."""
    offered = {1000: (1e6, 160), 1001: (3e6, 1200), 1002: (8e6, 700)}
    sent: list[TimedFrame] = []
    for port, (rate, payload) in offered.items():
        gap_s = 8 * (payload + IP_UDP + ETHERNET) / rate
        for n in range(int(8 / gap_s)):
            sent.append((1 + n * gap_s, udp(LEFT, RIGHT, payload, ports=(port, port), identification=n)))
    queue = {"discipline": discipline, "packets": 100}
    ran = pass_over({"rate": "6 Mbit/s", "queue": queue}, sorted(sent, key=lambda frame: frame[0]))
    arrived = [data for at, data in ran.received["right"] if 3 <= at < 8]
    for port, expected in ((1000, 1e6), (1001, 2.5e6), (1002, 2.5e6)):
        bits = sum(8 * len(data) for data in arrived if int.from_bytes(data[34:36], "big") == port)
        assert bits / 5 == pytest.approx(expected, rel=0.02)


def test_jitter_that_may_not_reorder_keeps_the_order() -> None:
    link = {"delay": "50 ms", "jitter": {"deviation": "10 ms"}}
    ran = pass_over(dict(link), frames(2000))
    sent = [data for _, data in frames(2000)]
    assert [data for _, data in ran.received["right"]] == sent
    assert np.std(delays_ms(ran)) > 3
    overtaking = pass_over({**link, "jitter": {"deviation": "10 ms", "reorder": True}}, frames(2000))
    assert [data for _, data in overtaking.received["right"]] != sent


def test_held_back_frames_come_late_and_the_others_in_order() -> None:
    ran = pass_over({"delay": "5 ms", "reordering": {"probability": 1.0, "gap": 10, "by": "3.5 ms"}}, frames(100))
    order = [int.from_bytes(data[42:46], "big") for _, data in ran.received["right"]]
    assert order[:14] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 9, 13]
    assert counters(ran)["held_back"] == 10


def test_a_duplicate_is_a_frame_of_its_own() -> None:
    ran = pass_over({"duplication": 1.0, "delay": "5 ms"}, frames(10))
    assert [data for _, data in ran.received["right"]] == [data for _, data in frames(10) for _ in range(2)]
    assert counters(ran)["repeated"] == 10
    assert len(ran.records) == 20
    assert ran.statistics["frames"]["inside"] == 0


def test_damaged_frames_arrive_with_some_bits_inverted_behind_the_ethernet_header() -> None:
    ran = pass_over({"corruption": 1e-3}, frames(200))
    assert len(ran.received["right"]) == 200
    hit = 0
    for (_, sent), (_, arrived) in zip(frames(200), ran.received["right"], strict=True):
        assert arrived[:ETHERNET] == sent[:ETHERNET]
        inverted = int.from_bytes(sent, "big") ^ int.from_bytes(arrived, "big")
        hit += inverted != 0
    assert counters(ran)["damaged"] == hit > 180
    dropped = pass_over({"corruption": {"bit_error_rate": 1e-3, "frames": "dropped"}}, frames(200))
    assert counters(dropped)["lost"]["on_air"] == hit  # the same bits


def test_an_outage_is_announced_and_loses_what_is_sent() -> None:
    link = {"outage": {"up": "2 s", "down": "500 ms", "distribution": "fixed"}}
    ran = pass_over(link, frames(5000))
    assert [
        (line["at_s"], line["event"], line["station"]) for line in ran.journal if line.get("event") in ("link_down", "link_up")
    ][:4] == [(2.0, "link_down", "right"), (2.0, "link_down", "left"), (2.5, "link_up", "right"), (2.5, "link_up", "left")]
    assert ran.events("link_down")[0]["reason"] == "outage"
    assert counters(ran)["lost"]["outage"] == 1000


def test_while_it_is_down_frames_can_wait() -> None:
    events: list[Change] = [(1.0105, "left.up", False), (1.5, "left.up", True)]
    ran = pass_over({"while_down": "wait", "delay": "1 ms"}, frames(20), events=events)
    assert [data for _, data in ran.received["right"]] == [data for _, data in frames(20)]
    assert max(delays_ms(ran)) == pytest.approx(1500 - 1011 + 1, abs=0.1)
    assert [event["station"] for event in ran.events("link_down")] == ["right"]


def test_an_outage_of_one_direction_leaves_the_other_alone() -> None:
    stations = {"left": {"outage": {"up": "1 s", "down": "1 s", "distribution": "fixed"}}, "right": {}}
    back = [(time, udp(RIGHT, LEFT, 472)) for time, _ in frames(3000)]
    ran = pass_over({"stations": stations}, frames(3000), back)
    assert counters(ran)["lost"]["outage"] == 1000
    assert counters(ran, "right")["delivered"] == 3000


def test_a_mahimahi_trace_lets_a_full_packet_leave_at_each_of_its_times(tmp_path: Path) -> None:
    trace = FOLDER / "test-opportunities.trace"
    assert trace.read_text().split() == ["10", "10", "25", "100"]
    full = frames(6, gap_s=0.0, payload=1500 - IP_UDP)
    ran = pass_over({"trace": str(trace.relative_to(CHECKOUT)), "overhead": "4 B"}, full)
    assert list(delays_ms(ran)) == [10, 10, 25, 100, 110, 110]


def test_a_csv_trace_says_rate_delay_and_loss_from_when_time_begins() -> None:
    trace = str((FOLDER / "test-series.csv").relative_to(CHECKOUT))
    ran = pass_over({"trace": {"file": trace, "repeat": True}}, frames(60, gap_s=0.1, at=5.0))
    lost = np.asarray(ran.records["fate"]) == Fate.ON_AIR
    second = np.asarray((ran.records["in_ns"] - 5_000_000_000) // 1_000_000_000)
    assert {int(s) for s in second[lost]} == {1, 4}  # 3 s long: the second of each round
    assert lost.sum() == 20
    delays = delays_ms(ran)
    assert delays[:9] == pytest.approx([20 + 514 * 8e-3] * 9)
    assert delays[10:20] == pytest.approx([5 + 514 * 8e-4] * 10)


LOSS = {"model": "gilbert-elliott", "good_to_bad": 0, "bad_to_good": 1, "loss_in_good": 0, "loss_in_bad": 1}
JITTER = {"distribution": "normal", "deviation": 0.1, "shape": 3, "correlation": 0, "reorder": False, "table": []}


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("rate", 10.0, "rate cannot be 10.0; it is a number from 1000 to 1e+11 bit/s"),
        ("left.delay", 11, "delay cannot be 11; it is a number from 0 to 10 s"),
        ("loss", LOSS | {"good_to_bad": 2}, "its good_to_bad is a number from 0 to 1"),
        ("loss", {"probability": 0.1}, "its model is one of independent gilbert-elliott gilbert-elliott-in-time two-state"),
        ("loss", {"model": "lost-periods", "repeat": True, "periods": [[1, 2], [1.5, 3]]}, "periods of errors are not in order"),
        ("queue", {"discipline": "sfq"}, "its discipline is one of fifo priority codel fq-codel cake pie red ared dualpi2"),
        ("queue", {"discipline": "fifo", "bytes": 1513}, "its bytes is a number from 1514 to 2e+09 B"),
        ("queue", {"discipline": "pie", "target": 1, "interval": 1, "burst": 61}, "its burst is a number from 0 to 60 s"),
        ("outage", {"up": 0}, "its distribution is one of fixed exponential"),
        ("outage", {"distribution": "fixed", "up": 0, "down": 1}, "its up is a number from 0.001 to 86400 s"),
        ("reordering", {"probability": 1, "gap": 1.5, "by": 1}, "its gap is a whole number from 1 to 1e+06"),
        ("jitter", JITTER | {"deviation": 5.1}, "its deviation is a number from 0 to 5 s"),
        ("jitter", JITTER | {"distribution": "table", "table": []}, "its table is a list of 1 or more"),
        ("jitter", JITTER | {"distribution": "table", "table": [0, 11]}, "its table[1] is a number from -10 to 10 s"),
        ("trace", {"rate": [[0, -1]], "repeat": True, "between": "hold"}, "its rate[0][1] is a number from 0 to 1e+11 bit/s"),
        ("trace", {"rate": [[None, 1]], "repeat": True, "between": "hold"}, "type must be number, but is null"),
        ("up", 1, "up cannot be 1; it is true or false"),
        ("middle.delay", 1, "no station 'middle'; there are left right"),
        ("colour", 1, "no live parameter 'colour'; there are corruption delay duplication"),
    ],
)
def test_bad_live_changes_are_refused(parameter: str, value: Any, message: str) -> None:
    with pytest.raises(EmulationFailed) as failed:
        pass_over({}, frames(1), events=[(0.5, parameter, value)])
    assert message in str(failed.value)


def test_the_same_seed_gives_the_same_run() -> None:
    link = {"delay": "20 ms", "jitter": "5 ms", "loss": {"probability": 0.1, "burst": 3}, "duplication": 0.1, "corruption": 1e-4}
    first, again = (pass_over(dict(link), frames(500), seed=3) for _ in range(2))
    other = pass_over(dict(link), frames(500), seed=4)
    assert (first.records == again.records).all()
    assert len(first.records) != len(other.records) or (first.records != other.records).any()


def test_the_example_is_sound() -> None:
    assert load(CHECKOUT / "topologies" / "link.yaml").netboxes["access"].technology == "link"


def test_stations_beyond_the_link_are_told_apart_by_the_bridge() -> None:
    """More hosts behind an end: what is for one behind the same end does not cross."""
    own = [(1.0, udp(5, LEFT)), (1.1, udp(LEFT, 5))]
    ran = pass_over({}, own)
    assert len(ran.received["right"]) == 1
    assert ran.received["right"][0][1][:6] == mac(LEFT)


@pytest.mark.parametrize(("burst", "drops"), [("0 s", True), ("150 ms", False)])
def test_pie_lets_bursts_through_as_long_as_it_is_told(burst: str, drops: bool) -> None:
    """RFC 8033, 4.2: nothing is dropped early until the allowance is used up; here after 140 ms, ten times too much."""
    queue = {"discipline": "pie", "target": "1 ms", "interval": "1 ms", "burst": burst}
    ran = pass_over({"rate": "1 Mbit/s", "queue": queue}, frames(350, gap_s=0.4e-3), duration_s=5.0)
    assert (len(ran.received["right"]) < 350) == drops
