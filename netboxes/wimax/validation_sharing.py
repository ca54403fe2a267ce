# SPDX-License-Identifier: GPL-2.0-or-later
"""How stations and classes share the cell: contention for requests, and the base station's schedulers."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from netboxes.engine.virtual import emulate, udp
from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wimax.arithmetic import CRC, ETHERNET, FRAGMENT, HEADER, PROFILES, TAIL, Frame, collisions
from netboxes.wimax.cell_under_test import (
    VIDEO,
    arrived,
    cell,
    delays_ms,
    goodput_bps,
    hello,
    joined,
    run,
    stream,
)

SIGMAS = 4.0
#: Until all who collided have been heard, and how often that is tried.
APART_S, TIMES = 2.0, 400
REQUEST_TIMEOUT_MS = 50.0
IP_BYTES = 1000


def chapters() -> Iterator[Chapter]:
    yield _contention()
    yield _classes()
    yield _schedulers()
    yield _weights()


def _asking_together(stations: int, seed: int, **changes: Any) -> tuple[float, float, float, float]:
    """Stations that each have one packet at the same instant.

    Returns the share that is granted without a repeated request, the mean number of repeats, and the standard errors of both.
    """
    frames = {
        f"ss{number}": [(1.0 + APART_S * index, udp(number, 0, 172, identification=index)) for index in range(TIMES)]
        for number in range(1, stations + 1)
    }
    result = run(cell(subscribers=stations, **changes), joined(hello(0), frames), seed=seed)
    delays = np.array([delays_ms(arrived(result, number, 0)) for number in range(1, stations + 1)])
    if delays.shape != (stations, TIMES):
        raise AssertionError(f"{stations} stations sent {TIMES} packets each, {delays.shape} arrived")
    # A station without a grant asks again when T16 is over.
    repeats = np.floor(delays / REQUEST_TIMEOUT_MS)
    first = (repeats == 0).mean(axis=0)
    mean_repeats = repeats.mean(axis=0)
    return first.mean(), mean_repeats.mean(), first.std() / sqrt(TIMES), mean_repeats.std() / sqrt(TIMES)


def _contention() -> Chapter:
    figures, curves = [], []
    numbers = (2, 3, 5, 8, 12)
    for window in (4, 8, 16):
        exponent = window.bit_length() - 1
        points = []
        for number in numbers:
            if number > 2 * window:
                continue
            changes = {"request_opportunities": window, "backoff_start": exponent, "backoff_end": exponent}
            share, repeats, share_error, repeats_error = _asking_together(number, 100 * window + number, **changes)
            expected = collisions(number, window)
            points.append((number, share))
            what = f"{number} stations, {window} opportunities"
            figures.append(Figure(f"{what}: alone at once", "", expected[0], share, absolute=SIGMAS * share_error))
            figures.append(Figure(f"{what}: repeats of a request", "", expected[1], repeats, absolute=SIGMAS * repeats_error))
        axis = [number for number in range(1, 13) if number <= 2 * window]
        curves.append(Curve(f"{window} opportunities", axis, [(1 - 1 / window) ** (n - 1) for n in axis], False))
        curves.append(Curve(f"{window} opportunities", [n for n, _ in points], [share for _, share in points], True))
    _, repeats, _, error = _asking_together(2, 1)
    again, meets = 0.0, 1.0
    for window in (4, 8, 16, 32, 64, 64):
        meets /= window
        again += meets
    figures.append(Figure("2 stations, windows from 4 to 64: repeats", "", again, repeats, absolute=SIGMAS * error))
    text = f"""
