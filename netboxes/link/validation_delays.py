# SPDX-License-Identifier: GPL-2.0-or-later
"""Delays and the order of frames beside the distributions that they are drawn from."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from math import asin, erf, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.link.measured import Times, curve, delays_s, numbers, send, steady
from netboxes.validation import Chapter, Figure, Plot

COUNT = 20_000
DELAY_S, DEVIATION_S = 0.2, 0.02
#: Kolmogorov's distance that one sample in 10 000 exceeds is this divided by the root of its size.
KOLMOGOROV = 2.23
SHAPE = 3.0

Distribution = Callable[[Times], Times]


def chapters() -> Iterator[Chapter]:
    yield _distributions()
    yield _correlation()
    yield _reordering()


def _jitter(jitter: dict[str, Any], folder: Path | None = None, correlation: float = 0.0) -> Times:
    """What delays differ by, in deviations. Frames are further apart than delays can differ: none waits for another."""
    link = {"delay": f"{DELAY_S} s", "jitter": {**jitter, "correlation": correlation, "reorder": True}}
    return (delays_s(send(link, steady(COUNT, 1e-3), folder=folder)) - DELAY_S) / DEVIATION_S


def _normal(x: Times) -> Times:
    return np.array([(1 + erf(value / sqrt(2))) / 2 for value in x])


def _uniform(x: Times) -> Times:
    return np.clip((x / sqrt(3) + 1) / 2, 0.0, 1.0)


def _pareto(x: Times) -> Times:
    mean, deviation = SHAPE / (SHAPE - 1), sqrt(SHAPE / (SHAPE - 2)) / (SHAPE - 1)
    return np.asarray(1.0 - np.maximum(x * deviation + mean, 1.0) ** -SHAPE)


def _pareto_normal(x: Times) -> Times:
    """By integration over the normal part."""
    z = np.linspace(-6, 6, 1201)
    weights = np.exp(-(z**2) / 2)
    weights /= weights.sum()
    grid = np.linspace(x[0], x[-1], 2001)
    normal = zip(weights, z, strict=True)
    mixture = sum(weight * _pareto((grid * sqrt(0.625) - 0.25 * value) / 0.75) for weight, value in normal)
    result: Times = np.interp(x, grid, np.asarray(mixture, float))
    return result


def _distance(values: Times, distribution: Distribution) -> float:
    """Kolmogorov and Smirnov's: the most by which the two cumulative distributions differ."""
    ordered = np.sort(values)
    expected = distribution(ordered)
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return float(max(np.max(steps[1:] - expected), np.max(expected - steps[:-1])))


def _distributions() -> Chapter:
    measured = np.sort(np.random.default_rng(1).gamma(2.0, DEVIATION_S / 2, 500) - DEVIATION_S)

    def table(x: Times) -> Times:
        return np.interp(x, measured / DEVIATION_S, np.linspace(0, 1, len(measured)))

    cases: list[tuple[str, Distribution]] = [
        ("uniform", _uniform),
        ("normal", _normal),
        ("pareto", _pareto),
        ("pareto-normal", _pareto_normal),
        ("table", table),
    ]
    figures, curves = [], []
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "measured.csv").write_text("jitter_s\n" + "\n".join(f"{value:.9f}" for value in measured))
        for distribution, expected in cases:
            jitter: dict[str, Any] = {"distribution": distribution, "deviation": f"{DEVIATION_S} s"}
            if distribution == "table":
                jitter = {"distribution": distribution, "table": "measured.csv"}
            for correlation in (0.0, 0.8):
                values = _jitter(jitter, Path(name), correlation)
                # Neighbours of an AR(1) sequence count for (1 - c) / (1 + c) of an independent value.
                size = COUNT * (1 - correlation) / (1 + correlation)
                figures.append(
                    Figure(
                        f"{distribution}, correlation {correlation:g}: Kolmogorov-Smirnov distance",
                        "",
                        0.0,
                        _distance(values, expected),
                        absolute=KOLMOGOROV / sqrt(size),
                    )
                )
                if correlation == 0.0:
                    x = np.linspace(-3, 4, 71)
                    points = np.linspace(-3, 4, 29)
                    curves.append(curve(distribution, x, expected(x), measured=False))
                    curves.append(curve(distribution, points, [(values <= at).mean() for at in points], measured=True))
    text = f"""
{COUNT} frames with a delay of {DELAY_S * 1000:g} ms and jitter of deviation {DEVIATION_S * 1000:g} ms (the table: 500 values of
a gamma distribution). Each distribution, shifted to mean 0 and scaled to deviation 1, is judged by the greatest distance
between measured and expected cumulative distribution (Kolmogorov and Smirnov); one sample in 10 000 may exceed the tolerance.
With correlation the distribution is the same: its sample counts for less."""
    plot = Plot("link-jitter", "Cumulative distributions of jitter", "deviations", "share", curves)
    return Chapter("Jitter", text, figures, [plot])


