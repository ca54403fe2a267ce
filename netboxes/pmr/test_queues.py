# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues of the TETRA-like network: their disciplines, room, time and statistics, and what an interrupted packet does to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netboxes.engine.virtual import BROADCAST, Emulation, EmulationFailed, TimedFrame, emulate, ethernet, mac, udp
from netboxes.pmr import arithmetic
from netboxes.pmr.network_under_test import BASE, HEADERS, HELLO, START, lost, network, packets, station
from netboxes.pmr.parameters import Parameters
from results.records import Fate

#: Twice what a call carries of packets of 200 bytes.
LENGTH = 200
INTERVAL = arithmetic.blocks(LENGTH, "none") * arithmetic.FRAME / 2
CLASSES = [{"name": "emergency", "match": {"dscp": [46]}}, {"name": "urgent", "match": {"dscp": [10]}}]


def flood(seconds: float = 100.0) -> list[TimedFrame]:
    return packets(0, LENGTH, [START + i * INTERVAL for i in range(round(seconds / INTERVAL))])


def overload(queue: Any, seconds: float = 100.0, **options: Any) -> Emulation:
    """One terminal sends the base twice what a call carries."""
    parameters = network(acknowledged=False, queue=queue)
    return emulate("pmr", parameters, {"t0": flood(seconds), "base": HELLO}, **options)


def waits(emulation: Emulation, after_s: float = START + 40.0) -> NDArray[np.float64]:
    """Of packets that came after this time and arrived, s."""
    records = emulation.records
    rows = records[(records["fate"] == Fate.DELIVERED) & (records["in_ns"] > after_s * 1e9)]
    return np.asarray((rows["out_ns"] - rows["in_ns"]) / 1e9, np.float64)


def senders_and_classes(emulation: Emulation, name: str = "base") -> list[tuple[int, int]]:
    """Of the UDP packets that a station received: number of the sender, DSCP."""
    return [(frame[11], frame[15] >> 2) for _, frame in emulation.received[name] if frame[12:14] == b"\x08\x00"]


@pytest.mark.parametrize(
    ("queue", "discipline", "limits"),
    [
        (None, "priority", {"packets": 20, "bytes": None, "time": 15.0}),
        (5, "priority", {"packets": 5, "bytes": None, "time": 15.0}),
        ({"bytes": "4 kB"}, "priority", {"packets": None, "bytes": 4000.0, "time": 15.0}),
        ({"time": "2 s"}, "priority", {"packets": 20, "bytes": None, "time": 2.0}),
        ("fifo", "fifo", {"packets": 20, "bytes": None, "time": 15.0}),
        ({"discipline": "codel", "target": "1 s", "packets": 7}, "codel", {"packets": 7, "time": 15.0, "target": 1.0}),
    ],
)
def test_a_queue_is_priority_unless_another_one_is_said(queue: Any, discipline: str, limits: dict[str, Any]) -> None:
    parameters = Parameters.model_validate(network(**({} if queue is None else {"queue": queue})))
    dumped = parameters.model_dump(mode="json")["queue"]
    assert dumped["discipline"] == discipline
    assert dumped | limits == dumped


def test_codel_keeps_the_delay_far_below_fifos() -> None:
    fifo = overload({"discipline": "fifo", "packets": 100, "time": "20 s"})
    codel = overload({"discipline": "codel", "target": "1 s", "interval": "1 s", "packets": 100, "time": "20 s"})
    assert np.median(waits(fifo)) > 15.0
    assert np.median(waits(codel)) < 3.0
    assert "queue_early" not in lost(fifo)
    assert lost(codel)["queue_early"] == station(codel, "t0")["queue"]["base"]["dropped"]["early"] > 20


@pytest.mark.parametrize("discipline", ["pie", "red"])
def test_others_drop_early_too(discipline: str) -> None:
    own = {"target": "2 s", "interval": "1 s"} if discipline == "pie" else {"weight": 0.1}
    ran = overload({"discipline": discipline, "packets": 100, "time": "20 s", **own})
    assert np.median(waits(ran)) < 14.0
    assert lost(ran)["queue_early"] > 20
    again = overload({"discipline": discipline, "packets": 100, "time": "20 s", **own})
    assert ran.received == again.received
    other = overload({"discipline": discipline, "packets": 100, "time": "20 s", **own}, seed=2)
    assert ran.received != other.received


def test_fq_codel_lets_a_sparse_flow_pass() -> None:
    sparse = [(START + 30 + 5 * i, udp(0, BASE, 40 - HEADERS, identification=i, ports=(7, 7))) for i in range(12)]
    median = {}
    for discipline in ("fifo", "fq-codel"):
        parameters = network(acknowledged=False, queue={"discipline": discipline, "packets": 50, "time": "20 s"})
        ran = emulate("pmr", parameters, {"t0": sorted(flood() + sparse), "base": HELLO})
        small = ran.records[(ran.records["length"] < 100) & (ran.records["in_ns"] > START * 1e9)]
        arrived = small[small["fate"] == Fate.DELIVERED]
        median[discipline] = np.median(arrived["out_ns"] - arrived["in_ns"]) / 1e9
        if discipline == "fq-codel":
            assert len(arrived) == 12
    assert median["fifo"] > 10
    assert median["fq-codel"] < 1.5