Stations that all get a packet at the same instant, {TIMES} times. Where the window is as long as the frame's contention region
(W opportunities), all draw in the same frame: one is alone with probability (1 - 1/W)^(n-1). Those who collided hear nothing,
find that out when T16 ({REQUEST_TIMEOUT_MS:g} ms) is over, and draw again together: the mean number of repeats of a station
follows from a Markov chain over how many are left, with the probabilities of k lone draws among n by inclusion and exclusion
(`arithmetic.collisions`). Last, the default back-off: two stations whose windows double from 4 to 64 opportunities after each
collision meet again with 1/4, 1/8, 1/16... Tolerance {SIGMAS:g} standard errors of the {TIMES} times."""
    plot = Plot("wimax-contention", "Requests alone in their opportunity", "stations that ask at once", "share", curves)
    return Chapter("802.16: contention for requests", text, figures, [plot])


SERVICES = ("UGS", "ertPS", "rtPS", "nrtPS", "BE")
CODE_POINTS = (46, 40, 34, 26, 0)


def _room(profile: int, bursts: int) -> float:
    """Bytes a frame of the downlink, with the maps of so many bursts."""
    frame = Frame()
    overheads = [frame.downlink_overhead(number, bursts=bursts) for number in range(frame.ranging_every)]
    return (frame.downlink - sum(overheads) / len(overheads)) * PROFILES[profile].symbol_bytes


def _payload_rate(room: float, cuts: int) -> float:
    """Mbit/s of IP in so much room a frame, with so many SDUs cut in two."""
    whole = room - TAIL - cuts * (HEADER + CRC + 2 * FRAGMENT)
    return whole / (IP_BYTES + ETHERNET + HEADER + CRC) * IP_BYTES * 8 / Frame().duration / 1e6


def _classes() -> Chapter:
    figures = []
    points: dict[str, list[tuple[float, float]]] = {service: [] for service in SERVICES}
    full = _payload_rate(_room(2, 1), cuts=1)
    classes = [{"name": name.lower(), "match": {"dscp": [code]}} for name, code in zip(SERVICES, CODE_POINTS, strict=True)]
    for offered in (0.5, 0.9, 1.2, 1.6, 2.5):
        flows: list[dict[str, Any]] = []
        for service in SERVICES:
            flow: dict[str, Any] = {"class": service.lower(), "direction": "downlink", "scheduling": service}
            if service in ("UGS", "ertPS"):
                flow["reserved_rate"] = f"{1.05 * offered} Mbit/s"
            flows.append(flow)
        sent = [
            frame
            for code in CODE_POINTS
            for frame in stream(0, 1, ip_bytes=IP_BYTES, rate_bps=offered * 1e6, seconds=5.0, dscp=code, port=5000 + code)
        ]
        result = emulate("wimax", cell(service_flows=flows), {"bs": sorted(sent)}, classes=classes)
        left = full
        for number, service in enumerate(SERVICES):
            records = arrived(result, 0, 1)
            carried = goodput_bps(records[records["class"] == number], 1.0, 5.0) / 1e6
            expected = min(offered, left)
            left -= expected
            points[service].append((offered, carried))
            figures.append(Figure(f"{offered} Mbit/s each: {service}", "Mbit/s", expected, carried, absolute=0.01 * full))
    axis = [at / 100 for at in range(30, 271)]
    curves = []
    for number, service in enumerate(SERVICES):
        due = [min(offered, max(0.0, full - number * offered)) for offered in axis]
        curves.append(Curve(service, axis, due, False))
        curves.append(Curve(service, [x for x, _ in points[service]], [y for _, y in points[service]], True))
    text = f"""
