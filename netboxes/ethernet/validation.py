# SPDX-License-Identifier: GPL-2.0-or-later
"""Ethernet beside the arithmetic of IEEE 802.3 and of queues."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, floor, log1p, sqrt

import numpy as np

from contracts.nature import SPEED_OF_LIGHT
from netboxes.ethernet.lan_under_test import (
    GAP,
    delays_s,
    delivered,
    lan,
    measure,
    on_wire,
    packets,
    saturated,
)
from netboxes.validation import Chapter, Curve, Figure, Plot


def chapters() -> Iterator[Chapter]:
    """Links, bit errors, the shared medium, the switch."""
    yield _serialisation()
    yield _propagation()
    yield _bit_errors()
    yield _shared()
    yield _capture()
    yield _switch()
    yield _port()


def _serialisation() -> Chapter:
    lengths = (46, 100, 250, 500, 1000, 1500)
    figures, curves = [], []
    for rate, name in ((100e6, "100 Mbit/s"), (1e9, "1 Gbit/s")):
        measured = []
        for length in lengths:
            count = 2000
            emulation = measure(lan("link", 2, rate=f"{rate} bit/s", queue=count), {0: packets(0, 1, length, [0.0] * count)})
            left = np.sort(delivered(emulation)["out_ns"])
            measured.append((count - 1) / float(left[-1] - left[0]) * 1e9)
        expected = [rate / on_wire(length) for length in lengths]
        figures += [
            Figure(f"{name}, {length} bytes", "frames/s", e, m, 1e-6)
            for length, e, m in zip(lengths, expected, measured, strict=True)
            if length in (46, 500, 1500)
        ]
        every = range(46, 1501, 4)
        curves += [
            Curve(name, list(every), [rate / on_wire(length) / 1e3 for length in every], False),
            Curve(name, lengths, [frames_s / 1e3 for frames_s in measured], True),
        ]
    plot = Plot(
        "ethernet-frames", "Frames on a full-duplex link", "layer-3 packet, bytes", "1000 frames/s", curves, logarithmic_y=True
    )
    text = """
2000 frames at once. A frame takes preamble and start delimiter (8 bytes), header (14), payload and padding up to 64 bytes,
check sequence (4) and a gap (12) of bits (IEEE 802.3-2018, 3.1.1 and 4A.4.2): 672 ns for the smallest at 1 Gbit/s, which is
the well-known 1 488 095 frames/s. Tolerance: whole nanoseconds.
"""
    return Chapter("Frames on a full-duplex link", text, figures, [plot])


def _propagation() -> Chapter:
    figures = []
    for length, distance, factor in ((100.0, "100 m", 0.67), (10e3, "10 km", 0.68), (2000e3, "2000 km", 0.68)):
        network = lan("link", 2, length=distance, velocity_factor=factor)
        delay = float(delays_s(measure(network, {0: packets(0, 1, 500, [0.0])}))[0])
        expected = on_wire(500, gap=False) / 1e9 + length / (factor * SPEED_OF_LIGHT)
        figures.append(Figure(f"{distance}, 500 bytes, 1 Gbit/s", "us", expected * 1e6, delay * 1e6, absolute=0.002))
    text = """
From port to port: the frame's bits, without the gap, and the wire's length by the velocity of its signals.
"""
    return Chapter("Delay of a wire", text, figures)


def _bit_errors() -> Chapter:
    count = 10_000
    media = {
        "link": (lan("link", 2, rate="100 Mbit/s"), 1),
        "shared": (lan("shared", 3, rate="100 Mbit/s"), 1),
        "switched": (lan("switched", 3, rate="100 Mbit/s"), 2),
    }
    rates = (1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)
    figures, curves = [], []
    axis = np.logspace(-7, -4, 61)
    bits = 8 * (1000 + 18)
    for medium, (network, wires) in media.items():

        def expected(rate: float, wires: int = wires) -> float:
            return 1.0 - exp(bits * wires * log1p(-rate))

        measured = []
        for rate in rates:
            times = [k * 1.2e-4 for k in range(count)]
            emulation = measure(network | {"bit_error_rate": rate}, {0: packets(0, 1, 1000, times)})
            measured.append(1.0 - len(delivered(emulation)) / count)
            spread = 4 * sqrt(expected(rate) * (1 - expected(rate)) / count)
            if rate in (1e-6, 1e-5, 1e-4):
                figures.append(Figure(f"{medium}, {rate:g}", "", expected(rate), measured[-1], absolute=spread))
        curves += [
            Curve(medium, [float(x) for x in axis], [expected(float(x)) for x in axis], False),
            Curve(medium, rates, measured, True),
        ]
    plot = Plot(
        "ethernet-errors",
        "Frames lost by bit errors, 1000 bytes",
        "bit error rate",
        "frame loss ratio",
        curves,
        logarithmic_x=True,
        logarithmic_y=True,
    )
    text = """
