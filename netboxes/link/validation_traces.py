# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces, and outages, beside what they say."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import numpy as np

from netboxes.link.measured import IP_UDP, OVERHEAD, Times, curve, delays_s, lost, send, steady
from netboxes.validation import Chapter, Figure, Plot


def chapters() -> Iterator[Chapter]:
    with tempfile.TemporaryDirectory() as name:
        yield _opportunities(Path(name))
        yield _series(Path(name))
    yield _outages()


def _arrived_bytes(arrivals: list[tuple[float, bytes]], edges: Times, overhead: int) -> Times:
    """In each window, on the link."""
    times = np.array([time for time, _ in arrivals])
    sizes = np.array([len(data) - 14 + overhead for _, data in arrivals], np.float64)
    return np.histogram(times, edges, weights=sizes)[0]


def _opportunities(folder: Path) -> Chapter:
    # A rate that wanders between 1 and 10 Mbit/s, as a cellular link's does.
    chance = np.random.default_rng(2)
    rate = np.clip(np.exp(np.cumsum(chance.normal(0, 0.05, 10_000)) + 1.2), 1, 10) * 1e6
    milliseconds = np.repeat(np.arange(1, 10_001), np.diff(np.floor(np.cumsum(rate) * 1e-3 / 8 / 1504), prepend=0).astype(int))
    (folder / "cell.trace").write_text("\n".join(str(ms) for ms in milliseconds) + "\n10000\n")
    moments = np.append(milliseconds, 10_000)
    begin = 1.0
    # Twice as many full packets as can pass in 20 s, two rounds of the trace.
    arrivals = begin + 10 / len(moments) / 2 * np.arange(4 * len(moments))
    ran = send({"trace": "cell.trace", "overhead": "4 B", "queue": 1_000_000}, arrivals, payload=1500 - IP_UDP, folder=folder)
    window = 0.5
    # A moment belongs to the window that ends with it, as do the frames that leave then.
    edges = begin + 1e-7 + window * np.arange(41)
    got = _arrived_bytes(ran.received["right"], edges, 4)
    times = begin + np.concatenate([moments, 10_000 + moments]) / 1e3
    offered = 1504 * np.histogram(times, edges)[0]
    figures = [
        Figure("bytes in 20 s", "B", float(offered.sum()), float(got.sum())),
        Figure("greatest difference in a window of 0.5 s", "B", 0.0, float(np.abs(got - offered).max()), absolute=1504.0),
    ]
    middle = edges[:-1] - begin + window / 2
    curves = [
        curve("rate", middle, offered * 8 / window / 1e6, measured=False),
        curve("rate", middle, got * 8 / window / 1e6, measured=True),
    ]
    text = """
A made trace of 10 s between 1 and 10 Mbit/s, played twice on a link with full packets always waiting: in each window of half a
second as many bytes arrive as the trace has moments, 1504 each. One packet may fall on the other side of a window's end."""
    return Chapter(
        "Traces in Mahimahi's format", text, figures, [Plot("link-mahimahi", "A trace and what passes", "s", "Mbit/s", curves)]
    )


