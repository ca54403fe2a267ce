# SPDX-License-Identifier: GPL-2.0-or-later
"""The queues in front of connections: their room, their disciplines, and what is told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import Emulation, EmulationFailed, TimedFrame, udp
from netboxes.queueing.queue import Queue
from netboxes.wimax.cell_under_test import (
    ETHERNET,
    VIDEO,
    arrived,
    cell,
    delays_ms,
    hello,
    joined,
    link,
    lost,
    run,
    stream,
)

#: IP bytes of a packet, and bytes of its Ethernet frame.
PACKET = 1000
FRAME = PACKET + ETHERNET


def burst(source: int, destination: int, count: int, start: float = 0.5001) -> list[TimedFrame]:
    """So many packets within a frame of the cell, after its maps were made."""
    return [(start + index * 1e-5, udp(source, destination, PACKET - 28, identification=index)) for index in range(count)]


def queue_of(result: Emulation, direction: str, flow: int = -1) -> dict[str, Any]:
    queue: dict[str, Any] = link(result)[f"{direction}_flows"][flow]["queue"]
    return queue


def subframe_bps(result: Emulation, direction: str) -> float:
    """What the burst profile carries in all symbols of the direction."""
    frame = result.statistics["segment"]["frame"]
    carried = result.statistics["segment"]["stations"]["ss1"][f"rate_bps_{direction}"]
    return float(carried * frame[f"{direction}_symbols"] * frame["symbol_us"] / 10e3)


@pytest.mark.parametrize("direction", ["downlink", "uplink"])
@pytest.mark.parametrize(
    ("queue", "room"),
    [
        ({"packets": 4}, 4),
        ({"bytes": "8 kB"}, 8000 // FRAME),
        ({"packets": 20, "bytes": "8 kB"}, 8000 // FRAME),
        ({"buffer": "20 ms"}, None),
    ],
)
def test_room_is_in_packets_bytes_or_time_at_the_rate_of_the_subframe(direction: str, queue: Any, room: int | None) -> None:
    source, destination, sender = (0, 1, "bs") if direction == "downlink" else (1, 0, "ss1")
    result = run(cell(queue=queue), {sender: burst(source, destination, 40)})
    if room is None:
        room = int(20e-3 * subframe_bps(result, direction) / (8 * FRAME))
    assert len(arrived(result, source, destination)) == room
    assert lost(result, "queue_full") == 40 - room
    counters = queue_of(result, direction)
    assert counters["dropped"] == {"full": 40 - room, "early": 0, "expired": 0}
    assert counters["packets"] == counters["bytes"] == 0
    assert counters["delay_s"] > 5e-3


def test_who_waited_for_too_long_is_lost_when_its_turn_comes() -> None:
    """All came within 0.4 ms, 9.9 ms before one downlink subframe and 19.9 ms before the next one."""
    result = run(cell(queue={"time": "15 ms"}), {"bs": burst(0, 1, 40)})
    records = arrived(result, 0, 1)
    assert 0 < len(records) < 40
    # The last one is begun in one subframe, and goes on in the next.
    assert delays_ms(records)[:-1].max() < 15.0
    assert lost(result, "queue_expired") == 40 - len(records) == queue_of(result, "downlink")["dropped"]["expired"]


@pytest.mark.parametrize("discipline", ["codel", "fq-codel", "pie", "red"])
@pytest.mark.parametrize("direction", ["downlink", "uplink"])
def test_disciplines_keep_the_queue_short_under_overload(discipline: str, direction: str) -> None:
    """1.2 times what a direction carries. An uplink packet waits for two frames at least, for its request and its grant."""
    own: dict[str, Any] = {"weight": 0.05} if discipline == "red" else {"target": "30 ms"}
    source, destination, sender = (0, 1, "bs") if direction == "downlink" else (1, 0, "ss1")
    frames = {sender: stream(source, destination, ip_bytes=PACKET, rate_bps=5.6e6, seconds=10.0)}
    delays = {}
    for name, settings in ("fifo", {}), (discipline, own):
        result = run(cell(queue={"discipline": name, "bytes": "500 kB", **settings}), frames)
        records = arrived(result, source, destination)
        delays[name] = float(np.median(delays_ms(records[records["in_ns"] > 5e9])))
    dropped = queue_of(result, direction)["dropped"]
    assert dropped["early"] == lost(result, "queue_early") > 300
    assert result.statistics["segment"]["stations"]["ss1"]["lost_queue_early"] == dropped["early"]
    assert dropped["full"] == 0
    assert delays["fifo"] > 700.0
    assert delays[discipline] < 100.0


@pytest.mark.parametrize(("discipline", "passes"), [("fifo", False), ("fq-codel", True)])
@pytest.mark.parametrize("direction", ["downlink", "uplink"])
def test_a_sparse_flow_passes_a_flood_where_flows_take_turns(discipline: str, passes: bool, direction: str) -> None:
    source, destination, sender = (0, 1, "bs") if direction == "downlink" else (1, 0, "ss1")
    flood = stream(source, destination, ip_bytes=PACKET, rate_bps=7e6, seconds=5.0, port=5000)
    call = stream(source, destination, ip_bytes=100, rate_bps=20e3, seconds=5.0, port=5060)
    result = run(cell(queue=discipline), {sender: sorted(flood + call)})
    came = result.records[(result.records["length"] == 100 + ETHERNET) & (result.records["fate"] == 0)]
    if passes:
        assert len(came) == len(call)
        assert np.median(delays_ms(came)) < 25.0
    else:
        assert np.median(delays_ms(came)) > 80.0


def test_what_waits_has_its_lines_with_packing_too() -> None:
    flood = stream(0, 1, ip_bytes=200, rate_bps=7e6, seconds=3.0, port=5000)
    call = stream(0, 1, ip_bytes=100, rate_bps=20e3, seconds=3.0, port=5060)
    result = run(cell(queue="fq-codel", packing=True), {"bs": sorted(flood + call)})
    records = result.records[(result.records["length"] == 100 + ETHERNET) & (result.records["fate"] == 0)]
    assert len(records) == len(call)
    assert delays_ms(records).max() < 25.0


def test_a_service_flow_has_the_queue_that_it_says() -> None:
    flow = {"class": "video", "direction": "downlink", "scheduling": "BE", "queue": {"packets": 2}}
    video = [(time, udp(0, 1, PACKET - 28, dscp=VIDEO, identification=100 + n)) for n, (time, _) in enumerate(burst(0, 1, 10))]
    result = run(cell(service_flows=[flow], queue=5), {"bs": sorted(video + burst(0, 1, 10))})
    assert queue_of(result, "downlink", 0)["dropped"]["full"] == 8
    assert queue_of(result, "downlink", 1)["dropped"]["full"] == 5


def test_broadcasts_wait_in_a_queue_of_the_base_station() -> None:
    broadcast = [(time, udp(0, 999, PACKET - 28, identification=n)) for n, (time, _) in enumerate(burst(0, 1, 10))]
    result = run(cell(subscribers=2, queue=5), {"bs": broadcast})
    queue = result.statistics["segment"]["stations"]["bs"]["queue"]
    assert queue["dropped"]["full"] == 5
    assert len(arrived(result, 0, 1)) == len(arrived(result, 0, 2)) == 5


def test_a_running_cell_takes_another_queue_but_for_flows_with_their_own() -> None:
    flow = {"class": "video", "direction": "downlink", "scheduling": "BE", "queue": {"packets": 8}}
    video = [(time, udp(0, 1, PACKET - 28, dscp=VIDEO, identification=100 + n)) for n, (time, _) in enumerate(burst(0, 1, 10))]
    frames = joined(hello(1, 2), {"bs": sorted(video + burst(0, 1, 10)), "ss1": burst(1, 0, 10)})
    new = Queue(packets=3).model_dump()
    result = run(cell(subscribers=2, service_flows=[flow]), frames, events=[(0.502, "queue", new)])
    assert queue_of(result, "downlink", 0)["dropped"]["full"] == 2
    assert queue_of(result, "downlink", 1)["dropped"]["full"] == 7
    assert queue_of(result, "uplink")["dropped"]["full"] == 7


def test_a_running_cell_takes_no_queue_that_there_is_not() -> None:
    with pytest.raises(EmulationFailed, match="its discipline is one of"):
        run(cell(), hello(1), events=[(0.1, "queue", {"discipline": "sfq"})])


def test_the_same_seed_drops_the_same() -> None:
    def fates(seed: int) -> list[int]:
        frames = {"bs": stream(0, 1, ip_bytes=PACKET, rate_bps=6e6, seconds=2.0)}
        return list(run(cell(queue="red"), frames, seed=seed).records["fate"])

    assert fates(3) == fates(3)
    assert fates(3) != fates(4)
