# SPDX-License-Identifier: GPL-2.0-or-later
"""Losses, duplicates and bit errors beside their closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.engine.virtual import udp
from netboxes.link.measured import IP_UDP, LEFT, RIGHT, curve, lost, send, steady
from netboxes.validation import Chapter, Figure, Plot

COUNT = 30_000
#: Standard deviations that a measured share may be off: by chance one in 16 000 is.
SIGMAS = 4.0


def chapters() -> Iterator[Chapter]:
    yield _independent()
    yield _bursts()
    yield _fades()
    yield _wrong_bytes()
    yield _duplicates()
    yield _bit_errors()


def _share(what: str, expected: float, measured: float, count: float, clustering: float = 1.0) -> Figure:
    """Of `count` trials; `clustering` is by how much the variance exceeds that of independent ones."""
    deviation = sqrt(expected * (1 - expected) / count * clustering)
    return Figure(what, "", expected, measured, absolute=SIGMAS * deviation)


def _runs(gone: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Lengths of runs of lost frames."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], gone, [False])).astype(np.int8)))
    return np.asarray(edges[1::2] - edges[::2], np.int64)


def _independent() -> Chapter:
    figures = []
    for probability in (0.001, 0.01, 0.1, 0.5):
        gone = lost(send({"loss": probability}, steady(COUNT, 1e-4)))
        figures.append(_share(f"loss {probability:g}: share", probability, gone.mean(), COUNT))
        if probability >= 0.01:
            runs = _runs(gone)
            mean = 1 / (1 - probability)
            spread = sqrt(probability) / (1 - probability)
            figures.append(
                Figure(
                    f"loss {probability:g}: mean run of lost frames",
                    "frames",
                    mean,
                    runs.mean(),
                    absolute=SIGMAS * spread / sqrt(len(runs)),
                )
            )
    text = f"""
{COUNT} frames each. Independent losses with probability P have runs of mean length 1 / (1 - P). The tolerance is {SIGMAS:g}
standard deviations of the estimate."""
    return Chapter("Independent losses", text, figures)


def _bursts() -> Chapter:
    cases: list[tuple[str, dict[str, Any], tuple[float, float, float, float]]] = [
        ("simple Gilbert, P = 0.05, bursts of 4", {"probability": 0.05, "burst": 4}, (0.25 * 0.05 / 0.95, 0.25, 0.0, 1.0)),
        ("simple Gilbert, P = 0.01, bursts of 10", {"probability": 0.01, "burst": 10}, (0.1 * 0.01 / 0.99, 0.1, 0.0, 1.0)),
        (
            "Gilbert, p = 0.02, r = 0.2, 1 - h = 0.5",
            {"good_to_bad": 0.02, "bad_to_good": 0.2, "loss_in_bad": 0.5},
            (0.02, 0.2, 0.0, 0.5),
        ),
        (
            "Gilbert-Elliott, p = 0.03, r = 0.3, 1 - k = 0.01, 1 - h = 0.6",
            {"good_to_bad": 0.03, "bad_to_good": 0.3, "loss_in_good": 0.01, "loss_in_bad": 0.6},
            (0.03, 0.3, 0.01, 0.6),
        ),
    ]
    figures, curves = [], []
    for name, loss, states in cases:
        gone = lost(send({"loss": loss}, steady(COUNT, 1e-4)))
        share, mean_run, clustering = _closed_form(*states)
        figures.append(_share(f"{name}: share lost", share, gone.mean(), COUNT, clustering))
        runs = _runs(gone)
        spread = sqrt(mean_run * (mean_run - 1)) or 1.0
        figures.append(
            Figure(f"{name}: mean run", "frames", mean_run, runs.mean(), absolute=SIGMAS * 1.3 * spread / sqrt(len(runs)))
        )
        if states[2:] == (0.0, 1.0):
            lengths = np.arange(1, int(5 * mean_run) + 1)
            curves.append(curve(name, lengths, (1 - states[1]) ** (lengths - 1), measured=False))
            curves.append(curve(name, lengths, [(runs >= length).mean() for length in lengths], measured=True))
    text = f"""
