# SPDX-License-Identifier: GPL-2.0-or-later
"""The radio link: path loss, shadowing, and what is lost at which signal-to-noise ratio."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, erf, exp, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wimax.arithmetic import CRC, ETHERNET, HEADER, PROFILES, Profile, loss_db, packet_error
from netboxes.wimax.cell_under_test import arrived, cell, distance_for, run, stream

SIGMAS = 4.0
#: Kolmogorov's distance that one sample in 10 000 exceeds is this divided by the root of its size.
KOLMOGOROV = 2.23
IP_BYTES, PACKETS = 1000, 2500
MARGINS_DB = (-0.8, -0.5, -0.25, 0.0)

#: Thermal noise in the occupied 9 MHz, and a noise figure of 5 dB.
NOISE_DBM = -174 + 10 * log10(9e6) + 5
POWER_DBM = 30.0


def chapters() -> Iterator[Chapter]:
    yield _path_loss()
    yield _shadowing()
    yield _errors()


def _path_loss() -> Chapter:
    figures, curves = [], []
    distances = (50, 100, 300, 1000, 2000, 4000, 7000)
    # What is said of the cell, and the same for the formula.
    models: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
        "friis": ({}, {}),
        "log-distance": ({"path_loss_exponent": 2.7}, {"exponent": 2.7}),
        "two-ray": ({"base_height": "10 m"}, {"base": 10.0}),
        "sui-a": ({}, {}),
        "sui-b": ({"frequency": "3.5 GHz"}, {"frequency": 3.5e9}),
        "sui-c": ({"subscriber_height": "6 m"}, {"own": 6.0}),
    }
    axis = [50 * 140 ** (step / 150) for step in range(151)]
    for model, (said, given) in models.items():
        options = {"frequency": 5e9} | given
        parameters = cell(subscribers=len(distances), propagation=model, **said)
        for number, metres in enumerate(distances, 1):
            parameters["stations"][f"ss{number}"]["distance"] = f"{metres} m"
        stations = run(parameters, {}, duration_s=0.1).statistics["segment"]["stations"]
        measured = [POWER_DBM - NOISE_DBM - stations[f"ss{n}"]["snr_db_uplink"] for n in range(1, len(distances) + 1)]
        curves.append(Curve(model, axis, [loss_db(model, at, **options) for at in axis], False))
        curves.append(Curve(model, distances, measured, True))
        for metres, loss in zip(distances, measured, strict=True):
            if metres in (50, 2000, 7000):
                figures.append(Figure(f"{model}, {metres} m", "dB", loss_db(model, metres, **options), loss, absolute=1e-3))
    text = """
From the SNR that stations report, 30 dBm and thermal noise in 9 MHz with a noise figure of 5 dB. Friis, log-distance with an
exponent of 2.7 from 1 m on, two-ray (Rappaport, Wireless Communications, 4.6) with antennas at 10 m and 2 m, and the suburbs of
IEEE 802.16.3c-01/29r4: terrain A, B at 3.5 GHz, C with the subscriber's antenna at 6 m. The formulas have no free constants:
0.001 dB."""
    plot = Plot("wimax-loss", "Path loss", "m", "dB", curves, logarithmic_x=True)
    return Chapter("802.16: path loss", text, figures, [plot])


def _shadowing() -> Chapter:
    deviation, count = 8.0, 400
    still = cell(subscribers=count, shadowing=f"{deviation} dB", distance="300 m")
    stations = run(still, {}, duration_s=0.1).statistics["segment"]["stations"]
    free = POWER_DBM - NOISE_DBM - loss_db("friis", 300.0, frequency=5e9)
    losses = np.sort([free - stations[f"ss{number}"]["snr_db_uplink"] for number in range(1, count + 1)])
    normal = np.array([(1 + erf(loss / deviation / sqrt(2))) / 2 for loss in losses])
    steps = np.arange(count + 1) / count
    distance = float(max(np.max(steps[1:] - normal), np.max(normal - steps[:-1])))
    figures = [
        Figure("mean", "dB", 0.0, losses.mean(), absolute=SIGMAS * deviation / sqrt(count)),
        Figure("standard deviation", "dB", deviation, losses.std(), absolute=SIGMAS * deviation / sqrt(2 * count)),
        Figure("Kolmogorov-Smirnov distance from a normal distribution", "", 0.0, distance, absolute=KOLMOGOROV / sqrt(count)),
    ]
    on_the_way, step = _losses_on_the_way(deviation)
    ways = range(11)
    measured = [float((on_the_way[:, : -way or None] * on_the_way[:, way:]).mean()) / deviation**2 for way in ways]
    expected = [exp(-way * step / 100.0) for way in ways]
    # Bartlett's formula for far values of a first-order autoregression, which is more than that for near ones.
    kept = exp(-step / 100.0)
    scatter = sqrt((1 + kept**2) / (1 - kept**2) / on_the_way.size)
    for way in (1, 2, 5, 10):
        what = f"correlation over {way * step:g} m"
        # And that of the variance, which is measured with it.
        figures.append(Figure(what, "", expected[way], measured[way], absolute=SIGMAS * sqrt(2) * scatter))
    plot = Plot(
        "wimax-shadowing",
        "Correlation of shadowing along a station's way",
        "m",
        "",
        [
            Curve("", [way * step for way in ways], expected, False),
            Curve("", [way * step for way in ways], measured, True),
        ],
    )
    text = f"""