Every bit from header to check sequence is wrong with the same probability, independent of the others, and a frame with a
wrong bit is lost: 1 - (1 - p)^bits. Behind a switch a frame passes two wires. 10 000 frames; tolerance: four standard
deviations of a binomial.
"""
    return Chapter("Bit errors", text, figures, [plot])


def _shared() -> Chapter:
    numbers = (1, 2, 5, 10)
    figures, curves = [], []
    rate, delay = 100e6, 500e-9
    for length in (100, 500, 1500):
        measured = []
        for number in numbers:
            seconds = 0.3
            arrived = delivered(saturated(number, length, seconds))
            measured.append(len(arrived) / seconds * length * 8 / 1e6)
            # Between frames the medium is idle for a gap at the most, and busy for the propagation at the least.
            most, least = rate / (on_wire(length, gap=False) + delay * rate), rate / on_wire(length)
            middle, half = (most + least) / 2, (most - least) / 2
            if number in (1, 10):
                per_frame = length * 8 / 1e6
                figures.append(
                    Figure(
                        f"{length} bytes, {number} senders: goodput",
                        "Mbit/s",
                        (least if number == 1 else middle) * per_frame,
                        measured[-1],
                        0.002,
                        absolute=0.0 if number == 1 else half * per_frame + 0.05,
                    )
                )
        expected = rate / on_wire(length) * length * 8 / 1e6
        curves += [
            Curve(f"{length} bytes", numbers, [expected] * len(numbers), False),
            Curve(f"{length} bytes", numbers, measured, True),
        ]
    arrived = delivered(saturated(10, 1500, 1.0))
    shares = np.bincount(arrived["station_in"], minlength=10)[:10] / len(arrived)
    jain = float(shares.sum() ** 2 / (10 * (shares**2).sum()))
    figures.append(Figure("1500 bytes, 10 senders: Jain's index of fairness", "", 1.0, jain, absolute=0.01))
    plot = Plot("ethernet-shared", "Shared medium of 100 Mbit/s", "senders", "goodput in all, Mbit/s", curves)
    text = """
Stations that always have a frame, on one half-duplex wire of 100 Mbit/s and 500 ns. ns-3's csma has no collisions, so none
are paid for: one station has frames and gaps, of several the next may begin sooner than the gap, which is the sender's alone,
but not before the frame has passed the wire. The medium carries between the two. (Real CSMA/CD carries less with short
frames and many stations: Boggs, Mogul and Kent, "Measured capacity of an Ethernet", SIGCOMM 1988.) The
plot's lines are of one station.
"""
    return Chapter("Shared medium: capacity", text, figures, [plot])


def _capture() -> Chapter:
    rate, slot = 100e6, 512
    figures, curves = [], []
    delays = (0.0, 100.0, 250.0, 500.0, 750.0)
    measured, expected = [], []
    for delay in delays:
        # With random lengths the times at which it looks are anywhere in a frame.
        arrived = delivered(saturated(2, (1000, 1500), 4.0, delay=f"{delay} ns"))
        senders = arrived["station_in"][np.argsort(arrived["out_ns"])].astype(int)
        measured.append(float((np.diff(senders) != 0).mean()))
        expected.append((GAP - floor(delay * 1e-9 * rate / 8)) * 8 / (1.5 * slot))
    figures = [Figure(f"{delay:g} ns", "", e, m, 0.1) for delay, e, m in zip(delays, expected, measured, strict=True)]
    axis = [float(x) for x in range(0, 960, 4)]
    curves = [
        Curve("", axis, [(GAP - floor(x * 1e-9 * rate / 8)) * 8 / (1.5 * slot) for x in axis], False),
        Curve("", delays, measured, True),
    ]
    plot = Plot("ethernet-capture", "How often the other station is next", "propagation, ns", "ratio of frames", curves)
    text = """
