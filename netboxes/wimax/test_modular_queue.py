# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue discipline `modular` of a cell: one queue of the base station for all of its subscribers; its own tests:
netboxes/queueing/test_modular.cc."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import Emulation, EmulationFailed, TimedFrame, udp
from netboxes.wimax.cell_under_test import (
    VIDEO,
    VOICE,
    arrived,
    cell,
    distance_for,
    goodput_bps,
    hello,
    joined,
    link,
    lost,
    run,
    stream,
)
from netboxes.wimax.parameters import Parameters

#: IP bytes of a packet.
PACKET = 1000
#: Bit/s of IP that 16-QAM 3/4 carries downwards in such packets (README, Validation).
CAPACITY = 9.488e6
#: All packets in one profile, whatever errors it makes; the signal-to-noise ratio is far above its threshold.
FIXED: dict[str, Any] = {"burst_profile": "16-QAM 3/4", "distance": distance_for(30.0)}
#: 9.8 dB remain, where 16-QAM 3/4 wants 18.2 dB and BPSK 1/2, with which a station is in range, 6.4 dB.
BAD_DB = 20.2


def modular(**said: Any) -> dict[str, Any]:
    return {"discipline": "modular", "packets": 1000} | said


def settings(queue: Any) -> Any:
    """As a running cell takes it."""
    return Parameters.model_validate(cell(queue=queue)).model_dump(mode="json")["queue"]


def of_base(result: Emulation) -> dict[str, Any]:
    queue: dict[str, Any] = result.statistics["segment"]["stations"]["bs"]["queue"]
    return queue


def burst(subscribers: int, packets: int, start: float = 0.5001, dscp: int = 0) -> list[TimedFrame]:
    """So many packets for each subscriber within a frame of the cell, in turn."""
    pairs = itertools.product(range(packets), range(1, subscribers + 1))
    return [
        (start + number * 1e-6, udp(0, to, PACKET - 28, dscp=dscp, identification=packet))
        for number, (packet, to) in enumerate(pairs)
    ]


def merged(flows: Iterable[list[TimedFrame]]) -> list[TimedFrame]:
    return sorted(itertools.chain.from_iterable(flows))


def two_states(seconds: float) -> list[dict[str, Any]]:
    """Two stations are good while two others are bad, for 0.1 s each; the channel changes within a frame's first millisecond."""
    times = np.arange(0.1005, seconds, 0.1)
    stations = []
    for first in (0.0, BAD_DB):
        series = [("0 s", f"{first} dB")]
        for number, time in enumerate(times):
            before, after = (first, BAD_DB - first) if number % 2 == 0 else (BAD_DB - first, first)
            series += [(f"{time:.4f} s", f"{before} dB"), (f"{time + 1e-4:.4f} s", f"{after} dB")]
        stations.append({"role": "subscriber", "fade_series": series})
    return stations * 2


def test_what_waits_for_a_bad_channel_goes_when_it_is_good() -> None:
    """A half of the time each channel loses all. Who sends at any time loses a half. Who waits for the channel loses what the bad
    stations get by their weights, 1 to 1000, and what is on its way when the channel changes: a frame in ten at most."""
    seconds = 3.0
    stations = {"bs": {"role": "base"}} | {f"ss{n}": station for n, station in enumerate(two_states(seconds), 1)}
    frames = joined(
        hello(1, 2, 3, 4),
        {"bs": merged(stream(0, n, ip_bytes=PACKET, rate_bps=3.5e6, seconds=seconds - 0.2) for n in (1, 2, 3, 4))},
    )
    delivered, share = {}, {}
    for queue in ("qfq+", "modular"):
        said = {"discipline": queue, "packets": 1000} | ({"prefetch": "400 packets"} if queue == "modular" else {})
        result = run(cell(stations=stations, queue=said, **FIXED), frames, duration_s=seconds)
        records = result.records[(result.records["fate"] == 0) & (result.records["station_in"] == 0)]
        delivered[queue] = goodput_bps(records, 0.3, seconds - 0.3) / CAPACITY
        of_each = [np.count_nonzero(records["station_out"] == n) for n in (1, 2, 3, 4)]
        share[queue] = min(of_each) / max(of_each)
    assert delivered["qfq+"] == pytest.approx(0.5, abs=0.05)
    assert 0.85 < delivered["modular"] <= 1.0
    assert share["modular"] > 0.85