def _correlation() -> Chapter:
    figures = []
    for correlation in (0.0, 0.5, 0.9):
        values = _jitter({"distribution": "normal", "deviation": f"{DEVIATION_S} s"}, correlation=correlation)
        uncertain = 4 * sqrt((1 - correlation**2) / COUNT) + 1e-3
        for distance in (1, 2):
            figures.append(
                Figure(
                    f"normal, correlation {correlation:g}: at distance {distance}",
                    "",
                    correlation**distance,
                    float(np.corrcoef(values[:-distance], values[distance:])[0, 1]),
                    absolute=distance * uncertain,
                )
            )
        values = _jitter({"distribution": "pareto", "deviation": f"{DEVIATION_S} s"}, correlation=correlation)
        ranks = np.argsort(np.argsort(values))
        figures.append(
            Figure(
                f"pareto, correlation {correlation:g}: of ranks, at distance 1",
                "",
                6 / pi * asin(correlation / 2),
                float(np.corrcoef(ranks[:-1], ranks[1:])[0, 1]),
                absolute=0.035,
            )
        )
    text = """
`correlation` c is that of the normal numbers behind the delays, an AR(1) sequence: c^d at distance d for normal jitter. What a
Gaussian copula makes of it for the ranks of any other distribution is 6/pi asin(c/2) (Pearson 1907)."""
    return Chapter("Correlated jitter", text, figures)


def _reordering() -> Chapter:
    figures = []
    gap_s = 1e-3
    for probability, gap, by_ms in ((0.05, 1, 3.5), (0.3, 4, 7.5), (1.0, 10, 1.5)):
        link = {"delay": "20 ms", "reordering": {"probability": probability, "gap": gap, "by": f"{by_ms} ms"}}
        order = numbers(send(link, steady(COUNT, gap_s)))
        late = order < np.maximum.accumulate(order)
        # Held back for 3.5 gaps: out of order unless the three next ones are held back as well.
        further = int(by_ms)
        share = probability / gap * (1 - (probability**further if gap == 1 else 0.0))
        figures.append(
            Figure(
                f"each {gap}. frame with {probability:g} by {by_ms} ms: reordered",
                "",
                share,
                late.mean(),
                absolute=4 * sqrt(share * (1 - share * (gap if probability == 1 else 1)) / COUNT) + 2 / COUNT,
            )
        )
        if gap > 1:
            extents = _extents(order)
            figures.append(
                Figure(
                    f"each {gap}. frame with {probability:g} by {by_ms} ms: mean extent",
                    "frames",
                    further,
                    extents.mean(),
                    absolute=0.3 if further >= gap else 0.01,
                )
            )
    text = """
RFC 4737: a packet is reordered when one with a higher number has arrived before it; its extent is how many places after the
first such one it comes. Packets leave every millisecond; one that is held back for 3.5 ms is overtaken by the next three, so
all that are held back are reordered (unless all those that would overtake it are, too)."""
    return Chapter("Reordering", text, figures)


def _extents(order: NDArray[np.int64]) -> NDArray[np.int64]:
    highest = np.maximum.accumulate(order)
    return np.array(
        [place - int(np.searchsorted(highest, number, "right")) for place, number in enumerate(order) if number < highest[place]]
    )
