# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues in front of the transmitters: the MAC's own, and those above it, each discipline by what it is known for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import Change, Emulation, EmulationFailed, emulate, fragments, udp
from netboxes.wifi.cell_under_test import CELL, flow, hello, line, lost
from netboxes.wifi.parameters import Parameters

SPARSE = {"name": "sparse", "match": {"ports": [[6666, 6666]]}}
SLOW: dict[str, Any] = CELL | {"rate_control": "constant", "rate": "6 Mbit/s", "distance": "30 m"}
#: With a discipline the MAC shall add little to what waits.
ABOVE = SLOW | {"device_queue": 4, "msdu_lifetime": "5 s"}


def crowded(cell: dict[str, Any], events: Sequence[Change] = ()) -> Emulation:
    """A sparse flow beside one that offers 7 Mbit/s to a channel of 6 Mbit/s gross, from 1 s to 5 s."""
    sparse = [(1.005 + 0.02 * i, udp(0, 1, 100, identification=i, ports=(5555, 6666))) for i in range(200)]
    frames = {"responder": flow(0, 1, 1500, 7e6, 4.0) + sparse, "commander": hello(1)}
    emulation = emulate("wifi", cell, frames, classes=[SPARSE], events=events, duration_s=8.0)
    assert emulation.statistics["frames"]["inside"] == 0
    return emulation


def delays(emulation: Emulation, since: float = 0.0) -> tuple[float, float]:
    """Medians, in ms, of the sparse flow and of the other, of frames that came in later than at a time in seconds."""
    records = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["in_ns"] > since * 1e9)]
    waited = (records["out_ns"] - records["in_ns"]) / 1e6
    bulk = (records["class"] != 0) & (records["length"] > 1000)
    return float(np.median(waited[records["class"] == 0])), float(np.median(waited[bulk]))


def burst(queue: Any, count: int = 40, **changes: Any) -> tuple[Emulation, int]:
    """So many packets of 1500 bytes at once, and how many of them arrive."""
    sent = [(1.0, udp(0, 1, 1472, identification=number)) for number in range(count)]
    emulation = emulate("wifi", SLOW | {"queue": queue} | changes, {"responder": sent, "commander": hello(1)})
    return emulation, len(emulation.received["commander"])


def told(emulation: Emulation) -> dict[str, Any]:
    """The statistics of the station that sends."""
    statistics: dict[str, Any] = emulation.statistics["segment"]["stations"]["responder"]
    return statistics


@pytest.mark.parametrize("qos", [False, True])
def test_fair_queueing_lets_a_sparse_flow_pass(qos: bool) -> None:
    emulation = crowded(ABOVE | {"queue": "fq-codel", "qos": qos})
    sparse, bulk = delays(emulation)
    assert sparse < 15.0 and bulk > 5 * sparse and set(lost(emulation)) == {"queue_early"}
    queue = (told(emulation)["access_categories"]["best_effort"] if qos else told(emulation))["queue"]
    assert queue["dropped"] == {"full": 0, "early": lost(emulation)["queue_early"], "expired": 0}


def test_codel_pie_and_red_keep_the_queue_short() -> None:
    fifo = crowded(SLOW | {"msdu_lifetime": "5 s"})
    assert set(lost(fifo)) <= {"queue_full"}
    for discipline, share in {"codel": 0.6, "pie": 0.1, "red": 0.1}.items():
        emulation = crowded(ABOVE | {"queue": discipline})
        assert delays(emulation)[1] < share * delays(fifo)[1]
        assert set(lost(emulation)) == {"queue_early"}
        assert told(emulation)["queue"]["dropped"]["early"] == lost(emulation)["queue_early"]


def test_priority_sends_the_first_class_first() -> None:
    emulation = crowded(ABOVE | {"queue": {"discipline": "priority", "packets": 50}})
    sparse, bulk = delays(emulation)
    assert sparse < 15.0 < bulk and set(lost(emulation)) == {"queue_full"}


def test_a_fifo_limited_in_packets_is_the_queue_of_the_mac() -> None:
    emulation, arrived = burst(10)
    assert arrived == 10 and lost(emulation) == {"queue_full": 30}
    queue = told(emulation)["queue"]
    assert (queue["packets"], queue["bytes"], queue["dropped"]) == (0, 0, {"full": 30, "early": 0, "expired": 0})
    # Nine frames are sent before the last one, with 1536 bytes each at 6 Mbit/s.
    assert queue["delay_s"] == pytest.approx(9 * 2.2e-3, rel=0.1)
    assert sum(queue["length_s"][1:]) == pytest.approx(10 * 2.2e-3, rel=0.1)
    assert "mac_queued" not in told(emulation)


