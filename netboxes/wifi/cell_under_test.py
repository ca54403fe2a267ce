# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells and traffic that tests and validation measure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, emulate, ethernet, mac, udp
from netboxes.wifi.standard_arithmetic import BACKGROUND, BEST_EFFORT, VIDEO, VOICE

HEADERS = 28  # IPv4 and UDP
RESPONDER, COMMANDER, OTHER = 0, 1, 2
#: One that each access category has (RFC 8325, Sect. 4.3): CS1, default, AF41, EF.
DSCP = {BACKGROUND: 8, BEST_EFFORT: 0, VIDEO: 34, VOICE: 46}
CELL: dict[str, Any] = {
    "stations": {"responder": {"role": "station"}, "commander": {"role": "access-point"}},
    "standard": "802.11a",
    "distance": "80 m",
    "tx_power": "16 dBm",
}
THREE = CELL | {"stations": CELL["stations"] | {"other": {"role": "station"}}, "distance": "20 m"}
_ROLE = {"ad-hoc": "peer", "mesh": "mesh-point"}


def line(mode: str, count: int, distance: float, **changes: Any) -> dict[str, Any]:
    """Stations s0, s1, … on a line, `distance` m from one to the next."""
    stations = {f"s{index}": {"role": _ROLE[mode]} for index in range(count)}
    return {"mode": mode, "stations": stations, "distance": f"{distance} m", "standard": "802.11a"} | changes


def cluster(count: int, **changes: Any) -> dict[str, Any]:
    """Stations s0, s1, … at one place, 20 m from their access point `point`: of frames that collide none is the stronger one."""
    stations: dict[str, Any] = {f"s{index}": {"role": "station", "position": ["20 m", "0 m"]} for index in range(count)}
    stations["point"] = {"role": "access-point", "position": ["0 m", "0 m"]}
    return {"stations": stations, "standard": "802.11a"} | changes


def hello(station: int, at: float = 0.5) -> list[TimedFrame]:
    """A broadcast from which the bridge learns where a station is."""
    return [(at, ethernet(mac(station), BROADCAST, 0x88B5, b"hello"))]


def flow(
    source: int, destination: int, length: int, load: float, seconds: float, start: float = 1.0, dscp: int = 0
) -> list[TimedFrame]:
    """Packets of `length` bytes at layer 3 at equal distances, `load` bit/s in all."""
    interval = length * 8 / load
    return [
        (start + i * interval, udp(source, destination, length - HEADERS, identification=i, dscp=dscp))
        for i in range(round(seconds / interval))
    ]


def poisson(
    source: int, destination: int, length: int, per_second: float, seconds: float, dscp: int = 0, seed: int = 1
) -> list[TimedFrame]:
    """Packets that come independently of each other, from 1 s on."""
    chance = random.Random(f"{source} {seed}")
    packet = udp(source, destination, length - HEADERS, dscp=dscp)
    at, times = 1.0 + chance.expovariate(per_second), []
    while at < 1.0 + seconds:
        times.append((at, packet))
        at += chance.expovariate(per_second)
    return times


def broadcasts(count: int, interval: float) -> list[TimedFrame]:
    """Of station 0, from 1 s on."""
    return [(1.0 + i * interval, ethernet(mac(0), BROADCAST, 0x88B5, i.to_bytes(4, "big"))) for i in range(count)]


def towards_access_point(
    cell: dict[str, Any], length: int, load: float, seconds: float = 1.0, **options: Any
) -> tuple[Emulation, float]:
    """A flow from responder to commander, and its goodput in bit/s."""
    frames = {"responder": flow(RESPONDER, COMMANDER, length, load, seconds), "commander": hello(COMMANDER)}
    emulation = emulate("wifi", cell, frames, **options)
    received = [time for time, _ in emulation.received["commander"]]
    if len(received) < 2:
        return emulation, 0.0
    return emulation, (len(received) - 1) * length * 8 / (received[-1] - received[0])


def saturated(
    cell: dict[str, Any], length: int, capacity: float, seconds: float, dscp: Sequence[int] = (0,), **options: Any
) -> list[float]:
    """Goodput in bit/s of each station s0, s1, … of a cluster that always has packets for the access point.

    capacity: bit/s that all together carry at most. dscp: of each station's packets, in turn.
    """
    senders = [name for name in cell["stations"] if name != "point"]
    point = len(senders)
    frames: dict[str, list[TimedFrame]] = {"point": hello(point)}
    for number, name in enumerate(senders):
        mark = dscp[number % len(dscp)]
        # Some at once, so that nobody's queue runs empty when luck is his; then somewhat more than his share.
        interval = length * 8 * len(senders) / (1.3 * capacity)
        start = 1.0 + number * 1e-4
        packet = udp(number, point, length - HEADERS, dscp=mark)
        frames[name] = [(start, packet)] * 50
        frames[name] += [(start + i * interval, packet) for i in range(1, round((seconds + 0.5) / interval))]
    emulation = emulate("wifi", cell, frames, duration_s=1.5 + seconds, **options)
    records = emulation.records[emulation.records["fate"] == 0]
    within = records[(records["out_ns"] > 1.5e9) & (records["in_ns"] >= 1e9)]
    order = list(cell["stations"])
    return [int((within["station_in"] == order.index(name)).sum()) * length * 8 / seconds for name in senders]


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}
