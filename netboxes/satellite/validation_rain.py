# SPDX-License-Identifier: GPL-2.0-or-later
"""What the satellite link shows of rain: how much of it there is, and how long it lasts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from netboxes.engine.virtual import emulate
from netboxes.satellite import rain
from netboxes.satellite.itu_examples import PERCENTAGES, examples
from netboxes.satellite.link_under_test import LINK, flow
from netboxes.satellite.weather import Rain
from netboxes.validation import Chapter, Curve, Figure, Plot

#: A station in northern Italy with a Ka-band terminal.
RAIN = {"rain_rate": 42, "latitude": 44.6, "elevation": 38, "uplink_frequency": "29.5 GHz", "downlink_frequency": "19.7 GHz"}
#: P.1853-2, Annex 1, 2.2, step B: 1/s.
BETA = 2e-4
TERMINALS, SPEED_UP, DURATION, INTERVAL = 40, 10000, 250.0, 0.05
PROBABILITY = 5.0
LEVELS = (0.0, 1.0, 3.0, 6.0, 10.0)


def chapters() -> Iterator[Chapter]:
    yield _prediction()
    yield _series()


def _prediction() -> Chapter:
    figures = []
    for path, attenuations in examples():
        pairs = zip(PERCENTAGES, attenuations, strict=True)
        worst = max((rain.attenuation(path, percentage) / stated - 1 for percentage, stated in pairs), key=abs)
        place = f"latitude {path.latitude:g}°, elevation {path.elevation:.0f}°, {path.rain_rate:.0f} mm/h"
        what = f"{path.frequency / 1e9:g} GHz, {place}"
        figures.append(Figure(what, "of it too much", 0.0, worst, absolute=1e-6))
    return Chapter(
        "Rain attenuation predicted for a place",
        "The validation examples that ITU-R Study Group 3 publishes for implementations of P.618-13 (CG-3M3J-13-ValEx, "
        "revision 5.1): eight places, 14.25 and 29 GHz, attenuation exceeded for 1, 0.1 and 0.01 % of a year. Figures are the "
        "worst relative difference of the three; the tolerance is the precision with which they are printed.",
        figures,
    )


def _series() -> Chapter:
    rainy = RAIN | {"speed_up": SPEED_UP, "probability": PROBABILITY}
    stations = {f"t{i}": {"role": "terminal", "rain": rainy} for i in range(TERMINALS)} | {"hub": {"role": "gateway"}}
    link = LINK | {"stations": stations, "return_es_n0": "60 dB", "forward_es_n0": "60 dB"}
    emulation = emulate(
        "satellite", link, {"t0": flow(0, TERMINALS, 100, 1.0, 1, start=0.0)}, duration_s=DURATION, interval_s=INTERVAL
    )
    samples = [line["statistics"]["stations"] for line in emulation.journal if "statistics" in line]
    model = Rain.model_validate(rainy)
    figures, curves = [], []
    for name, key, frequency in (
        ("29.5 GHz up", "fade_up", model.uplink_frequency),
        ("19.7 GHz down", "fade_down", model.downlink_frequency),
    ):
        values = np.array([[sample[f"t{i}"][key] for i in range(TERMINALS)] for sample in samples])
        stated = model.link(frequency)
        measured = [float(np.mean(values > level)) for level in LEVELS]
        for level, share in zip(LEVELS, measured, strict=True):
            expected = stated.exceeded(level)
            spread = 3 * _deviation(expected) * 100
            figures.append(Figure(f"{name}: more than {level:g} dB", "% of time", expected * 100, share * 100, absolute=spread))
        axis = np.linspace(0.0, 15.0, 60)
        curves += [
            Curve(name, list(axis), [100 * stated.exceeded(float(x)) for x in axis], measured=False),
            Curve(name, LEVELS, [100 * max(share, 1e-6) for share in measured], measured=True),
        ]
        if key == "fade_up":
            figures += _persistence(values > 0.0)
            figures += [_ratio(values, samples, model)]
    return Chapter(
        "Rain over time",
        f"{TERMINALS} stations in northern Italy (42 mm/h, Ka band, 38 degrees), each with {SPEED_UP * DURATION:.1e} s of rain "
        "(a month; ITU-R P.1853), sped up. Expected: the log-normal distribution that is fitted to P.618, less its offset, so "
        "that it rains for 5 % of the time; and, since the Gaussian process beneath has the autocorrelation exp(-beta t) with "
        "beta = 2e-4 1/s, the probability that it still rains, or rains again, some time after a moment with rain, by the "
        "bivariate normal distribution. Tolerances are three standard deviations: of the share of time by the same theory "
        "(the variance of a mean is 2 / (beta T) times the integral of p(r) ln(1/r), where p is the density of two such "
        "variables at the threshold with correlation r), of what follows rain by the spread between the stations, which are "
        "independent. That P.618 is right for a place is not shown.",
        figures,
        [Plot("satellite-rain", "Attenuation exceeded", "attenuation (dB)", "% of time", curves, logarithmic_y=True)],
    )


def _above(probability: float, correlation: float) -> float:
    """That two standard normal variables are both above what one exceeds with `probability` (Plackett's integral)."""
    level = NormalDist().inv_cdf(1 - probability)
    angles = np.linspace(0.0, math.asin(correlation), 2001)
    return probability**2 + float(np.trapezoid(np.exp(-(level**2) / (1 + np.sin(angles))), angles)) / (2 * math.pi)


def _deviation(probability: float) -> float:
    """Of the share of all the time in which a process with this autocorrelation is above such a level."""
    level = NormalDist().inv_cdf(1 - probability)
    angles = np.linspace(1e-6, math.pi / 2, 20001)
    covered = np.exp(-(level**2) / (1 + np.sin(angles))) / (2 * math.pi) * -np.log(np.sin(angles))
    return math.sqrt(2 / (BETA * SPEED_UP * DURATION * TERMINALS) * float(np.trapezoid(covered, angles)))


def _persistence(raining: NDArray[np.bool_]) -> Iterator[Figure]:
    step = SPEED_UP * INTERVAL
    share = PROBABILITY / 100
    for lag in (1, 4, 10, 20):
        both = np.mean(raining[lag:] & raining[:-lag], axis=0)
        first = np.mean(raining[:-lag], axis=0)
        ratio = float(both.sum() / first.sum())
        spread = 3 * float(np.std(both - ratio * first, ddof=1)) / math.sqrt(TERMINALS) / float(first.mean())
        expected = _above(share, math.exp(-BETA * lag * step)) / share
        what = f"rain {lag * step:.0f} s after a moment with rain"
        yield Figure(what, "% of those", expected * 100, ratio * 100, absolute=spread * 100)


def _ratio(up: NDArray[np.float64], samples: list[dict[str, dict[str, float]]], model: Rain) -> Figure:
    """Both frequencies of a station are faded by the same rain: of each of its states there is one attenuation of each."""
    down = np.array([[sample[f"t{i}"]["fade_down"] for i in range(TERMINALS)] for sample in samples])
    above, below = model.link(model.uplink_frequency), model.link(model.downlink_frequency)
    rains = up > 0.0
    state = (np.log(up[rains] + above.offset) - above.mean) / above.deviation
    expected = np.exp(below.mean + below.deviation * state) - below.offset
    worst = float(np.max(np.abs(down[rains] - expected)))
    return Figure("19.7 GHz down, from what there is at 29.5 GHz up at the same time: worst", "dB", 0.0, worst, absolute=1e-6)