The channel of Gilbert (1960) and Elliott (1963) in the terms of Hasslinger and Hohlfeld (MMB 2008): p and r are the
probabilities of leaving the good and the bad state with a frame, 1 - k and 1 - h those of loss in them. Stationary share of
lost frames: ((1 - k) r + (1 - h) p) / (p + r). A run ends when a frame gets through: its mean length is the share lost divided
by the probability that a frame is lost whose predecessor was not. {COUNT} frames; tolerances of {SIGMAS:g} standard deviations,
of the share with the variance that a correlation of (1 - p - r) to the power of the distance gives it; those of runs other than
the simple model's, which are geometric, with a third on top."""
    plot = Plot("link-bursts", "Runs of lost frames", "at least so many frames", "share of runs", curves, logarithmic_y=True)
    return Chapter("Losses in bursts", text, figures, [plot])


def _closed_form(p: float, r: float, in_good: float, in_bad: float) -> tuple[float, float, float]:
    """Share lost, mean run of lost frames, and how much larger the variance of the share is than with independent losses."""
    bad = p / (p + r)
    share = (1 - bad) * in_good + bad * in_bad
    # Probability that of two frames in a row both are lost.
    stay_good, stay_bad = (1 - p) * in_good + p * in_bad, r * in_good + (1 - r) * in_bad
    both = (1 - bad) * in_good * stay_good + bad * in_bad * stay_bad
    begins = share - both
    # The covariance at distance d is c (1 - p - r)^d.
    memory = 1 - p - r
    covariance = bad * (1 - bad) * (in_bad - in_good) ** 2
    clustering = 1 + 2 * covariance * memory / (1 - memory) / (share * (1 - share))
    return share, share / begins, clustering


def _fades() -> Chapter:
    """Of bit error rates 1e-6 and 1e-2, in frames of some lengths at 64 kbit/s."""
    count, good, bad, rate = 20_000, 10.0, 1.0, 64e3
    fades = {"good": f"{good} s", "bad": f"{bad} s"}
    figures = []
    for length in (28, 250, 1000):
        link = {"loss": {"model": "two-state", **fades}, "rate": f"{rate} bit/s", "overhead": "0 B"}
        gone = lost(send(link, steady(count, 20.0), payload=length - IP_UDP))
        figures.append(_share(f"two-state, {length} bytes: share", _hit(good, bad, 8 * length, rate), gone.mean(), count))
    gone = lost(send({"loss": {"model": "gilbert-elliott-in-time", **fades}}, steady(count, 1.0)))
    share, memory = bad / (good + bad), exp(-1 / good - 1 / bad)
    clustering = (1 + memory) / (1 - memory)
    figures.append(_share("Gilbert-Elliott in time, a frame a second: share", share, gone.mean(), count, clustering))
    leaves = (1 - share) * (1 - memory)
    runs = _runs(gone)
    spread = sqrt(1 - leaves) / leaves
    tolerance = SIGMAS * spread / sqrt(len(runs))
    figures.append(Figure("the same: mean run of lost frames", "frames", 1 / leaves, runs.mean(), absolute=tolerance))
    text = f"""
Good times of {good:g} s and bad ones of {bad:g} s on the mean, both exponentially distributed. A frame of a two-state channel
survives with p exp((Q - H) T) 1: p is the stationary distribution of the states, Q their generator, H the rate of errors in
each (bits a second times -ln(1 - b), with b = 1e-6 and 1e-2), T the time that the frame takes at 64 kbit/s; {count} frames
with 20 s between them, in which the channel forgets its state. Seen each second, the states of Gilbert and Elliott's channel
in time are a Markov chain, whose correlation at a distance of d seconds is exp(-d (1/{good:g} + 1/{bad:g})). Tolerances as
above."""
    return Chapter("Losses in fades", text, figures)


def _hit(good: float, bad: float, bits: float, rate: float) -> float:
    """Probability that a frame is hit on a two-state channel, by the eigenvalues of its generator less the rates of errors."""
    errors = np.diag([-rate * log1p(-1e-6), -rate * log1p(-1e-2)])
    generator = np.array([[-1 / good, 1 / good], [1 / bad, -1 / bad]])
    values, vectors = np.linalg.eig((generator - errors) * bits / rate)
    survives = vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)
    stationary = np.array([good, bad]) / (good + bad)
    return float(1 - stationary @ survives @ np.ones(2))


