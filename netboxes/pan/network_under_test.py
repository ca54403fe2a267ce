# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks and traffic that tests and validation measure."""

from __future__ import annotations

from typing import Any

from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, emulate, ethernet, mac, udp

#: UDP and IPv4 headers.
HEADERS = 28
HUB = 99
#: From which the bridge learns where the hub is, before the traffic of 1 s on.
HELLO: list[TimedFrame] = [(0.5, ethernet(mac(HUB), BROADCAST, 0x88B5, b"hello"))]


def star(sensors: int, **parameters: Any) -> dict[str, Any]:
    """Parameters of a star with sensors s0, s1, … around a hub."""
    stations: dict[str, Any] = {f"s{i}": {} for i in range(sensors)} | {"hub": {"role": "coordinator"}}
    return {"stations": stations, "distance": "5 m"} | parameters


def packets(sensor: int, length: int, interval_s: float, count: int, start_s: float = 1.0) -> list[TimedFrame]:
    """Packets of `length` bytes at layer 3 to the hub, at equal distances."""
    return [
        (start_s + i * interval_s, udp(sensor, HUB, length - HEADERS, identification=i, ports=(40000 + sensor, 5004)))
        for i in range(count)
    ]


def saturated(sensors: int, length: int, seconds: float, **parameters: Any) -> tuple[Emulation, float]:
    """Sensors that always have a packet to send, and how many packets a second the hub gets."""
    # More than the 250 kbit/s of the channel for each; they do not begin at the same instant.
    interval = length * 8 / 260e3
    frames = {f"s{i}": packets(i, length, interval, round((seconds + 1) / interval), 1.0 + i * 0.7e-3) for i in range(sensors)}
    cell = star(sensors, queue=2, **parameters)
    emulation = emulate("pan", cell, frames | {"hub": HELLO}, duration_s=2.0 + seconds)
    arrived = [at for at, _ in emulation.received["hub"] if 2.0 < at <= 2.0 + seconds]
    return emulation, len(arrived) / seconds


def paced(length: int, interval_s: float, count: int, **parameters: Any) -> Emulation:
    """One sensor whose packets never meet each other."""
    return emulate("pan", star(1, **parameters), {"s0": packets(0, length, interval_s, count), "hub": HELLO})


def at_snr(decibels: float) -> dict[str, str]:
    """Parameters that give a star of 5 m this signal-to-noise ratio, nearly; the statistics tell it exactly."""
    noise, free_space, gain = -95.41, 54.05, -15.0
    return {"tx_power": f"{noise + decibels + free_space - 2 * gain} dBm", "antenna_gain": f"{gain} dB"}


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}


def station(emulation: Emulation, name: str) -> dict[str, Any]:
    counters: dict[str, Any] = emulation.statistics["segment"]["stations"][name]
    return counters