def test_the_chance_of_success_is_the_share_of_the_longest_packets_that_arrive() -> None:
    """At 17.2 dB, one below the threshold of 16-QAM 3/4."""
    parameters = cell(queue=modular(), burst_profile="16-QAM 3/4", distance=distance_for(17.2))
    frames = {"bs": stream(0, 1, ip_bytes=1500, rate_bps=4e6, seconds=3.0)}
    result = run(parameters, frames)
    share = len(arrived(result, 0, 1)) / len(frames["bs"])
    told = of_base(result)["stations"]
    assert set(told) == {"ss1"}
    assert 0.2 < told["ss1"]["success"] < 0.98
    assert told["ss1"]["weight"] == round(1000 * told["ss1"]["success"])
    assert share == pytest.approx(told["ss1"]["success"], abs=3.5 * math.sqrt(0.25 / len(frames["bs"])))


@pytest.mark.parametrize("scheduler", ["strict", "maximum-snr"])
def test_classes_share_a_cell_by_their_weights_whatever_its_scheduler(scheduler: str) -> None:
    queue = {"discipline": "modular", "packets": 50, "qos": {"scheduler": "wf2q+", "weights": {"voice": 6, "video": 3}}}
    flows = [
        stream(0, station, ip_bytes=PACKET, rate_bps=4e6, seconds=2.0, dscp=dscp, port=5000 + dscp)
        for station in (1, 2)
        for dscp in (VOICE, VIDEO, 0)
    ]
    parameters = cell(subscribers=2, queue=queue, scheduler=scheduler, **FIXED)
    result = run(parameters, joined(hello(1, 2), {"bs": merged(flows)}), duration_s=2.5)
    came = [sum(goodput_bps(arrived(result, 0, n, dscp), 0.5, 2.0) for n in (1, 2)) for dscp in (VOICE, VIDEO, 0)]
    assert sum(came) == pytest.approx(CAPACITY, rel=0.02)
    assert np.array(came) / sum(came) == pytest.approx([0.6, 0.3, 0.1], abs=0.01)
    classes = of_base(result)["classes"]
    assert [each["class"] for each in classes] == ["voice", "video", "default"]
    assert sum(each["dropped"]["full"] for each in classes) == lost(result, "queue_full")


def test_a_station_out_of_range_holds_nobody_up_and_loses_what_waited_for_it() -> None:
    """300 packets wait, of which two in three are for stations that fade away in the second frame."""
    result = run(
        cell(subscribers=3, queue=modular(prefetch="20 packets"), **FIXED),
        joined(hello(1, 2, 3), {"bs": burst(3, 100)}),
        events=[(0.5195, "ss2.fade", 80.0), (0.5195, "ss3.fade", 80.0)],
    )
    came = [len(arrived(result, 0, n)) for n in (1, 2, 3)]
    assert came[0] == 100
    # Until then one frame has gone, to all in turn; a frame carries 11.9 such packets.
    assert max(came[1:]) <= math.ceil(11.9 / 3)
    assert lost(result, "outage") == 200 - came[1] - came[2] - lost(result, "on_air")
    assert lost(result, "on_air") <= 2
    frames = math.ceil(100 * 8 * PACKET / (CAPACITY * 0.01))
    assert arrived(result, 0, 1)["out_ns"].max() <= (0.51 + (frames + 1) * 0.01) * 1e9
    assert of_base(result)["packets"] == of_base(result)["prefetched"]["packets"] == 0
    assert result.statistics["frames"]["inside"] == 0


def test_a_running_cell_becomes_modular_and_back_and_keeps_what_waits() -> None:
    new, old = settings(modular(prefetch="10 packets")), settings({"packets": 1000})
    frames = joined(hello(1, 2), {"bs": burst(2, 60), "ss1": [(0.5, udp(1, 0, 972, identification=n)) for n in range(60)]})
    result = run(
        cell(subscribers=2, queue={"packets": 1000}, **FIXED), frames, events=[(0.502, "queue", new), (0.535, "queue", old)]
    )
    assert sum(result.statistics["frames"]["lost"].values()) == 0
    for station in (1, 2):
        records = np.sort(arrived(result, 0, station), order="out_ns")
        assert len(records) == 60
        assert np.all(np.diff(records["in_ns"].astype(np.int64)) > 0), "in their order"
    assert len(arrived(result, 1, 0)) == 60 + 1
    assert "queue" in link(result)["downlink_flows"][-1]


