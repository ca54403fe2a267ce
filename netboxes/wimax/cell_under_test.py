# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of this folder share: a cell, streams of frames, and the reading of what came out."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML

from contracts.installation import CHECKOUT
from contracts.nature import SPEED_OF_LIGHT
from netboxes.engine.virtual import Emulation, TimedFrame, emulate, udp

CLASSES = [{"name": "voice", "match": {"dscp": [46]}}, {"name": "video", "match": {"dscp": [34]}}]
VOICE, VIDEO, DATA = 46, 34, 0
CLASS_OF = {VOICE: 0, VIDEO: 1, DATA: 2}

#: Bytes that lie below IP in an SDU.
ETHERNET = 14
#: Generic MAC header and CRC.
PDU = 10

PROFILES = ("BPSK 1/2", "QPSK 1/2", "QPSK 3/4", "16-QAM 1/2", "16-QAM 3/4", "64-QAM 2/3", "64-QAM 3/4")
BYTES_PER_SYMBOL = (12, 24, 36, 48, 72, 96, 108)
THRESHOLDS_2004_DB = (6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4)


def cell(subscribers: int = 1, **changes: Any) -> dict[str, Any]:
    """The cell of the emergency network, with one or more subscribers `ss1`, `ss2`… and the base `bs`, which is station 0."""
    stations: dict[str, Any] = {"bs": {"role": "base"}}
    stations |= {f"ss{number}": {"role": "subscriber"} for number in range(1, subscribers + 1)}
    return {"stations": stations, "distance": "2.5 km", "tx_power": "30 dBm", "frequency": "5 GHz", "frame": "10 ms"} | changes


def thesis_cell(**changes: Any) -> dict[str, Any]:
    """The cell of topologies/wimax-thesis.yaml, with its stations named as above."""
    netbox = YAML(typ="safe").load(CHECKOUT / "topologies" / "wimax-thesis.yaml")["netboxes"]["longhaul"]
    parameters = {key: value for key, value in netbox.items() if key not in ("technology", "classes", "stations")}
    return cell() | parameters | changes


def snr_db(distance_m: float, noise_figure_db: float = 5.0) -> float:
    """Friis at 5 GHz, 30 dBm, isotropic antennas; thermal noise in the 9 MHz that 200 of 256 carriers take of 11.52 MHz."""
    loss = 20.0 * math.log10(4.0 * math.pi * distance_m * 5e9 / SPEED_OF_LIGHT)
    return 30.0 - loss - (-174.0 + 10.0 * math.log10(9e6) + noise_figure_db)


def distance_for(wanted_db: float) -> str:
    """The distance at which the SNR is `wanted_db`."""
    return f"{2500.0 * 10.0 ** ((snr_db(2500.0) - wanted_db) / 20.0):.6f} m"


def stream(
    source: int,
    destination: int,
    *,
    ip_bytes: int,
    rate_bps: float,
    seconds: float,
    start: float = 0.1,
    dscp: int = DATA,
    port: int = 5000,
) -> list[TimedFrame]:
    """A flow of constant rate at the IP layer, each packet late by up to half a period to meet all phases of the frame."""
    period = 8.0 * ip_bytes / rate_bps
    shift = random.Random(f"{source}-{destination}-{port}")
    return [
        (
            start + (index + 0.5 * shift.random()) * period,
            udp(source, destination, ip_bytes - 28, dscp=dscp, ports=(port, port), identification=index),
        )
        for index in range(int(seconds / period))
    ]


def hello(*stations: int) -> dict[str, list[TimedFrame]]:
    """A first frame of each station (0: the base station), from which the bridge learns where it is."""
    names = {station: f"ss{station}" if station else "bs" for station in stations}
    return {name: [(0.0, udp(station, 999, 0))] for station, name in names.items()}


def joined(*parts: dict[str, list[TimedFrame]]) -> dict[str, list[TimedFrame]]:
    stations = {station for part in parts for station in part}
    return {station: [frame for part in parts for frame in part.get(station, [])] for station in sorted(stations)}


def run(parameters: dict[str, Any], frames: dict[str, list[TimedFrame]], **options: Any) -> Emulation:
    return emulate("wimax", parameters, frames, classes=CLASSES, **options)


def arrived(result: Emulation, source: int, destination: int, dscp: int | None = None) -> NDArray[np.void]:
    """The records of what `source` sent and `destination` got."""
    records = result.records
    chosen = (records["fate"] == 0) & (records["station_in"] == source) & (records["station_out"] == destination)
    if dscp is not None:
        chosen &= records["class"] == CLASS_OF[dscp]
    chosen_records: NDArray[np.void] = records[chosen]
    return chosen_records


def delays_ms(records: NDArray[np.void]) -> NDArray[np.float64]:
    delays: NDArray[np.float64] = (records["out_ns"] - records["in_ns"]).astype(np.float64) / 1e6
    return delays


def goodput_bps(records: NDArray[np.void], start: float, end: float) -> float:
    """Bits of IP a second that came out between two times."""
    inside = (records["out_ns"] >= start * 1e9) & (records["out_ns"] < end * 1e9)
    return float(8.0 * (records["length"][inside].astype(np.int64) - ETHERNET).sum() / (end - start))


def lost(result: Emulation, reason: str) -> int:
    return int(result.statistics["frames"]["lost"][reason])


def link(result: Emulation, station: str = "ss1") -> dict[str, Any]:
    counters: dict[str, Any] = result.statistics["segment"]["links"][station]
    return counters
