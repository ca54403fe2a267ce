# SPDX-License-Identifier: GPL-2.0-or-later
"""Fading: how many frames are too weak, and how often a channel fades."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from netboxes.engine.virtual import emulate
from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi.cell_under_test import broadcasts, line
from netboxes.wifi.path_loss import free_space

TX_POWER = 16.0
DISTANCE = 100.0
COUNT = 4000


def chapters() -> Iterator[Chapter]:
    yield _nakagami()
    yield _jakes()


def gamma_tail(shape: float, ratio: float) -> float:
    """The share of frames whose power is over `ratio` times the mean under Nakagami fading of this shape m: the upper tail of a
    gamma distribution with mean 1 (M. Nakagami, "The m-distribution", 1960), by the series of its lower one."""
    x = shape * ratio
    term = total = 1.0 / shape
    index = shape
    while term > total * 1e-12:
        index += 1
        term *= x / index
        total += term
    return 1.0 - total * math.exp(-x + shape * math.log(x) - math.lgamma(shape))


def heard(margin: float, count: int, interval: float, **fading: Any) -> list[bool]:
    """Of each broadcast whether it was heard by a receiver that detects frames from `margin` dB over the mean power on."""
    threshold = TX_POWER - free_space(DISTANCE) + margin
    cell = line("ad-hoc", 2, DISTANCE, sensitivity=f"{threshold} dBm", noise_figure="0 dB")
    emulation = emulate("wifi", cell | fading, {"s0": broadcasts(count, interval)})
    arrived = {round((at - 1.0) / interval) for at, _ in emulation.received["s1"]}
    return [number in arrived for number in range(count)]


def _nakagami() -> Chapter:
    figures, curves = [], []
    margins = (-12, -9, -6, -3, 0, 3)
    for shape in (0.5, 1.0, 3.0, 10.0):
        label = f"m = {shape:g}"
        measured = [sum(heard(margin, COUNT, 2e-3, fading="nakagami", nakagami_m=shape)) / COUNT for margin in margins]
        expected = [gamma_tail(shape, 10 ** (margin / 10)) for margin in margins]
        figures += [
            Figure(
                f"{label}, {margin} dB over the mean",
                "",
                wanted,
                got,
                absolute=4 * math.sqrt(wanted * (1 - wanted) / COUNT) + 1e-3,
            )
            for margin, wanted, got in zip(margins, expected, measured, strict=True)
            if margin in (-9, -3, 0)
        ]
        every = [-15 + step / 4 for step in range(81)]
        curves += [
            Curve(label, every, [gamma_tail(shape, 10 ** (margin / 10)) for margin in every], False),
            Curve(label, margins, measured, True),
        ]
    plot = Plot("wifi-nakagami", "Frames heard under Nakagami fading", "threshold over the mean power, dB", "share", curves)
    text = f"""
Broadcasts over {DISTANCE:.0f} m, which are heard when their power is over the receiver's sensitivity; a frame's power under
Nakagami fading has a gamma distribution with shape m, whose tail is expected. Tolerance: four standard deviations of a binomial
with {COUNT} frames.
"""
    return Chapter("Nakagami fading", text, figures, [plot])


def _jakes() -> Chapter:
    interval, count, doppler = 2e-3, 30_000, 10.0
    figures = []
    for margin in (-10, -5, 0):
        ratio = 10 ** (margin / 10)
        courses = heard(margin, count, interval, fading="rayleigh", doppler=f"{doppler} Hz")
        fades = sum(before and not now for before, now in pairwise(courses))
        share = sum(courses) / count
        # The closed form, seen every 2 ms: what goes down and up again in between is not noticed.
        crossings = math.sqrt(2 * math.pi * ratio) * doppler * math.exp(-ratio)
        figures += [
            Figure(f"{margin} dB over the mean: frames heard", "", math.exp(-ratio), share, absolute=0.06),
            Figure(f"{margin} dB over the mean: fades", "1/s", crossings, fades / (count * interval), relative=0.12),
        ]
    text = f"""
Rayleigh fading by Jakes's model with a Doppler frequency of {doppler:.0f} Hz: a broadcast every {interval * 1e3:.0f} ms for
{count * interval:.0f} s. Above a power of R times the mean the channel is for exp(-R) of the time, and below it falls
sqrt(2 pi R) f exp(-R) times a second (W. C. Jakes, Microwave Mobile Communications, 1974, 1.3). Tolerance: ns-3 makes a course of
a few oscillators, and {count * interval:.0f} s of it are {count * interval * doppler:.0f} wavelengths: 0.06 of the share, 12 %
of the rate.
"""
    return Chapter("Rayleigh fading", text, figures)