@pytest.mark.parametrize(
    ("queue", "kept"),
    [
        ({"packets": 4}, 4),
        ({"bytes": "1600 B"}, 1600 // LENGTH),
        # 2 s at 7.2 kbit/s are 1800 bytes.
        ({"buffer": "2 s"}, 1800 // LENGTH),
    ],
)
@pytest.mark.parametrize("discipline", ["priority", "fifo"])
def test_room_limits_what_waits(discipline: str, queue: dict[str, Any], kept: int) -> None:
    burst = packets(0, LENGTH, [START + 1e-4 * i for i in range(20)])
    ran = emulate("pmr", network(queue={"discipline": discipline, **queue}), {"t0": burst, "base": HELLO})
    assert len(ran.received["base"]) == kept
    assert lost(ran) == {"queue_full": 20 - kept}
    assert station(ran, "t0")["queue"]["base"]["dropped"] == {"full": 20 - kept, "early": 0, "expired": 0}


@pytest.mark.parametrize(("limit", "longest"), [("5 s", 5.0), ("25 s", 22.0)])
def test_time_limits_how_long_a_packet_waits(limit: str, longest: float) -> None:
    ran = overload({"packets": 1000, "time": limit})
    assert lost(ran) == {"queue_expired": station(ran, "t0")["queue"]["base"]["dropped"]["expired"]}
    assert lost(ran)["queue_expired"] > 20
    # The packet that is on the air when its time is over arrives.
    assert longest < max(waits(ran)) < longest + 2 * INTERVAL + 2 * arithmetic.FRAME


def test_each_party_and_class_has_room_of_its_own() -> None:
    burst = [START + 1e-4 * i for i in range(10)]
    frames = {
        "t0": [(1.0, udp(0, 77))],
        "t1": [(4.0, udp(1, 77))],
        "base": [
            (7.0, HELLO[0][1]),
            *packets(BASE, LENGTH, burst, to=0),
            *packets(BASE, LENGTH, burst, to=0, dscp=10),
            *packets(BASE, LENGTH, burst, to=1),
            *((at, ethernet(mac(BASE), BROADCAST, 0x88B5, bytes(LENGTH))) for at in burst),
        ],
    }
    ran = emulate("pmr", network(2, queue=3), frames, classes=CLASSES)
    assert [dscp for sender, dscp in senders_and_classes(ran, "t0") if sender == BASE] == [10] * 3 + [0] * 3
    assert len([sender for sender, _ in senders_and_classes(ran, "t1") if sender == BASE]) == 3
    full = {party: queue["dropped"]["full"] for party, queue in station(ran, "base")["queue"].items()}
    assert full == {"everyone": 7, "t0": 14, "t1": 7}
    assert station(ran, "t0")["queue"].keys() == {"everyone"}


@pytest.mark.parametrize(("discipline", "order"), [("priority", [10, 0, 0]), ("fifo", [0, 0, 10])])
def test_an_interrupted_packet_is_the_first_unless_priority_has_a_more_urgent_one(discipline: str, order: list[int]) -> None:
    frames = {
        "base": HELLO,
        "t0": [*packets(0, 1500, [START, START + 0.1]), *packets(0, LENGTH, [START + 1.5], dscp=10)],
        "t1": packets(1, 40, [START + 1.0], dscp=46),
    }
    parameters = network(2, slots=3, protection="high", emergency_class="emergency", queue=discipline)
    ran = emulate("pmr", parameters, frames, classes=CLASSES)
    assert len(ran.events("call_preempted")) == 1
    assert senders_and_classes(ran) == [(1, 46), *((0, dscp) for dscp in order)]
    numbers = [frame[19] for _, frame in ran.received["base"] if frame[12:14] == b"\x08\x00" and frame[15] == 0]
    assert numbers == [0, 1]
    assert lost(ran) == {}


def test_an_emergency_behind_others_in_a_fifo_pre_empts_for_them() -> None:
    frames = {
        "base": HELLO,
        "t0": packets(0, 1500, [START + 0.01 * i for i in range(3)]),
        "t1": [*packets(1, LENGTH, [START + 1.0]), *packets(1, LENGTH, [START + 1.1], dscp=46)],
    }
    parameters = network(2, slots=3, protection="high", emergency_class="emergency", queue="fifo")
    ran = emulate("pmr", parameters, frames, classes=CLASSES)
    assert [event["station"] for event in ran.events("call_preempted")] == ["t0"]
    assert senders_and_classes(ran) == [(1, 0), (1, 46), (0, 0), (0, 0), (0, 0)]


def test_another_queue_holds_at_once_for_what_waits() -> None:
    new = {"discipline": "fifo", "packets": 5, "bytes": None, "buffer": None, "time": 2.0}
    burst = packets(0, 1500, [START + 1e-4 * i for i in range(15)])
    parameters = network(protection="high")
    ran = emulate("pmr", parameters, {"t0": burst, "base": HELLO}, events=[(START + 0.2, "queue", new)], interval_s=1.0)
    # The first packet is on the air for more than 5 s. Samples begin with the first frame, at 1 s.
    samples = {1.0 + line["at_s"]: line["statistics"]["stations"]["t0"]["lost"] for line in ran.journal if "statistics" in line}
    assert samples[START + 1] == {"queue_full": 10}
    assert samples[START + 3] == {"queue_full": 10, "queue_expired": 4}
    assert len(ran.received["base"]) == 1


def test_a_queue_that_is_none_is_refused() -> None:
    with pytest.raises(EmulationFailed, match="queue cannot be"):
        emulate("pmr", network(), {"base": HELLO}, events=[(START, "queue", {"discipline": "lifo"})], duration_s=20.0)