def _series(folder: Path) -> Chapter:
    rows = ["time_s,rate_bit_s,delay_s,loss"]
    seconds = np.arange(0, 41)
    rate = 2e6 + 1.5e6 * np.sin(seconds / 40 * 4 * np.pi)
    delay = 0.05 + 0.04 * np.cos(seconds / 40 * 2 * np.pi)
    loss = np.where(seconds < 20, 0.0, 0.2)
    rows += [f"{t},{r:.6f},{d:.9f},{p}" for t, r, d, p in zip(seconds, rate, delay, loss, strict=True)]
    (folder / "series.csv").write_text("\n".join(rows) + "\n")
    figures, curves = [], []
    bits = (500 + IP_UDP + OVERHEAD) * 8
    # Rate: saturated; every frame's end is where the integral of the rate has grown by its bits.
    for between in ("line", "hold"):
        trace = {"file": "series.csv", "between": between}
        full = send({"trace": trace, "queue": 1_000_000}, np.full(16_000, 1.0), payload=500, folder=folder)
        edges = 1.0 + np.arange(0, 20)
        passed = np.histogram([time for time, _ in full.received["right"]], edges)[0] * bits
        # Frames arrive after a delay: what arrives in a second was sent a delay before.
        fine = np.linspace(0, 40, 400_001)
        at = np.interp(fine, seconds, rate) if between == "line" else rate[np.minimum(fine.astype(int), 40)]
        late = np.interp(fine, seconds, delay) if between == "line" else delay[np.minimum(fine.astype(int), 40)]
        sent = np.histogram(1.0 + fine + late, edges, weights=at * 1e-4)[0]
        figures.append(
            Figure(
                f"{between}: greatest difference of bits in a second, first 19 s",
                "bit",
                0.0,
                float(np.abs(passed - sent).max()),
                absolute=2.0 * bits + float(np.abs(np.diff(rate)).max()) * 1e-3,
            )
        )
        if between == "line":
            curves = [
                curve("rate", edges[:-1] - 0.5, sent / 1e6, measured=False),
                curve("rate", edges[:-1] - 0.5, passed / 1e6, measured=True),
            ]
        thin = send({"trace": trace}, steady(4_000, 0.01), payload=500, folder=folder)
        gone = lost(thin)
        figures.append(
            Figure(f"{between}: lost after 21 s", "", 0.2, float(gone[2_100:4_000].mean()), absolute=4 * sqrt(0.16 / 1900))
        )
        figures.append(Figure(f"{between}: lost before 19 s", "", 0.0, float(gone[:1_900].mean())))
        # What a single frame takes: its bits at the rate of its time, and the delay at the end of them.
        entered = 0.01 * np.flatnonzero(~gone)
        value = np.interp(entered, seconds, delay) if between == "line" else delay[np.minimum(entered.astype(int), 40)]
        speed = np.interp(entered, seconds, rate) if between == "line" else rate[np.minimum(entered.astype(int), 40)]
        off = np.abs(delays_s(thin) - value - bits / speed)
        settled = np.abs(entered - np.round(entered)) > 0.015  # not within a step of held values
        figures.append(
            Figure(f"{between}: greatest difference of a delay", "ms", 0.0, float(off[settled].max() * 1e3), absolute=0.1)
        )
    text = """
A CSV of rate (a sine), delay (a cosine) and loss over 40 s. With full packets waiting, what arrives in each second is the
integral of the rate a delay before, to within a frame at each end; single frames take the delay of their moment; losses are the
CSV's. The step of the loss at 20 s is joined by a line, too, so a second around it is left out."""
    return Chapter(
        "Traces in CSV", text, figures, [Plot("link-series", "Rate over time, and what arrives", "s", "Mbit/s", curves)]
    )


def _outages() -> Chapter:
    figures = []
    for distribution, up, down in (("exponential", 4.0, 1.0), ("exponential", 10.0, 0.5), ("fixed", 4.0, 1.0)):
        total = 3000.0
        ran = send(
            {"outage": {"up": f"{up} s", "down": f"{down} s", "distribution": distribution}}, steady(30_000, total / 30_000)
        )
        share = down / (up + down)
        # Variance of the time average of an alternating process with exponential times.
        memory = 1 / (1 / up + 1 / down)
        deviation = sqrt(2 * share * (1 - share) * memory / total) if distribution == "exponential" else 1e-4
        figures.append(
            Figure(
                f"{distribution}, {up:g} s up, {down:g} s down: share lost",
                "",
                share,
                float(lost(ran).mean()),
                absolute=4 * deviation,
            )
        )
        downs = [event for event in ran.events("link_down") if event["station"] == "right"]
        expected = total / (up + down)
        spread = sqrt(expected) if distribution == "exponential" else 1.0
        figures.append(
            Figure(
                f"{distribution}, {up:g} s up, {down:g} s down: outages announced", "", expected, len(downs), absolute=4 * spread
            )
        )
    text = """
A frame every 0.1 s for 3000 s: the share lost is that of the time in which the link is down, and each outage is announced once
for each station. The tolerance is four standard deviations of the time average of an alternating process with exponential
times."""
    return Chapter("Outages", text, figures)