def _wrong_bytes() -> Chapter:
    figures = []
    mean = 10_000
    for distribution in ("exponential", "uniform"):
        for length in (100, 1500):
            loss = {"model": "byte-intervals", "interval": f"{mean} B", "distribution": distribution}
            gone = lost(send({"loss": loss, "overhead": "0 B"}, steady(COUNT, 1e-3), payload=length - IP_UDP))
            expected = 1 - exp(-length / mean) if distribution == "exponential" else 1 - (1 - length / (2 * mean)) ** 2
            figures.append(_share(f"{distribution} distances, {length} bytes: share", expected, gone.mean(), COUNT))
    text = f"""
Wrong bytes at distances of {mean} bytes on the mean, in {COUNT} frames each. With exponential distances a frame of S bytes is
lost with probability 1 - exp(-S / mean). With uniform ones up to twice the mean m it is lost with 1 - (1 - S / 2m)²: of a
renewal process the distance from any place to the next event has the density (1 - F(x)) / m, F being the distribution of the
distances."""
    return Chapter("Wrong bytes", text, figures)


def _duplicates() -> Chapter:
    figures = []
    for probability, loss in ((0.01, 0.0), (0.2, 0.0), (0.2, 0.1)):
        arrived = len(send({"duplication": probability, "loss": loss}, steady(COUNT, 1e-4)).received["right"])
        expected = (1 + probability) * (1 - loss)
        # Copies of one frame are lost independently of each other.
        variance = probability * (1 - probability) * (1 - loss) ** 2 + (1 + probability) * loss * (1 - loss)
        figures.append(
            Figure(
                f"duplication {probability:g}, loss {loss:g}: frames that arrive for each that was sent",
                "",
                expected,
                arrived / COUNT,
                absolute=SIGMAS * sqrt(variance / COUNT),
            )
        )
    return Chapter("Duplicates", "Each duplicate is lost or not by itself: (1 + d) (1 - P) arrive of each.", figures)


def _bit_errors() -> Chapter:
    figures = []
    lengths = (28, 128, 528, 1500)
    curves = []
    for rate in (1e-6, 1e-5, 1e-4):
        shares = []
        for length in lengths:
            count = 10_000
            ran = send({"corruption": rate}, steady(count, 1e-4), payload=length - IP_UDP)
            bits = 8 * length
            expected = 1 - (1 - rate) ** bits
            shares.append(ran.statistics["segment"]["stations"]["left"]["damaged"] / count)
            figures.append(_share(f"bit error rate {rate:g}, {length} bytes: damaged frames", expected, shares[-1], count))
            if length == 1500:
                figures.append(_inverted(ran.received["right"], rate, bits, length))
        curves.append(curve(f"{rate:g}", lengths, [1 - (1 - rate) ** (8 * length) for length in lengths], measured=False))
        curves.append(curve(f"{rate:g}", lengths, shares, measured=True))
    text = """
With a bit error rate b and independent errors, a packet of n bits is damaged with probability 1 - (1 - b)^n, and n b bits of it
are inverted on the mean, counted in the frames as they arrive. `frames: dropped` loses the same frames (`test_link.py`)."""
    plot = Plot("link-bit-errors", "Damaged frames", "layer-3 length, bytes", "share", curves, logarithmic_y=True)
    return Chapter("Bit errors", text, figures, [plot])


def _inverted(arrived: list[tuple[float, bytes]], rate: float, bits: int, length: int) -> Figure:
    inverted = 0
    for number, (_, data) in enumerate(arrived):
        sent = udp(LEFT, RIGHT, length - IP_UDP, identification=number)
        inverted += 0 if sent == data else (int.from_bytes(sent, "big") ^ int.from_bytes(data, "big")).bit_count()
    expected = rate * bits * len(arrived)
    return Figure(
        f"bit error rate {rate:g}, {length} bytes: bits inverted", "", expected, inverted, absolute=SIGMAS * sqrt(expected)
    )
