# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues in front of each sender of a satellite link: room, time, disciplines, and what is told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netboxes.engine.virtual import Emulation, EmulationFailed, TimedFrame, emulate, udp
from netboxes.queueing.queue import Queue
from netboxes.satellite.link_under_test import (
    DELAY,
    FORWARD_RATE,
    FORWARD_SLOT,
    HEADERS,
    HUB,
    LINK,
    MEOC,
    RETURN_RATE,
    RETURN_SLOT,
    SHARED,
    delays,
    flow,
    hello,
    in_bursts,
    lost,
)
from netboxes.satellite.parameters import Parameters
from testbed.description.live import parsed, read_value

#: Bursts of 500 bytes, and what a carrier of bursts sends of them in a second.
BURSTS = 3
PACKETS_A_SECOND = RETURN_RATE / 8 / in_bursts(500, 188)
#: 500-byte packets that come a tenth faster than a return carrier sends them, for 30 s.
TENTH_TOO_MANY = flow(MEOC, HUB, 500, 1 / (1.1 * PACKETS_A_SECOND), int(33 * PACKETS_A_SECOND))


def of_queue(emulation: Emulation, station: str = "meoc") -> dict[str, Any]:
    queue: dict[str, Any] = emulation.statistics["segment"]["stations"][station]["queue"]
    return queue


def waits(emulation: Emulation, since_s: float, destination: int = HUB) -> NDArray[np.float64]:
    """From a packet's arrival until it arrives, less the way, of those that came in this long after the first."""
    records = emulation.records
    here = (records["fate"] == 0) & (records["station_out"] == destination) & (records["in_ns"] > (1.0 + since_s) * 1e9)
    return np.asarray((records["out_ns"] - records["in_ns"])[here] / 1e9 - DELAY, np.float64)


def test_a_queue_holds_what_its_channel_sends_in_half_a_second_if_nothing_is_said() -> None:
    queue = Parameters.model_validate(LINK).queue
    assert (queue.discipline, queue.buffer, queue.packets, queue.bytes) == ("fifo", 0.5, None, None)
    frames = {"meoc": flow(MEOC, HUB, 500, 0.001, 2000), "hub": flow(HUB, MEOC, 1500, 0.0008, 2500)}
    emulation = emulate("satellite", LINK, frames)
    # The rates count all headers, the queues layer 3.
    assert delays(emulation, HUB).max() - DELAY == pytest.approx(0.5, rel=0.05)
    assert delays(emulation, MEOC).max() - DELAY == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize(
    ("text", "discipline", "packets", "buffer"),
    [("queue=codel", "codel", None, 0.5), ("queue=50", "fifo", 50, None), ("queue={buffer: 1 s}", "fifo", None, 1.0)],
)
def test_what_changes_live_is_said_as_in_yaml(
    text: str,
    discipline: str,
    packets: int | None,
    buffer: float | None,
) -> None:
    value = read_value(Parameters, *parsed(text))
    assert (value["discipline"], value["packets"], value["buffer"]) == (discipline, packets, buffer)


def test_a_running_link_takes_no_queue_that_there_is_not() -> None:
    with pytest.raises(EmulationFailed, match="its discipline is one of fifo priority codel fq-codel cake pie red"):
        emulate("satellite", LINK, {"meoc": flow(MEOC, HUB, 100, 0.1, 20)}, events=[(1.5, "queue", {"discipline": "sfq"})])


