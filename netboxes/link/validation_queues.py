# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues beside queueing theory and the delays that active queue management aims at."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, factorial, sqrt

import numpy as np
from numpy.typing import NDArray

from netboxes.link.measured import IP_UDP, OVERHEAD, curve, delays_s, lost, poisson, send, steady
from netboxes.validation import Chapter, Figure, Plot

RATE = 10e6
PAYLOAD = 1250 - IP_UDP - OVERHEAD
#: A frame's time on the link, s.
SERVICE_S = 1250 * 8 / RATE
COUNT = 60_000


def chapters() -> Iterator[Chapter]:
    yield _waiting()
    yield _drop_tail()
    yield _managed()


def _link(queue: object) -> dict[str, object]:
    return {"rate": f"{RATE} bit/s", "queue": queue}


def _waiting() -> Chapter:
    figures, measured = [], []
    loads = (0.3, 0.5, 0.7, 0.9)
    for load in loads:
        ran = send(_link(1_000_000), poisson(COUNT, load / SERVICE_S, seed=7), payload=PAYLOAD)
        measured.append((delays_s(ran) - SERVICE_S).mean() * 1e3)
        expected = _pollaczek_khinchine(load)
        # Waits are correlated over about 1/(1 - load)^2 services.
        tolerance = 4 * expected / sqrt(COUNT * (1 - load) ** 2 * load) * 1.2
        figures.append(Figure(f"load {load:g}: mean wait", "ms", expected, measured[-1], absolute=tolerance))
    x = np.linspace(0.05, 0.93, 45)
    curves = [
        curve("mean wait", x, [_pollaczek_khinchine(load) for load in x], measured=False),
        curve("mean wait", loads, measured, measured=True),
    ]
    text = f"""
Poisson arrivals of frames of 1250 bytes at {RATE / 1e6:g} Mbit/s, {SERVICE_S * 1e3:g} ms each: an M/D/1 queue, in which a frame
waits for load / (2 (1 - load)) services on the mean (Pollaczek and Khinchine). {COUNT} frames; waits of a full queue are
correlated for long, which the tolerance allows for."""
    return Chapter("Waiting in a queue", text, figures, [Plot("link-queue", "Mean wait in an M/D/1 queue", "load", "ms", curves)])


def _pollaczek_khinchine(load: float) -> float:
    """ms."""
    return load / (2 * (1 - load)) * SERVICE_S * 1e3


def _drop_tail() -> Chapter:
    figures = []
    for load, frames in ((0.8, 5), (0.95, 10), (1.1, 10), (1.5, 20)):
        gone = lost(send(_link(frames), poisson(COUNT, load / SERVICE_S, seed=8), payload=PAYLOAD)).mean()
        expected = _blocking(load, frames + 1)
        # Losses come in clusters while the queue is full.
        deviation = sqrt(expected * (1 - expected) / COUNT * 2 * frames)
        figures.append(
            Figure(f"load {load:g}, room for {frames}: share dropped", "", expected, float(gone), absolute=3 * deviation)
        )
    text = """
A queue of K - 1 frames besides the one being sent, with Poisson arrivals: an M/D/1/K system, whose share of losses follows from
the Markov chain at the ends of services (Gross and Harris, Fundamentals of Queueing Theory, 5.1.8). The tolerance allows for
the clusters in which a full queue drops."""
    return Chapter("Drop-tail", text, figures)


def _blocking(load: float, frames: int) -> float:
    """Of an M/G/1/K system with K = room, the one in service included, and constant service."""
    arrivals = [exp(-load) * load**n / factorial(n) for n in range(frames + 1)]
    # States 0 … room-1 as left behind by departures.
    chain: NDArray[np.float64] = np.zeros((frames, frames))
    for state in range(frames):
        base = max(state - 1, 0)
        for n in range(frames - 1 - base):
            chain[state, base + n] = arrivals[n]
        chain[state, frames - 1] = 1 - chain[state, : frames - 1].sum()
    equations = np.vstack([chain.T - np.eye(frames), np.ones(frames)])
    left = np.linalg.lstsq(equations, np.append(np.zeros(frames), 1.0), rcond=None)[0]
    return float(1 - 1 / (left[0] + load))


def _managed() -> Chapter:
    figures, curves = [], []
    overload = 1.05
    arrivals = steady(60_000, SERVICE_S / overload)
    for name, target_ms, tolerance in (("codel", 5.0, 5.0), ("fq-codel", 5.0, 5.0), ("pie", 15.0, 3.0)):
        ran = send(_link(name), arrivals, payload=PAYLOAD)
        waits = (delays_s(ran) - SERVICE_S) * 1e3
        settled = waits[len(waits) // 2 :]
        figures.append(
            Figure(f"{name}, load {overload:g}: mean wait when settled", "ms", target_ms, settled.mean(), absolute=tolerance)
        )
        figures.append(
            Figure(f"{name}: share dropped when settled", "", 1 - 1 / overload, lost(ran)[30_000:].mean(), absolute=0.005)
        )
        shown = waits[:: len(waits) // 200]
        curves.append(curve(name, np.arange(len(shown)) * 60.0 / overload / len(shown), shown, measured=True))
    tail = send(_link(200), arrivals, payload=PAYLOAD)
    figures.append(
        Figure(
            "fifo of 200: mean wait when settled", "ms", 200.0, ((delays_s(tail) - SERVICE_S) * 1e3)[30_000:].mean(), absolute=1.5
        )
    )
    text = """
A stream at a constant rate of 1.05 times the link's, which does not slow down when it loses. Each discipline has to drop 4.8 %
of it, and holds the wait near its target: CoDel, whose control is for streams that respond, after a minute in which it seeks
the rate of drops, within a target's width, as it leaves its dropping state whenever a wait is below the target and then goes on
from where it was; PIE by its controller. A drop-tail queue is full."""
    plot = Plot("link-aqm", "Wait under an overload of 5 %", "s", "ms", curves, logarithmic_y=False)
    return Chapter("Active queue management", text, figures, [plot])