def test_a_packet_that_the_mac_has_for_too_long_is_lost() -> None:
    emulation, arrived = burst(500, msdu_lifetime="20 ms")
    assert 8 <= arrived <= 11 and lost(emulation) == {"queue_expired": 40 - arrived}
    assert told(emulation)["queue"]["dropped"]["expired"] == 40 - arrived


@pytest.mark.parametrize(
    ("queue", "arrive", "reason"),
    [
        ({"discipline": "codel", "packets": 10}, 14, "queue_full"),
        ({"bytes": "15.1 kB"}, 14, "queue_full"),  # ten MSDUs of 1508 bytes
        ({"buffer": "20.2 ms"}, 14, "queue_full"),  # at 6 Mbit/s the same, before and after the first has been sent
        ({"packets": 10, "bytes": "30.2 kB"}, 14, "queue_full"),
        ({"packets": 50, "time": "20 ms"}, 14, "queue_expired"),  # nine are acknowledged in 20 ms, and each lets one go on
    ],
)
def test_a_queue_above_the_mac_is_as_long_as_it_is_said(queue: Any, arrive: int, reason: str) -> None:
    emulation, arrived = burst(queue, device_queue=4)
    assert lost(emulation) == {reason: 40 - arrived}
    assert abs(arrived - arrive) <= (1 if reason == "queue_expired" else 0)
    assert told(emulation)["queue"]["dropped"][reason.removeprefix("queue_")] == 40 - arrived
    assert told(emulation)["mac_queued"] == 0


def test_each_access_category_has_a_queue() -> None:
    sent = [(1.0, udp(0, 1, 1472, dscp=dscp)) for dscp in (0, 46) for _ in range(40)]
    cell = SLOW | {"qos": True, "queue": {"discipline": "red", "packets": 10}, "device_queue": 4}
    emulation = emulate("wifi", cell, {"responder": sent, "commander": hello(1)})
    categories = told(emulation)["access_categories"]
    assert [categories[name]["queue"]["dropped"]["full"] for name in ("best_effort", "voice", "video")] == [26, 26, 0]
    assert categories["voice"]["lost"] == {"queue_full": 26} and "queue" not in told(emulation)


def live(queue: Any) -> Any:
    """As a netbox is told it."""
    return Parameters.model_validate(CELL | {"queue": queue}).model_dump(mode="json")["queue"]


def test_a_running_queue_changes_its_discipline() -> None:
    emulation = crowded(ABOVE | {"queue": "codel"}, [(1.5, "queue", live("fq-codel"))])
    assert delays(emulation, since=1.6)[0] < 15.0


def test_a_running_queue_goes_above_the_mac() -> None:
    """What the MAC has at that time it sends first."""
    cell = SLOW | {"msdu_lifetime": "5 s"}
    emulation = crowded(cell, [(2.0, "queue", live("pie"))])
    assert delays(emulation, since=3.5)[1] < 150.0 and delays(crowded(cell), since=3.5)[1] > 700.0
    assert told(emulation)["queue"]["dropped"]["early"] == lost(emulation)["queue_early"]


def test_a_running_queue_goes_back_to_the_mac() -> None:
    emulation = crowded(ABOVE | {"queue": {"time": "5 s", "packets": 500}}, [(3.0, "queue", live(20))])
    assert delays(emulation, since=3.5)[1] < 50.0 and set(lost(emulation)) == {"queue_full"}
    assert "mac_queued" not in told(emulation)


def test_a_running_queue_of_the_mac_becomes_shorter_and_longer() -> None:
    cell = SLOW | {"msdu_lifetime": "5 s"}
    emulation = crowded(cell, [(2.0, "queue", live(20))])
    assert delays(emulation, since=3.0)[1] < 50.0
    emulation = crowded(cell, [(2.0, "queue", live(20)), (3.0, "queue", live(100))])
    assert 150.0 < delays(emulation, since=4.0)[1] < 250.0


def test_a_mesh_refuses_a_running_queue_above_the_mac() -> None:
    with pytest.raises(ValueError, match="in a mesh `queue` is a fifo"):
        Parameters.check_live({"mode": "mesh"}, "queue", live("codel"))
    with pytest.raises(EmulationFailed, match="in a mesh"):
        emulate("wifi", line("mesh", 2, 20), {"s0": hello(0)}, events=[(1.0, "queue", live("codel"))], duration_s=2.0)


def test_fair_queueing_keeps_the_fragments_of_a_packet_in_order() -> None:
    """Later ones have no ports to be told apart by."""
    cell = SLOW | {"queue": "fq-codel", "device_queue": 4}
    sent = [piece for number in range(40) for piece in fragments(udp(0, 1, 800, identification=number), 400)]
    emulation = emulate("wifi", cell, {"responder": [(1.0, piece) for piece in sent], "commander": hello(1)})
    received = [frame for _, frame in emulation.received["commander"]]
    assert received == [piece for piece in sent if piece in received] and len(received) > 40
