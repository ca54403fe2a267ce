# SPDX-License-Identifier: GPL-2.0-or-later
"""Local area networks and traffic that tests and validation measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, emulate, ethernet, mac, udp
from results.records import Fate

PREAMBLE, HEADER, CHECK_SEQUENCE, GAP = 8, 14, 4, 12
#: UDP and IPv4 headers.
HEADERS = 28
#: Frames enter from here on; before, stations say hello, so that the bridge knows where they are.
START_S = 1.0


def on_wire(length: int, gap: bool = True) -> int:
    """Bits that a frame with so many bytes of layer 3 takes, with preamble and, if asked for, the gap after it."""
    return 8 * (PREAMBLE + max(HEADER + length + CHECK_SEQUENCE, 64) + (GAP if gap else 0))


def lan(medium: str, stations: int, **parameters: Any) -> dict[str, Any]:
    """Parameters of a LAN with the stations s0, s1, …"""
    return {"medium": medium, "stations": {f"s{i}": {} for i in range(stations)}, **parameters}


def packets(source: int, to: int, length: int | Sequence[int], times: Sequence[float]) -> list[TimedFrame]:
    """Packets of `length` bytes at layer 3, at so many seconds after the start."""
    lengths = [length] * len(times) if isinstance(length, int) else length
    return [
        (START_S + at, udp(source, to, bytes_ - HEADERS, identification=k, ports=(40000 + source, 5004)))
        for k, (at, bytes_) in enumerate(zip(times, lengths, strict=True))
    ]


def measure(
    network: dict[str, Any], traffic: Mapping[int, Sequence[TimedFrame]], duration_s: float | None = None, **options: Any
) -> Emulation:
    """All stations are known to the bridge."""
    frames = {
        name: [(0.1 + 0.01 * i, ethernet(mac(i), BROADCAST, 0x88B5, b"hello")), *traffic.get(i, [])]
        for i, name in enumerate(network["stations"])
    }
    return emulate("ethernet", network, frames, duration_s=None if duration_s is None else START_S + duration_s, **options)


def delivered(emulation: Emulation) -> NDArray[np.void]:
    """Records of what entered after the hellos and arrived."""
    records = emulation.records
    arrived: NDArray[np.void] = records[(records["fate"] == Fate.DELIVERED) & (records["in_ns"] >= START_S * 1e9)]
    return arrived


def delays_s(emulation: Emulation) -> NDArray[np.float64]:
    arrived = delivered(emulation)
    return np.asarray((arrived["out_ns"] - arrived["in_ns"]) / 1e9, float)


def saturated(stations: int, length: int | tuple[int, int], seconds: float, rate: float = 100e6, **parameters: Any) -> Emulation:
    """A shared medium whose stations always have a frame for one more; lengths equal, or random in a range."""
    chance = np.random.default_rng(stations)
    least = length if isinstance(length, int) else length[0]
    count = int(seconds * rate / on_wire(least) * 1.1)
    traffic = {}
    for i in range(stations):
        lengths = length if isinstance(length, int) else [int(size) for size in chance.integers(*length, count)]
        # More than the medium carries, for each; they do not begin at the same instant.
        times = [i * 1.7e-5 + k * on_wire(least) / rate / 1.1 for k in range(count)]
        traffic[i] = packets(i, stations, lengths, times)
    network = lan("shared", stations + 1, rate=f"{rate} bit/s", queue=5, **parameters)
    return measure(network, traffic, seconds)
