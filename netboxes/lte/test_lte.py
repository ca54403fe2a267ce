# SPDX-License-Identifier: GPL-2.0-or-later
"""The LTE segment in virtual time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, emulate, ethernet, mac, udp, vlan
from testbed import topology_file
from testbed.files import CHECKOUT

RESPONDER, CORE, CIVILIAN = 0, 1, 2
CELL: dict[str, Any] = {
    "stations": {"responder": {"role": "ue"}, "core": {"role": "gateway"}, "civilian": {"role": "ue"}},
    "distance": "300 m",
}
HEADERS = 28  # IPv4 and UDP


def hello(station: int) -> TimedFrame:
    """A broadcast from which the bridge learns where a station is."""
    return (0.9 + station * 0.001, ethernet(mac(station), BROADCAST, 0x88B5, b"hello"))


def flow(source: int, destination: int, length: int, load: float, seconds: float, dscp: int = 0) -> list[TimedFrame]:
    """Packets of `length` bytes at layer 3 at equal distances from 1 s on, `load` bit/s in all."""
    interval = length * 8 / load
    return [
        (1.0 + i * interval, udp(source, destination, length - HEADERS, identification=i, dscp=dscp))
        for i in range(round(seconds / interval))
    ]


def goodput(emulation: Emulation, station: str, source: int, length: int, begin: float, end: float) -> float:
    """Bit/s at layer 3 of what `station` got from `source` in a time."""
    got = [1 for time, frame in emulation.received[station] if begin <= time < end and frame[6:12] == mac(source)]
    return len(got) * length * 8 / (end - begin)


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}


def delays(emulation: Emulation, source: int) -> Any:
    """Of the copies of a station's frames that arrived, ms."""
    chosen = emulation.records[(emulation.records["station_in"] == source) & (emulation.records["fate"] == 0)]
    return (chosen["out_ns"] - chosen["in_ns"]) / 1e6


def test_frames_of_any_kind_pass_both_ways_unchanged() -> None:
    others = [
        vlan(udp(RESPONDER, CORE, 1472), 7),
        udp(RESPONDER, CORE, 1472),
        udp(RESPONDER, CORE, 1, version=6),
        ethernet(mac(RESPONDER), mac(CORE), 0x0806, bytes(28)),
        ethernet(mac(RESPONDER), b"\x01\0\x5e\0\0\1", 0x0800, bytes(60)),
        ethernet(mac(RESPONDER), mac(CORE), 0x88B5, b"x"),
    ]
    up = [(1.0 + i * 0.1, frame) for i, frame in enumerate(others)]
    down = [(time + 0.05, mac(RESPONDER) + mac(CORE) + frame[12:]) for time, frame in up]
    emulation = emulate("lte", CELL, {"responder": [hello(RESPONDER), *up], "core": [hello(CORE), *down]})
    assert [frame for time, frame in emulation.received["core"] if time > 1.0] == others
    assert [frame for time, frame in emulation.received["responder"] if time > 1.0] == [frame for _, frame in down]
    assert lost(emulation) == {}


def test_between_terminals_frames_go_through_the_core_and_broadcasts_reach_everybody() -> None:
    frames = {
        "responder": [
            hello(RESPONDER),
            (1.0, udp(RESPONDER, CIVILIAN, 500)),
            (1.2, ethernet(mac(0), BROADCAST, 0x0806, bytes(28))),
        ],
        "civilian": [hello(CIVILIAN)],
        "core": [(1.4, ethernet(mac(CORE), BROADCAST, 0x0806, bytes(28)))],
    }
    emulation = emulate("lte", CELL, frames)
    after = {name: sum(time > 1.0 for time, _ in received) for name, received in emulation.received.items()}
    assert after == {"responder": 1, "civilian": 3, "core": 1}
    # Up with a scheduling request, and down again.
    relayed = [time for time, frame in emulation.received["civilian"] if frame[12:14] == b"\x08\x00"]
    assert 0.010 < relayed[0] - 1.0 < 0.025


def test_an_idle_downlink_takes_four_subframes_and_an_uplink_asks_first() -> None:
    frames = {
        "responder": [hello(RESPONDER), *flow(RESPONDER, CORE, 500, 100e3, 2.0)],
        "core": [hello(CORE), *flow(CORE, RESPONDER, 500, 100e3, 2.0)],
    }
    emulation = emulate("lte", CELL, frames)
    assert np.median(delays(emulation, CORE)) == pytest.approx(4.0, abs=1.0)
    assert np.median(delays(emulation, RESPONDER)) == pytest.approx(13.0, abs=2.0)


@pytest.mark.parametrize(("resource_blocks", "down", "up"), [(6, 4392, 4392), (25, 17568, 18336), (100, 75376, 75376)])
def test_peak_rate_is_that_of_the_largest_transport_blocks(resource_blocks: int, down: int, up: int) -> None:
    """TS 36.213, Table 7.1.7.2.1-1, I_TBS 26; in the downlink ns-3 uses whole groups of blocks: 24 of 25."""
    cell = CELL | {"resource_blocks": resource_blocks, "distance": "50 m", "queue_size": "15 kB"}
    for source, destination, name, block in ((CORE, RESPONDER, "responder", down), (RESPONDER, CORE, "core", up)):
        frames = {
            "responder": [hello(RESPONDER)],
            "core": [hello(CORE)],
        }
        frames[["responder", "core"][source]] += flow(source, destination, 1500, block * 1e3 * 1.1, 0.6)
        emulation = emulate("lte", cell, frames)
        assert goodput(emulation, name, source, 1500, 1.2, 1.6) == pytest.approx(block * 1e3, rel=0.02)
        assert set(lost(emulation)) == {"queue_full"}


def test_the_same_seed_gives_the_same_run() -> None:
    frames = {"responder": [hello(RESPONDER), *flow(RESPONDER, CORE, 500, 1e6, 0.3)]}
    first, second = (emulate("lte", CELL | {"distance": "20 km"}, frames, seed=3) for _ in range(2))
    assert (first.records == second.records).all()


def test_the_example_is_sound() -> None:
    cell = topology_file.load(CHECKOUT / "topologies" / "lte.yaml").netboxes["cell"]
    assert cell.parameters.gross_rate() == 2 * 18336e3