def test_broadcasts_wait_in_the_same_queue() -> None:
    """By their weight, one more than that of the best station: about as many as to either."""
    broadcast = [(0.50005 + n * 1e-6, udp(0, 999, PACKET - 28, identification=n)) for n in range(40)]
    frames = joined(hello(1, 2), {"bs": sorted(broadcast + burst(2, 40))})
    result = run(cell(subscribers=2, queue=modular(mac={"scheduler": "wf2q+"}), **FIXED), frames)
    records = result.records[(result.records["fate"] == 0) & (result.records["in_ns"] >= 0.5e9)]
    assert len(records) == 4 * 40
    times = np.sort(arrived(result, 0, 1)["out_ns"])
    assert times[-1] - times[0] < 1.1 * 120 / 11.86 * 0.01e9


def test_what_has_rates_or_a_queue_of_its_own_waits_by_itself() -> None:
    flows = [
        {"class": "voice", "direction": "downlink", "scheduling": "rtPS", "reserved_rate": "500 kbit/s"},
        {"class": "video", "direction": "downlink", "scheduling": "BE", "queue": {"packets": 20}},
    ]
    call = stream(0, 1, ip_bytes=200, rate_bps=400e3, seconds=1.0, dscp=VOICE, start=0.5, port=5060)
    frames = {"bs": sorted(call + burst(1, 200) + burst(1, 30, dscp=VIDEO))}
    result = run(cell(queue=modular(), service_flows=flows, **FIXED), frames)
    queues = [flow.get("queue") for flow in link(result)["downlink_flows"]]
    assert queues[0]["stations"] == {"ss1": {"packets": 0, "success": 1.0, "weight": 1000}}
    assert queues[1]["dropped"]["full"] == 10 and queues[2] is None
    came = arrived(result, 0, 1, VOICE)
    assert len(came) == len(call)
    assert (came["out_ns"] - came["in_ns"]).max() < 20e6, "a reserved rate is kept beside what the shared queue gives"


def test_a_subscriber_has_the_base_station_alone_as_receiver() -> None:
    result = run(
        cell(subscribers=2, queue=modular()),
        joined(hello(0, 1, 2), {"ss1": stream(1, 2, ip_bytes=500, rate_bps=1e5, seconds=0.5)}),
    )
    assert link(result)["uplink_flows"][-1]["queue"]["stations"] == {
        "bs": {"packets": 0, "success": pytest.approx(1.0), "weight": 1000}
    }
    assert sum(result.statistics["frames"]["lost"].values()) == 0
    assert set(of_base(result)["stations"]) == {"ss1", "ss2"}


def test_the_same_seed_gives_the_same_order() -> None:
    frames = joined(hello(1, 2), {"bs": burst(2, 50)})
    first, second = (
        run(cell(subscribers=2, queue=modular(), **FIXED | {"distance": distance_for(17.5)}), frames) for _ in range(2)
    )
    assert first.records.tobytes() == second.records.tobytes()


def test_what_such_a_queue_cannot_be_is_refused_with_the_remedy() -> None:
    for queue, message in (
        (modular(rate="1 Mbit/s"), "leave it out, or put a netbox of a technology that has it in front"),
        (modular(inner="codel"), "modular has no lines by traffic class; use priority"),
        (modular(mac={"weights": "fair"}), "Input should be 'constant', 'linear'"),
    ):
        with pytest.raises(ValidationError) as refused:
            Parameters.model_validate(cell(queue=queue))
        assert message in str(refused.value)
    running = settings(modular())
    with pytest.raises(EmulationFailed, match=r"its mac\.scheduler is one of"):
        run(cell(), hello(1), events=[(0.1, "queue", running | {"mac": {"scheduler": "fifo", "weights": "constant"}})])