Five classes, one a scheduling service, each with the same load in the downlink at QPSK 3/4; scheduler `strict`. The cell
carries {full:.2f} Mbit/s of packets of {IP_BYTES} bytes: each class takes all that it has, as long as there is some left, in
the order UGS, ertPS, rtPS, nrtPS, BE. Tolerance 1 % of the cell: some packets lie in two bursts, in which each has a header."""
    plot = Plot("wimax-classes", "Strict order of classes, downlink", "offered by each class, Mbit/s", "carried, Mbit/s", curves)
    return Chapter("802.16: strict order of classes", text, figures, [plot])


def _near_and_far(scheduler: str, weight: float = 1.0) -> tuple[float, float]:
    """Mbit/s of a station with 64-QAM 3/4 and one with QPSK 3/4, both of which always want more, downlink."""
    flow = {"class": "video", "direction": "downlink", "scheduling": "BE", "station": "ss1", "weight": weight}
    parameters = cell(subscribers=2, scheduler=scheduler, service_flows=[flow])
    parameters["stations"]["ss1"]["distance"] = "300 m"
    rates = {1: 16e6, 2: 8e6}
    sent = [
        frame
        for station, rate in rates.items()
        for frame in stream(0, station, ip_bytes=IP_BYTES, rate_bps=rate, seconds=5.0, start=1.0, dscp=VIDEO, port=station)
    ]
    result = run(parameters, joined(hello(1, 2), {"bs": sorted(sent)}))
    near, far = (goodput_bps(arrived(result, 0, station), 3.0, 6.0) / 1e6 for station in (1, 2))
    return near, far


def _schedulers() -> Chapter:
    symbols = _room(0, 2) / PROFILES[0].symbol_bytes
    near, far = PROFILES[6].symbol_bytes, PROFILES[2].symbol_bytes

    def by_bytes(ratio: float) -> tuple[float, float]:
        """Bytes a frame when the near one has so many times those of the far one."""
        share = symbols / (ratio / near + 1 / far)
        return ratio * share, share

    cases = [
        ("strict", 1.0, by_bytes(1.0)),
        ("weighted", 1.0, by_bytes(1.0)),
        ("weighted", 3.0, by_bytes(3.0)),
        ("weighted", 0.25, by_bytes(0.25)),
        ("proportional-fair", 1.0, (symbols / 2 * near, symbols / 2 * far)),
        ("proportional-fair", 2.0, (symbols * 2 / 3 * near, symbols / 3 * far)),
        ("maximum-snr", 1.0, (_room(6, 1), 0.0)),
    ]
    figures = []
    for scheduler, weight, bytes_due in cases:
        due = [_payload_rate(room, cuts=1) if room > 0 else 0.0 for room in bytes_due]
        measured = _near_and_far(scheduler, weight)
        for which, expected, measured_rate in zip(("near", "far"), due, measured, strict=True):
            weighting = f", weight {weight:g} to 1" if weight != 1.0 else ""
            figures.append(
                Figure(f"{scheduler}{weighting}: {which}", "Mbit/s", expected, measured_rate, relative=0.01, absolute=0.02)
            )
    text = """
Two stations of one class that always want more, one near (64-QAM 3/4, 108 bytes a symbol), one far (QPSK 3/4, 36 bytes).
`strict` has no class to prefer and gives equal bytes in turn; `weighted` bytes by weight; `proportional-fair` equal times,
whatever the profiles, or times by weight; `maximum-snr` everything to the near one. The expected rates follow from the symbols
of the downlink. Tolerance 1 %: turns are of 256 or 1524 bytes, of some thousand that a share has in a subframe."""
    return Chapter("802.16: schedulers", text, figures)


def _weights() -> Chapter:
    figures = []
    weights = {1: 1.0, 2: 2.0, 3: 4.0}
    flows = [
        {"class": "video", "direction": direction, "scheduling": "BE", "station": f"ss{station}", "weight": weight}
        for station, weight in weights.items()
        for direction in ("downlink", "uplink")
    ]
    parameters = cell(subscribers=3, scheduler="weighted", service_flows=flows)
    for direction in ("downlink", "uplink"):
        sent: dict[str, Any] = {}
        for station in weights:
            ends = (0, station) if direction == "downlink" else (station, 0)
            frames = stream(*ends, ip_bytes=IP_BYTES, rate_bps=5e6, seconds=5.0, start=1.0, dscp=VIDEO, port=station)
            name = "bs" if direction == "downlink" else f"ss{station}"
            sent[name] = sorted(sent.get(name, []) + frames)
        result = run(parameters, joined(hello(0, 1, 2, 3), sent))
        carried = {
            station: goodput_bps(arrived(result, *((0, station) if direction == "downlink" else (station, 0))), 3.0, 6.0)
            for station in weights
        }
        # Each share has a packet that is cut where it ends.
        due = {station: _payload_rate(_room(2, 1) * weight / 7, cuts=1) for station, weight in weights.items()}
        for station, weight in weights.items():
            share, expected = carried[station] / sum(carried.values()), due[station] / sum(due.values())
            figures.append(Figure(f"{direction}, weight {weight:g} of 7", "", expected, share, relative=0.01))
    text = """
Three stations at QPSK 3/4 with weights 1, 2 and 4 and scheduler `weighted`, all of which always want more: their shares of what
is carried, which is a little less than by weight for the smallest, since each has a packet that is cut where its share ends.
Tolerance 1 %, two packets of the smallest one."""
    return Chapter("802.16: shares by weight", text, figures)
