# SPDX-License-Identifier: GPL-2.0-or-later
"""LTE: link budget, path loss, fading, and where and how UEs are handed over."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts.nature import SPEED_OF_LIGHT
from netboxes.engine.virtual import Emulation, emulate, mac
from netboxes.lte.cell_under_test import IN_GROUPS, LARGEST_BLOCK, MEGABIT, ONE, flow, goodput, hello, saturated
from netboxes.validation import Chapter, Curve, Figure, Plot

FREQUENCY = 1842.5e6  # Hz, the middle of band 3


def friis(distance: float) -> float:
    """dB in free space."""
    return 20 * math.log10(4 * math.pi * distance * FREQUENCY / SPEED_OF_LIGHT)


def link_budget() -> Chapter:
    blocks, power, noise_figure = 25, 30.0, 9.0
    distances = (500.0, 2e3, 5e3, 10e3, 15e3, 20e3, 30e3, 40e3)
    # MCS and the bits of its transport block with 24 resource blocks (TS 36.213, Tables 7.1.7.1-1 and 7.1.7.2.1-1).
    schemes_expected = {5e3: (22, 11064), 10e3: (16, 7224), 15e3: (12, 4776)}
    figures, rates, schemes, ratios = [], [], [], []
    for distance in distances:
        cell = ONE | {
            "resource_blocks": blocks,
            "distance": f"{distance} m",
            "tx_power": f"{power} dBm",
            "enodeb_height": "1.5 m",
        }
        emulation = emulate("lte", cell, saturated(cell, False, ["ue"], LARGEST_BLOCK[blocks] * 1.1e3, 0.6), duration_s=4.0)
        noise = -174.0 + noise_figure + 10 * math.log10(blocks * 180e3)
        expected = power - friis(distance) - noise
        counters = emulation.statistics["segment"]["stations"]["ue"]
        if distance <= 15e3:
            figures.append(
                Figure(
                    f"{distance / 1e3:g} km, 30 dBm, free space: SINR", "dB", expected, counters["sinr_downlink"], absolute=0.3
                )
            )
        rates.append(goodput(emulation, "ue", 1, 1500, 1.2, 1.6) / MEGABIT)
        schemes.append(counters["mcs_downlink"])
        ratios.append(expected)
    for distance, (scheme, block) in schemes_expected.items():
        place, rate = f"{distance / 1e3:g} km", rates[distances.index(distance)]
        figures += [
            Figure(f"{place}: MCS", "", scheme, schemes[distances.index(distance)], absolute=1.0),
            Figure(f"{place}: goodput with MCS {scheme}", "Mbit/s", block / 1e3, rate, relative=0.02),
        ]
    shannon = [IN_GROUPS[blocks] * 180e3 * math.log2(1 + 10 ** (ratio / 10)) / MEGABIT for ratio in ratios]
    return Chapter(
        "LTE: signal and modulation against distance",
        "One UE, 25 resource blocks at 1.8 GHz, 30 dBm, free space. Expected SINR: transmit power less Friis's loss, less "
        "thermal noise (-174 dBm/Hz) with the receiver's noise figure of 9 dB in 4.5 MHz. The modulation and coding scheme "
        "follows it (which one a ratio bears is ns-3's link adaptation, for a block error rate of 10 %: no other source is "
        "compared), and the goodput is the transport block of that scheme in each subframe (TS 36.213), under the capacity "
        "of the channel (Shannon) by 3 to 4 dB.",
        figures,
        [
            Plot(
                "lte-distance",
                "LTE goodput in the downlink",
                "m",
                "Mbit/s",
                [
                    Curve("bound", distances, [min(s, LARGEST_BLOCK[24] / 1e3) for s in shannon], False),
                    Curve("goodput", distances, rates, True),
                ],
                logarithmic_x=True,
            ),
            Plot("lte-mcs", "LTE modulation and coding scheme", "SINR, dB", "MCS", [Curve("downlink", ratios, schemes, True)]),
        ],
    )


def j0(x: float) -> float:
    """Bessel function of the first kind and order 0, by its integral."""
    return float(np.mean(np.cos(x * np.sin(np.linspace(0.0, math.pi, 1000, endpoint=False)))))


def cost231(distance: float, environment: str) -> float:
    """dB by COST 231's extension of Hata's formula, small city, 30 m above 1.5 m (COST 231 final report, 4.4.3)."""
    megahertz = FREQUENCY / 1e6
    mobile = (1.1 * math.log10(megahertz) - 0.7) * 1.5 - (1.56 * math.log10(megahertz) - 0.8)
    slope = 44.9 - 6.55 * math.log10(30.0)
    urban = 46.3 + 33.9 * math.log10(megahertz) - 13.82 * math.log10(30.0) - mobile + slope * math.log10(distance / 1e3)
    return urban if environment == "urban" else math.nan


def path_loss() -> Chapter:
    """RSRP is the eNodeB's power in one of 12 subcarriers of each resource block, less the loss."""
    distances = (100.0, 300.0, 1e3, 3e3, 10e3)
    reference = friis(1.0)
    models: dict[str, tuple[dict[str, Any], Any]] = {
        "free space": ({"propagation": "friis"}, friis),
        "exponent 3.5": (
            {"propagation": "log-distance", "path_loss_exponent": 3.5},
            lambda d: reference + 35.0 * math.log10(d),
        ),
        "COST 231, urban": ({"propagation": "okumura-hata"}, lambda d: cost231(d, "urban")),
    }
    figures, curves = [], []
    for name, (described, formula) in models.items():
        losses = []
        for distance in distances:
            cell = ONE | described | {"resource_blocks": 6, "distance": f"{distance} m", "tx_power": "60 dBm"}
            emulation = emulate("lte", cell, {"ue": [hello(0)], "core": [hello(1)]}, duration_s=0.5)
            losses.append(60.0 - 10 * math.log10(6 * 12) - emulation.statistics["segment"]["stations"]["ue"]["rsrp"])
        # Free space and exponents go by the distance between antennas, Hata by that on the ground.
        away = [d if "COST" in name else math.hypot(d, 28.5) for d in distances]
        expected = [formula(d) for d in away]
        for distance, loss, wanted in zip(distances, losses, expected, strict=True):
            if "COST" not in name or distance >= 1e3:
                figures.append(Figure(f"{name}, {distance / 1e3:g} km: loss", "dB", wanted, loss, absolute=0.2))
        curves += [Curve(name, distances, expected, False), Curve(name, distances, losses, True)]
    return Chapter(
        "LTE: path loss",
        "The eNodeB's power in a subcarrier less the RSRP that the UE measures, at 1842.5 MHz, antennas 30 m and 1.5 m high: "
        "Friis's formula, an exponent of 3.5 beyond 1 m, and Hata's formula as COST 231 extended it to 2 GHz (valid from 1 km "
        "on; nearer it is drawn only).",
        figures,
        [Plot("lte-loss", "LTE path loss", "m", "dB", curves, logarithmic_x=True)],
    )


