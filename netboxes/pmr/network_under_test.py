# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks and traffic that tests and validation measure."""

from __future__ import annotations

from typing import Any

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, emulate, ethernet, mac, udp

#: UDP and IPv4 headers.
HEADERS = 28
BASE = 99
#: Its call is over when the traffic begins, at 10 s: from it the bridge learns where the base is, and knows it for 300 s.
HELLO: list[TimedFrame] = [(1.0, ethernet(mac(BASE), BROADCAST, 0x88B5, b"hello"))]
START = 10.0


def network(terminals: int = 1, **parameters: Any) -> dict[str, Any]:
    """Parameters of terminals t0, t1, … around a base, without errors unless they say otherwise."""
    stations: dict[str, Any] = {f"t{i}": {} for i in range(terminals)} | {"base": {"role": "base"}}
    return {"stations": stations, "error_model": "none"} | parameters


def packets(terminal: int, length: int, times: list[float], to: int = BASE, dscp: int = 0) -> list[TimedFrame]:
    """Packets of `length` bytes at layer 3."""
    ports = (40000 + terminal % 1000, 5004)
    return [(at, udp(terminal, to, length - HEADERS, identification=i, ports=ports, dscp=dscp)) for i, at in enumerate(times)]


def one_packet(length: int, at: float = START, **parameters: Any) -> float:
    """Its delay from terminal to base, s."""
    frames = {"t0": packets(0, length, [at]), "base": HELLO}
    received = emulate("pmr", network(**parameters), frames).received["base"]
    return received[-1][0] - at


def stream(length: int, seconds: float, **parameters: Any) -> tuple[Emulation, float]:
    """A terminal that always has something to send, and its goodput, bit/s."""
    interval = length * 8 / 8000 / parameters.get("slots", 1)
    times = [START + i * interval for i in range(round(seconds / interval))]
    emulation = emulate("pmr", network(queue=3, **parameters), {"t0": packets(0, length, times), "base": HELLO})
    arrived = [at for at, _ in emulation.received["base"] if at < START + seconds]
    return emulation, (len(arrived) - 1) * length * 8 / (arrived[-1] - arrived[0])


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}


def station(emulation: Emulation, name: str) -> dict[str, Any]:
    counters: dict[str, Any] = emulation.statistics["segment"]["stations"][name]
    return counters