Two stations that always have a frame, of 1000 to 1500 bytes. The one that waits looks again after 1 or 2 slots of 512 bit
times, 1.5 in the mean, and finds the medium idle when that falls between the end of the propagation and the end of the
sender's gap of 96 bits, after which the sender goes on: with a probability of (96 - propagation) / (1.5 x 512) for each
frame, the propagation taken in whole bytes, as everything else lasts whole bytes. So a station keeps the medium for some ten
frames: the capture effect, which Ethernets with collisions have by other means. `backoff` changes it. Tolerance: some 20 000
frames, 10 %.
"""
    return Chapter("Shared medium: who is next", text, figures, [plot])


def _switch() -> Chapter:
    figures = []
    wires = 2 * 500e-9 + 5e-6
    for length in (46, 500, 1500):
        network = lan("switched", 3, rate="100 Mbit/s", delay="500 ns", switching_delay="5 us")
        network["stations"]["s1"] = {"rate": "1 Gbit/s"}
        delay = float(delays_s(measure(network, {0: packets(0, 1, length, [0.0])}))[0])
        expected = on_wire(length, gap=False) * (1 / 100e6 + 1 / 1e9) + wires
        figures.append(
            Figure(f"{length} bytes, from 100 Mbit/s to 1 Gbit/s: delay", "us", expected * 1e6, delay * 1e6, absolute=0.003)
        )
    count, pairs = 2000, 5
    times = [k * on_wire(1500) / 100e6 for k in range(count)]
    emulation = measure(
        lan("switched", 2 * pairs, rate="100 Mbit/s"), {i: packets(i, i ^ 1, 1500, times) for i in range(2 * pairs)}
    )
    rate = len(delivered(emulation)) * on_wire(1500) / (count * on_wire(1500) / 100e6) / 1e6
    figures.append(Figure("five pairs of stations of 100 Mbit/s, both ways: all of it", "Mbit/s", 1000.0, rate, 1e-3))
    text = """
A switch stores a frame before it forwards it: it takes the frame's bits twice, each with the rate of its wire, both wires'
propagation (500 ns each) and `switching_delay` (5 us). Stations do not share anything but the port that they send to.
"""
    return Chapter("Switch: delay and capacity", text, figures)


def _port() -> Chapter:
    service = on_wire(1000) / 100e6
    passage = on_wire(1000, gap=False) * (1 / 1e9 + 1 / 100e6) + 2 * 500e-9
    chance = np.random.default_rng(5)
    loads, measured, expected = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9), [], []
    sources, count = 20, 60_000
    for load in loads:
        network = lan("switched", sources + 1, rate="1 Gbit/s", queue=10_000)
        network["stations"][f"s{sources}"] = {"rate": "100 Mbit/s"}
        traffic = {}
        for i in range(sources):
            times = np.sort(chance.uniform(0, count * service / load, count // sources))
            traffic[i] = packets(i, sources, 1000, [float(t) for t in times])
        measured.append((float(delays_s(measure(network, traffic)).mean()) - passage) * 1e6)
        expected.append(load / (2 * (1 - load)) * service * 1e6)
    figures = [
        Figure(f"load {load:g}", "us", e, m, 0.12 if load == 0.9 else 0.06)
        for load, e, m in zip(loads, expected, measured, strict=True)
    ]
    axis = [x / 100 for x in range(5, 93)]
    curves = [
        Curve("", axis, [x / (2 * (1 - x)) * service * 1e6 for x in axis], False),
        Curve("", loads, measured, True),
    ]
    plot = Plot("ethernet-port", "Waiting at a port of a switch", "load of the port", "mean wait, us", curves)
    text = """
Twenty stations with links of 1 Gbit/s send frames of 1000 bytes, each at random times (Poisson), to one with 100 Mbit/s. What
waits for its port is an M/D/1 queue, whose mean wait is service x load / (2 - 2 load) (Pollaczek and Khinchine), a frame's
service being its bits and the gap. 60 000 frames each. Tolerance: 6 %, 12 % at a load of 0.9, where they are still few.
"""
    return Chapter("Switch: waiting at a port", text, figures, [plot])