def powers(emulation: Emulation) -> NDArray[np.float64]:
    """RSRP in the course of a run, as a ratio to its mean."""
    samples = [
        line["statistics"]["stations"]["ue"]["rsrp"]
        for line in emulation.journal
        if "statistics" in line and line["statistics"]["stations"]["ue"]["connected"]
    ]
    ratios = 10 ** (np.array(samples) / 10)
    return np.asarray(ratios / ratios.mean(), dtype=np.float64)


def fading() -> Chapter:
    doppler, step, seconds = 10.0, 10e-3, 60.0
    # So near that no fade ends the connection.
    cell = ONE | {"fading": "EPA", "doppler": f"{doppler} Hz", "resource_blocks": 6, "distance": "50 m", "tx_power": "40 dBm"}
    parts = []
    for seed in (1, 2):
        frames = {"ue": [hello(0)], "core": [hello(1)]}
        parts.append(powers(emulate("lte", cell, frames, seed=seed, interval_s=step, duration_s=seconds)))
    power = np.concatenate(parts)
    figures = [
        Figure(
            f"power {depth:g} dB or more below its mean: share of the time",
            "%",
            100 * (1 - math.exp(-(10 ** (-depth / 10)))),
            100 * float(np.mean(power < 10 ** (-depth / 10))),
            relative=0.3,
        )
        for depth in (3, 10, 15)
    ]
    lags = [1, 2, 3, 4, 5, 6, 8, 10]
    measured = [
        float(np.mean([np.mean((part[:-lag] - 1) * (part[lag:] - 1)) / np.mean((part - 1) ** 2) for part in parts]))
        for lag in lags
    ]
    wanted = [float(j0(2 * math.pi * doppler * lag * step)) ** 2 for lag in lags]
    for lag in (1, 2, 4):
        at = lags.index(lag)
        figures.append(Figure(f"correlation of power {lag * step * 1e3:g} ms apart", "", wanted[at], measured[at], absolute=0.1))
    ordered = np.sort(power)[:: max(1, len(power) // 200)]
    shares = (np.arange(len(ordered)) + 0.5) / len(ordered)
    decibels = [float(d) for d in 10 * np.log10(ordered)]
    return Chapter(
        "LTE: fading",
        "A standing UE, Extended Pedestrian A with a Doppler shift of 10 Hz, 6 resource blocks, over which it is nearly flat: "
        "RSRP each 10 ms for twice 60 s, 600 Doppler periods each. Expected are Rayleigh's distribution of the power, 1 - "
        "exp(-p), and the correlation of Clarke's model, J0(2 pi f t) squared for the power. Deep fades are rare events, of "
        "which so short a time tells 30 %.",
        figures,
        [
            Plot(
                "lte-fading",
                "LTE fading: distribution",
                "power, dB from the mean",
                "share of the time",
                [
                    Curve("power", decibels, [1 - math.exp(-(10 ** (d / 10))) for d in decibels], False),
                    Curve("power", decibels, [float(share) for share in shares], True),
                ],
                logarithmic_y=True,
            ),
            Plot(
                "lte-doppler",
                "LTE fading: correlation of power",
                "ms",
                "correlation",
                [
                    Curve("power", [lag * step * 1e3 for lag in lags], wanted, False),
                    Curve("power", [lag * step * 1e3 for lag in lags], measured, True),
                ],
            ),
        ],
    )


def handover() -> Chapter:
    figures = []
    for algorithm in ("a3-rsrp", "a2-a4-rsrq"):
        path = [{"at": "0 s", "position": ["100 m", "0 m"]}, {"at": "20 s", "position": ["900 m", "0 m"]}]
        cell = {
            "stations": {"ue": {"role": "ue", "path": path}, "core": {"role": "gateway"}},
            "enodebs": {"west": {"position": ["0 m", "0 m"]}, "east": {"position": ["1000 m", "0 m"]}},
            "handover": algorithm,
            "propagation": "log-distance",
            "path_loss_exponent": 3,
            "tx_power": "36 dBm",
            "resource_blocks": 25,
        }
        frames = {"ue": [hello(0)], "core": [hello(1), *flow(1, 0, 200, 320e3, 20.0)]}
        emulation = emulate("lte", cell, frames)
        events = emulation.events("handover")
        times = np.array([time for time, frame in emulation.received["ue"] if frame[6:12] == mac(1) and time >= 1.0])
        when = events[0]["at_s"] + 0.8 if events else 0.0
        near = (times > when - 0.1) & (times < when + 0.3)
        gap = float(np.diff(times[near]).max()) * 1e3
        figures += [
            Figure(f"{algorithm}: handovers on the way", "", 1.0, float(len(events)), absolute=0.0),
            Figure(f"{algorithm}: longest gap in the downlink at the handover", "ms", 30.0, gap, absolute=25.0),
        ]
    return Chapter(
        "LTE: handover",
        "A UE goes from one eNodeB to another 1 km away, at 40 m/s, with a packet each 5 ms in the downlink. It is handed "
        "over once, over X2. 3GPP reckons with an interruption of 49.5 ms (TR 36.881, 5.2.5.2); ns-3's signalling is ideal, "
        "and what remains is random access and the forwarding of packets, so 5 to 55 ms are to be seen.",
        figures,
    )


def handover_place() -> Chapter:
    """Where A3 of RSRP hands over, by hysteresis."""
    speed, height = 10.0, 28.5
    places, expected, figures = [], [], []
    hystereses = (0.0, 1.0, 2.0, 3.0, 4.0)
    for hysteresis in hystereses:
        # Where the difference of 30 log10(d) is the hysteresis.
        along = np.arange(500.0, 800.0, 0.1)
        difference = 30 * np.log10(np.hypot(along, height) / np.hypot(1000 - along, height))
        crossing = float(along[np.argmax(difference >= hysteresis)])
        start, seconds = 470.0, (crossing + 50.0 - 470.0) / speed
        path = [
            {"at": "0 s", "position": [f"{start} m", "0 m"]},
            {"at": f"{seconds} s", "position": [f"{crossing + 50} m", "0 m"]},
        ]
        cell = {
            "stations": {"ue": {"role": "ue", "path": path}, "core": {"role": "gateway"}},
            "enodebs": {"west": {"position": ["0 m", "0 m"]}, "east": {"position": ["1000 m", "0 m"]}},
            "handover": "a3-rsrp",
            "handover_hysteresis": f"{hysteresis} dB",
            "propagation": "log-distance",
            "path_loss_exponent": 3,
            "tx_power": "36 dBm",
            "resource_blocks": 6,
        }
        emulation = emulate("lte", cell, {"ue": [hello(0)], "core": [hello(1)]}, duration_s=seconds + 1.0)
        events = emulation.events("handover")
        place = start + speed * events[0]["at_s"] if events else 0.0
        places.append(place)
        # Time to trigger 256 ms, measured each 200 ms, filtered with a half (filter coefficient 4): about 0.5 s.
        expected.append(crossing + speed * 0.5)
        figures.append(Figure(f"hysteresis {hysteresis:g} dB: place", "m", expected[-1], place, absolute=20.0))
    return Chapter(
        "LTE: where A3 hands over",
        "A UE drives at 10 m/s from one eNodeB to another 1 km away, path loss exponent 3. Event A3 (TS 36.331, 5.5.4.4) is "
        "where the other's RSRP is better by the hysteresis; half a second of measuring and of time to trigger come on top. "
        "RSRP is reported in whole dB (TS 36.133, 9.1.4), and 1 dB are 19 m there. Beyond 4 dB the UE would first lose its link "
        "to the other's interference.",
        figures,
        [
            Plot(
                "lte-handover",
                "Where LTE hands over",
                "hysteresis, dB",
                "m from the first eNodeB",
                [Curve("A3", hystereses, expected, False), Curve("A3", hystereses, places, True)],
            )
        ],
    )