`shadowing: {deviation:g} dB`: the loss beyond free space of {count} stations that stand still, beside a normal distribution
(one sample in 10 000 may have a greater Kolmogorov-Smirnov distance, means and deviations may be off by {SIGMAS:g} of theirs).
Then {len(on_the_way)} stations that go {on_the_way.shape[1] * step / 1e3:.1f} km each: the correlation falls to 1/e in 100 m
(Gudmundson 1991); tolerance {SIGMAS:g} standard deviations by Bartlett's formula."""
    return Chapter("802.16: shadowing", text, figures, [plot])


def _losses_on_the_way(deviation: float) -> tuple[NDArray[np.float64], float]:
    """Losses beyond free space, by station and place; and the metres from one place to the next."""
    count, speed, interval, seconds = 30, 100.0, 0.2, 60.0
    path = [
        {"at": "0 s", "position": ["500 m", "0 m"]},
        {"at": f"{seconds} s", "position": [f"{500 + speed * seconds} m", "0 m"]},
    ]
    parameters = cell(subscribers=count, shadowing=f"{deviation} dB", tx_power="60 dBm")
    for number in range(1, count + 1):
        parameters["stations"][f"ss{number}"]["path"] = path
    result = run(parameters, {}, duration_s=seconds, interval_s=interval)
    rows = [line["statistics"]["stations"] for line in result.journal if "statistics" in line]

    def loss(station: dict[str, float]) -> float:
        return 60.0 - NOISE_DBM - loss_db("friis", station["distance_m"], frequency=5e9) - station["snr_db_uplink"]

    losses = [[loss(stations[f"ss{number}"]) for stations in rows] for number in range(1, count + 1)]
    return np.array(losses), speed * interval


def _blocks(profile: Profile) -> int:
    """Symbols that a packet lies in which begins its burst."""
    return ceil((IP_BYTES + ETHERNET + HEADER + CRC) / profile.symbol_bytes)


def _errors() -> Chapter:
    figures, curves = [], []
    # One in each other frame, so that all of them begin a burst.
    sent = {"bs": stream(0, 1, ip_bytes=IP_BYTES, rate_bps=8 * IP_BYTES / 20e-3, seconds=20e-3 * PACKETS)}
    for number, profile in enumerate(PROFILES):
        # Below the first profile's threshold nothing is received, not even the maps.
        margins = MARGINS_DB if profile.name != "BPSK 1/2" else (0.0, 0.2, 0.4)
        points = []
        for margin in margins:
            snr = profile.thresholds[0] + margin
            result = run(cell(burst_profile=profile.name, distance=distance_for(snr + 1e-6)), sent, seed=number)
            lost = 1 - len(arrived(result, 0, 1)) / PACKETS
            expected = packet_error(profile, margin, _blocks(profile))
            points.append((snr, lost))
            # At least one packet.
            scatter = max(SIGMAS * sqrt(expected * (1 - expected) / PACKETS), 1 / PACKETS)
            figures.append(Figure(f"{profile.name}, {snr:.2f} dB", "", expected, lost, absolute=scatter))
        least = 0.0 if profile.name == "BPSK 1/2" else -1.5
        axis = [profile.thresholds[0] + least + step * (1.0 - least) / 100 for step in range(101)]
        errors = [packet_error(profile, snr - profile.thresholds[0], _blocks(profile)) for snr in axis]
        curves.append(Curve(profile.name, axis, errors, False))
        curves.append(Curve(profile.name, [snr for snr, _ in points], [lost for _, lost in points], True))
    text = f"""
Each burst profile by name (`burst_profile`), {PACKETS} packets of {IP_BYTES} bytes, one a burst, at SNRs about its threshold.
Expected: after decoding one bit in 10^6 is wrong at the threshold (8.3.11.1, edition of 2004); around it, the union bound of
the Viterbi decoder with the punctured code's distance spectrum (Haccoun and Bégin 1989) and bounded-distance Reed-Solomon
decoding, worked out here once more; a packet is lost with any of the {_blocks(PROFILES[-1])} to {_blocks(PROFILES[0])} blocks
that it lies in. Tolerance: {SIGMAS:g} standard deviations of a binomial, at least one packet.

With adaptive profiles a station works at or above the threshold, where at most 0.8 % of such packets are lost."""
    plot = Plot("wimax-errors", f"Lost packets of {IP_BYTES} bytes by SNR", "dB", "share lost", curves)
    return Chapter("802.16: packet errors by signal-to-noise ratio", text, figures, [plot])