@pytest.mark.parametrize(
    ("queue", "packets", "bytes_"),
    [
        ({"buffer": "200 ms"}, int(0.2 * RETURN_RATE / 8) // 500, int(0.2 * RETURN_RATE / 8) // 500 * 500),
        (20, 20, 10_000),
        ({"bytes": "20 kB"}, 40, 20_000),
        ({"packets": 50, "bytes": "20 kB", "buffer": "1 s"}, 40, 20_000),
    ],
)
def test_a_queue_takes_no_more_than_its_room(queue: Any, packets: int, bytes_: int) -> None:
    frames = {"meoc": flow(MEOC, HUB, 500, 0.001, 2000)}
    emulation = emulate("satellite", LINK | {"queue": queue}, frames, duration_s=2.9)
    statistics = of_queue(emulation)
    assert (statistics["packets"], statistics["bytes"]) in [(packets, bytes_), (packets - 1, bytes_ - 500)]
    # All that waits before a packet is sent first, then its own bursts.
    longest = packets / PACKETS_A_SECOND
    assert statistics["delay_s"] == pytest.approx(longest, abs=3 * RETURN_SLOT)
    assert delays(emulation, HUB).max() - DELAY == pytest.approx(longest + BURSTS * RETURN_SLOT, abs=3 * RETURN_SLOT)
    assert statistics["dropped"]["full"] == lost(emulation)["queue_full"] > 500
    # Counted since the first packet came, after 1 s.
    assert sum(statistics["length_s"]) == pytest.approx(1.9, abs=0.01)
    assert statistics["length_s"][0] == pytest.approx(0.0, abs=0.02)


def test_who_waits_for_longer_than_its_time_is_lost() -> None:
    emulation = emulate("satellite", LINK | {"queue": {"buffer": "2 s", "time": "100 ms"}}, {"meoc": TENTH_TOO_MANY})
    took = delays(emulation, HUB) - DELAY
    assert 0.1 < took.max() <= 0.1 + (BURSTS + 2) * RETURN_SLOT
    assert lost(emulation) == {"queue_expired": of_queue(emulation)["dropped"]["expired"]}
    assert len(took) == pytest.approx(30 * PACKETS_A_SECOND, rel=0.01)


@pytest.mark.parametrize("channel", ["return", "forward", "shared"])
@pytest.mark.parametrize("discipline", ["codel", "pie", "red"])
def test_disciplines_that_drop_early_keep_the_wait_far_below_that_of_a_fifo(discipline: str, channel: str) -> None:
    link, sender, receiver = {
        "return": (LINK, MEOC, HUB),
        "forward": (LINK | {"forward_rate": f"{RETURN_RATE} bit/s"}, HUB, MEOC),
        "shared": (SHARED | {"capacity_request": "CRA", "cra_rate": f"{RETURN_RATE / 2} bit/s"}, MEOC, HUB),
    }[channel]
    rate = RETURN_RATE / 2 if channel == "shared" else RETURN_RATE
    frames = flow(sender, receiver, 500, 500 * 8 / (1.1 * rate), 10_000)
    name, other = ("meoc", "hub")[sender], ("meoc", "hub")[receiver]
    mean_waits = {}
    for queue in ("fifo", discipline):
        emulation = emulate("satellite", link | {"queue": queue}, {name: frames, other: hello(receiver)})
        mean_waits[queue] = waits(emulation, 10.0, receiver).mean()
    # The room of a shared channel is what a whole carrier sends, and this terminal has half of one.
    assert mean_waits["fifo"] == pytest.approx(1.0 if channel == "shared" else 0.5, rel=0.1)
    assert mean_waits[discipline] < 0.1
    assert set(lost(emulation)) == {"queue_early"}
    assert of_queue(emulation, name)["dropped"]["early"] == lost(emulation)["queue_early"] > 500


@pytest.mark.parametrize(("discipline", "passes"), [("fifo", False), ("fq-codel", True)])
def test_a_sparse_flow_passes_a_greedy_one_where_flows_take_turns(discipline: str, passes: bool) -> None:
    sparse = [(1.0 + 0.0971 * i, udp(MEOC, HUB, 100 - HEADERS, ports=(40001, 5005), identification=i)) for i in range(300)]
    emulation = emulate("satellite", LINK | {"queue": discipline}, {"meoc": TENTH_TOO_MANY + sparse})
    records = emulation.records[emulation.records["length"] < 200]
    arrived = records[records["fate"] == 0]
    took = (arrived["out_ns"] - arrived["in_ns"]) / 1e9 - DELAY
    if passes:
        # A greedy one's packet that is begun, then a slot, then its own.
        assert len(arrived) == len(sparse)
        assert took.max() <= (BURSTS + 3) * RETURN_SLOT
    else:
        assert len(arrived) < len(sparse)
        assert took.max() > 0.4


def test_a_terminal_asks_for_no_more_once_its_queue_has_sent_or_dropped_all() -> None:
    link = SHARED | {"capacity_request": "VBDC", "queue": {"discipline": "codel", "buffer": "10 s"}}
    frames = {"meoc": flow(MEOC, HUB, 500, 0.001, 5000), "hub": hello(HUB)}
    emulation = emulate("satellite", link, frames, duration_s=20.0, interval_s=0.5)
    station = emulation.statistics["segment"]["stations"]["meoc"]
    assert lost(emulation)["queue_early"] > 100
    assert (station["queue"]["packets"], station["queued_bytes_by_class"]) == (0, {"default": 0})
    lines = [line for line in emulation.journal if "statistics" in line]
    states = {line["at_s"]: line["statistics"]["stations"]["meoc"] for line in lines}
    emptied = min(at for at, state in states.items() if at > 6.0 and state["queued_bytes_by_class"]["default"] == 0)
    later = [state["requests"] for at, state in states.items() if at > emptied]
    assert len(later) > 10 and set(later) == {station["requests"]}


def test_each_traffic_class_is_counted_where_it_waits() -> None:
    classes = [{"name": "voice", "match": {"dscp": [46]}}]
    frames = {"meoc": flow(MEOC, HUB, 1000, 0.001, 1000) + flow(MEOC, HUB, 100, 0.01, 100, dscp=46)}
    for discipline in ("fifo", "priority", "fq-codel"):
        emulation = emulate("satellite", LINK | {"queue": discipline}, frames, classes=classes, duration_s=1.9)
        station = emulation.statistics["segment"]["stations"]["meoc"]
        assert sum(station["queued_bytes_by_class"].values()) == station["queue"]["bytes"] > 10_000
        if discipline == "priority":
            assert station["queued_bytes_by_class"]["voice"] <= 100


def test_another_queue_takes_over_what_waits() -> None:
    codel = Queue(discipline="codel", packets=1000).model_dump(mode="json")
    emulation = emulate("satellite", LINK, {"meoc": TENTH_TOO_MANY}, events=[(15.0, "queue", codel)])
    records = emulation.records[emulation.records["fate"] == 0]
    took, came = (records["out_ns"] - records["in_ns"]) / 1e9 - DELAY, records["in_ns"] / 1e9
    assert took[(came > 12.0) & (came < 14.0)].mean() == pytest.approx(0.5, rel=0.1)
    assert took[came > 25.0].mean() < 0.1
    assert np.all(np.diff(np.sort(records, order="in_ns")["out_ns"]) >= 0)
    assert lost(emulation)["queue_early"] > 500


def test_room_follows_live_rates() -> None:
    events: list[tuple[float, str, Any]] = [(5.0, "return_rate", 4e6), (5.0, "forward_rate", FORWARD_RATE / 10)]
    frames: dict[str, list[TimedFrame]] = {
        "meoc": flow(MEOC, HUB, 500, 0.0008, 10_000),
        "hub": flow(HUB, MEOC, 500, 0.002, 4_000),
    }
    emulation = emulate("satellite", LINK, frames, events=events)
    assert waits(emulation, 6.0).mean() == pytest.approx(0.5, rel=0.05)
    assert waits(emulation, 6.0, MEOC).mean() == pytest.approx(0.5, rel=0.1)
    assert waits(emulation, -1.0, MEOC).min() <= 2 * FORWARD_SLOT
