# SPDX-License-Identifier: GPL-2.0-or-later
"""Links and traffic that tests and validation share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, ethernet, mac, udp

DELAY = 0.254
RETURN_RATE, BURST = 2e6, 188  # waveform 14
FORWARD_RATE, BBFRAME_BITS, BBFRAME_PAYLOAD = 10e6, 11712, (11712 - 80) // 8  # short FECFRAME, 3/4
RETURN_SLOT, FORWARD_SLOT = BURST * 8 / RETURN_RATE, BBFRAME_BITS / FORWARD_RATE
HEADERS = 28  # IPv4 and UDP
LINK: dict[str, Any] = {
    "stations": {"meoc": {"role": "terminal"}, "hub": {"role": "gateway"}},
    "delay": "254 ms",
    "return_rate": "2 Mbit/s",
    "forward_rate": "10 Mbit/s",
}
MEOC, HUB, OTHER = 0, 1, 2
THREE = LINK | {"stations": LINK["stations"] | {"other": {"role": "terminal"}}}


def flow(
    source: int, destination: int, length: int, interval: float, count: int, start: float = 1.0, dscp: int = 0
) -> list[TimedFrame]:
    """`count` packets of `length` bytes at layer 3."""
    return [(start + i * interval, udp(source, destination, length - HEADERS, identification=i, dscp=dscp)) for i in range(count)]


def hello(*stations: int) -> list[TimedFrame]:
    """Broadcasts from which a bridge learns where stations are."""
    return [(0.1, ethernet(mac(station), BROADCAST, 0x88B5, b"hello")) for station in stations]


def delays(emulation: Emulation, station: int) -> NDArray[np.float64]:
    arrived = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["station_out"] == station)]
    return np.asarray((arrived["out_ns"] - arrived["in_ns"]) / 1e9, np.float64)


def goodput(received: list[TimedFrame], length: int) -> float:
    """Bits a second at layer 3 between the first and the last arrival."""
    return (len(received) - 1) * length * 8 / (received[-1][0] - received[0][0])


def in_codewords(length: int, whole: int, cut: int, edges: int, continuation: int, payload: int) -> float:
    """Bytes of codewords that a packet takes when they are full: whole with a cut at each codeword's end, or all cut."""
    if length + whole <= payload:
        return (length + whole) / (1 - edges / payload)
    return (length + cut) / (1 - continuation / payload)


def in_bursts(length: int, payload: int) -> float:
    """By RLE (ETSI TS 103 179): whole 3 bytes, cut 6, 5 for the fragments at a burst's ends, 2 a burst entered."""
    return in_codewords(length, 3, 6, 5, 2, payload)


def in_bbframes(length: int, payload: int) -> float:
    """By GSE (ETSI TS 102 606-1): whole 7 bytes, cut 14, 10 for the fragments at a BBFRAME's ends, 3 a BBFRAME entered."""
    return in_codewords(length, 7, 14, 10, 3, payload)


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}


#: Two terminals that share a return channel of one carrier, in superframes of 66 slots.
SHARED: dict[str, Any] = {
    "stations": {"meoc": {"role": "terminal"}, "hub": {"role": "gateway"}, "other": {"role": "terminal"}},
    "delay": "254 ms",
    "return_rate": "2 Mbit/s",
    "forward_rate": "10 Mbit/s",
    "return_channel": "shared",
    "superframe": "50 ms",
}
SLOTS = 66
SUPERFRAME = SLOTS * RETURN_SLOT
#: A control burst of 536 symbols takes a third of a slot of 1616, and plans are made this long before they leave the hub.
CONTROL_BURST, PLAN_LEAD = RETURN_SLOT / 3, 0.02


def shared_by(terminals: int, **changes: Any) -> dict[str, Any]:
    """A shared channel of so many terminals t0, t1, …, whose stations come first, and a hub."""
    stations = {f"t{i}": {"role": "terminal"} for i in range(terminals)} | {"hub": {"role": "gateway"}}
    return SHARED | {"stations": stations} | changes


def request_loop(place: int = 0) -> tuple[float, float]:
    """Shortest and longest time (s) from a packet's arrival to the start of the superframe in which a request for it is served.

    A terminal asks in its control burst, `place` bursts after a superframe's start. What arrives at the hub before the plan of
    superframe k + m is made is in it: that plan leaves plan_lead later and has the same way back.
    """
    burst_start = place * CONTROL_BURST
    superframes = math.ceil((burst_start + CONTROL_BURST + 2 * DELAY + PLAN_LEAD) / SUPERFRAME)
    after = superframes * SUPERFRAME - burst_start
    return after, after + SUPERFRAME
