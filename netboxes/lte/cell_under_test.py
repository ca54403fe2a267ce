# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests and validation of LTE share: frames, and what became of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, ethernet, mac, udp

MEGABIT = 1e6  # bit/s
#: One UE and the gateway.
ONE: dict[str, Any] = {"stations": {"ue": {"role": "ue"}, "core": {"role": "gateway"}}}
HEADERS = 28  # IPv4 and UDP
CLASSES = [{"name": "voice", "match": {"dscp": [46]}}, {"name": "video", "match": {"dscp": [34]}}]
VOICE, VIDEO, REST = 0, 1, 2  # classes
EF, AF41 = 46, 34  # DiffServ code points

#: Bits of the transport blocks with I_TBS 26, the largest ones, by resource blocks (TS 36.213, Table 7.1.7.2.1-1).
LARGEST_BLOCK = {6: 4392, 14: 10296, 15: 11064, 24: 17568, 25: 18336, 48: 35160, 50: 36696, 72: 52752, 75: 55056, 100: 75376}
#: Resource blocks in whole groups (TS 36.213, Table 7.1.6.1-1), which is what ns-3's schedulers give in the downlink.
IN_GROUPS = {6: 6, 15: 14, 25: 24, 50: 48, 75: 72, 100: 100}


def hello(station: int) -> TimedFrame:
    """A broadcast from which the bridge learns where a station is."""
    return (0.8 + station * 0.002, ethernet(mac(station), BROADCAST, 0x88B5, b"hello"))


def flow(
    source: int, destination: int, length: int, load: float, seconds: float, dscp: int = 0, start: float = 1.0
) -> list[TimedFrame]:
    """Packets of `length` bytes at layer 3 at equal distances, `load` bit/s in all."""
    interval = length * 8 / load
    return [
        (start + i * interval, udp(source, destination, length - HEADERS, identification=i, dscp=dscp))
        for i in range(round(seconds / interval))
    ]


def goodput(emulation: Emulation, station: str, source: int, length: int, begin: float, end: float) -> float:
    """Bit/s at layer 3 of what `station` got from `source` in a time."""
    got = [1 for time, frame in emulation.received[station] if begin <= time < end and frame[6:12] == mac(source)]
    return len(got) * length * 8 / (end - begin)


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}


def delays(emulation: Emulation, source: int, traffic_class: int | None = None) -> NDArray[np.float64]:
    """Of the copies of a station's frames that arrived, after the first second, ms."""
    records = emulation.records
    chosen = records[(records["station_in"] == source) & (records["fate"] == 0) & (records["in_ns"] >= 1e9)]
    if traffic_class is not None:
        chosen = chosen[chosen["class"] == traffic_class]
    return np.asarray((chosen["out_ns"] - chosen["in_ns"]) / 1e6, dtype=np.float64)


def saturated(
    cell: dict[str, Any], uplink: bool, terminals: list[str], load: float, seconds: float
) -> dict[str, list[TimedFrame]]:
    """Flows of 1500 bytes between each of `terminals` and the gateway `core`, `load` bit/s each."""
    stations = list(cell["stations"])
    core = stations.index("core")
    frames = {name: [hello(number)] for number, name in enumerate(stations)}
    for number, name in enumerate(terminals):
        terminal = stations.index(name)
        ends = (terminal, core) if uplink else (core, terminal)
        frames[name if uplink else "core"] += flow(*ends, 1500, load, seconds, start=1.0 + number * 1e-4)
    return frames
