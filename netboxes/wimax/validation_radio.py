# SPDX-License-Identifier: GPL-2.0-or-later
"""The radio link: path loss, shadowing, and what is lost at which signal-to-noise ratio."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, erf, exp, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wimax.arithmetic import CRC, ETHERNET, HEADER, PROFILES, Profile, loss_db
from netboxes.wimax.cell_under_test import arrived, cell, distance_for, run, stream
from netboxes.wimax.convolutional_code import ANCHORS_DB, closed_form, lost_blocks

SIGMAS = 4.0
#: Kolmogorov's distance that one sample in 10 000 exceeds is this divided by the root of its size.
KOLMOGOROV = 2.23
#: Packets on the air, their lengths, and blocks of the code that are simulated by themselves.
PACKETS, SHORT, LONG, SIMULATED = 2500, 100, 1000, 1500
MARGINS_DB = (-2.8, -2.4, -2.0, -1.6, -1.2)

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
    for model, (described, arguments) in models.items():
        options = {"frequency": 5e9} | arguments
        parameters = cell(subscribers=len(distances), propagation=model, **described)
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
    lags = range(11)
    measured = [float((on_the_way[:, : -lag or None] * on_the_way[:, lag:]).mean()) / deviation**2 for lag in lags]
    expected = [exp(-lag * step / 100.0) for lag in lags]
    # Bartlett's formula for far values of a first-order autoregression, which is more than that for near ones.
    kept = exp(-step / 100.0)
    scatter = sqrt((1 + kept**2) / (1 - kept**2) / on_the_way.size)
    for lag in (1, 2, 5, 10):
        what = f"correlation over {lag * step:g} m"
        # And that of the variance, which is measured with it.
        figures.append(Figure(what, "", expected[lag], measured[lag], absolute=SIGMAS * sqrt(2) * scatter))
    plot = Plot(
        "wimax-shadowing",
        "Correlation of shadowing along a station's way",
        "m",
        "",
        [
            Curve("", [lag * step for lag in lags], expected, False),
            Curve("", [lag * step for lag in lags], measured, True),
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


def _blocks(profile: Profile, ip_bytes: int) -> int:
    """Symbols that a packet lies in which begins its burst."""
    return ceil((ip_bytes + ETHERNET + HEADER + CRC) / profile.symbol_bytes)


def _lost(profile: Profile, margin: float, ip_bytes: int, packets: int, seed: int) -> float:
    """Share of packets lost on the air so many dB above the threshold; each has a burst of its own."""
    sent = {"bs": stream(0, 1, ip_bytes=ip_bytes, rate_bps=8 * ip_bytes / 20e-3, seconds=20e-3 * packets)}
    distance = distance_for(profile.thresholds[0] + margin + 1e-6)
    return 1 - len(arrived(run(cell(burst_profile=profile.name, distance=distance), sent, seed=seed), 0, 1)) / packets


def _errors() -> Chapter:
    figures, curves = [], []
    for number, profile in enumerate(PROFILES[1:], 1):
        blocks = _blocks(profile, SHORT)
        expected, measured = [], []
        for margin in MARGINS_DB:
            chance = np.random.default_rng(number)
            block = lost_blocks(profile, ANCHORS_DB[profile.name] + margin, SIMULATED, chance)[0] / SIMULATED
            packet = 1 - (1 - block) ** blocks
            expected.append(packet)
            measured.append(_lost(profile, margin, SHORT, PACKETS, number))
            simulated = (blocks * (1 - block) ** (blocks - 1)) ** 2 * block * (1 - block) / SIMULATED
            scatter = SIGMAS * sqrt(simulated + packet * (1 - packet) / PACKETS)
            what = f"{profile.name}, {profile.thresholds[0] + margin:.1f} dB"
            figures.append(Figure(what, "", packet, measured[-1], relative=0.1, absolute=max(scatter, 1 / SIMULATED)))
        axis = [profile.thresholds[0] + margin for margin in MARGINS_DB]
        curves += [Curve(profile.name, axis, expected, False), Curve(profile.name, axis, measured, True)]
    robust = PROFILES[0]
    for margin in (0.0, 0.25):
        block = closed_form(10 ** ((ANCHORS_DB[robust.name] + margin) / 10))[0]
        packet = 1 - (1 - block) ** _blocks(robust, LONG)
        scatter = SIGMAS * sqrt(packet / 4 / PACKETS)
        what = f"BPSK 1/2, {robust.thresholds[0] + margin:.2f} dB, {LONG} bytes"
        figures.append(Figure(what, "", packet, _lost(robust, margin, LONG, 4 * PACKETS, 0), absolute=scatter))
    least, most = _blocks(PROFILES[6], SHORT), _blocks(PROFILES[1], SHORT)
    text = f"""
Each burst profile by name (`burst_profile`), {PACKETS} packets of {SHORT} bytes, one a burst, at SNRs below its threshold.
Expected is what the standard's concatenated code does, simulated bit by bit (`convolutional_code.py`: punctured convolutional
code, soft-decision Viterbi, Reed-Solomon): {SIMULATED} blocks at each SNR, of which a packet lies in {least}
to {most}. The curves are moved so that one bit in 10^6 is wrong after decoding at the threshold (8.3.11.1,
edition of 2004); there BPSK 1/2, which has no Reed-Solomon code and below whose threshold nothing is received, not even the
maps, is judged by the union bound with the code's distance spectrum (Haccoun and Bégin 1989). Tolerance: {SIGMAS:g} standard
deviations of both, or 10 %: what the netbox reckons with are parabolas through simulated points. Real receivers differ from the
code on a Gaussian channel by more than that; the standard only says where the thresholds are.

With adaptive profiles a station works at or above the threshold, where at most 0.3 % of packets of 1000 bytes are lost."""
    plot = Plot("wimax-errors", f"Lost packets of {SHORT} bytes by SNR", "dB", "share lost", curves)
    return Chapter("802.16: packet errors by signal-to-noise ratio", text, figures, [plot])
