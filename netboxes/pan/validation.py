# SPDX-License-Identifier: GPL-2.0-or-later
"""The personal area network beside the arithmetic of IEEE 802.15.4-2006 and RFC 4944 (arithmetic.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netboxes.pan import arithmetic
from netboxes.pan.network_under_test import at_snr, paced, saturated, station
from netboxes.validation import Chapter, Curve, Figure, Plot


def chapters() -> Iterator[Chapter]:
    """Goodput, delay, errors and contention."""
    yield _goodput()
    yield _delay()
    yield _errors()
    yield _contention()


def _goodput() -> Chapter:
    figures, plots = [], []
    curves: list[Curve] = []
    for acknowledged in (True, False):
        lengths = (40, 80, 115, 116, 300, 600, 1000, 1500)
        measured = [saturated(1, length, 30.0, acknowledgements=acknowledged)[1] * length * 8 / 1e3 for length in lengths]
        label = "acknowledged" if acknowledged else "not acknowledged"
        figures += [
            Figure(f"{length} bytes, {label}", "kbit/s", arithmetic.goodput(length, acknowledged=acknowledged) / 1e3, value, 0.01)
            for length, value in zip(lengths, measured, strict=True)
            if length in (40, 115, 1500)
        ]
        every = range(40, 1501, 4)
        expected = [arithmetic.goodput(length, acknowledged=acknowledged) / 1e3 for length in every]
        curves += [Curve(label, list(every), expected, False), Curve(label, lengths, measured, True)]
    plots.append(Plot("pan-goodput", "Goodput of one sender", "layer-3 packet, bytes", "kbit/s", curves))
    bare = arithmetic.LONGEST_FRAME - 5
    cycle = 3.5 * arithmetic.BACKOFF_PERIOD + arithmetic.airtime(arithmetic.LONGEST_FRAME) + arithmetic.LIFS
    text = f"""
A sensor that always has a packet to send, alone with the coordinator at 5 m. A packet takes, for each of its fragments (RFC
4944), a mean backoff of 3.5 periods of 320 us, an assessment of 128 us, a turnaround of 192 us, the frame at 250 kbit/s,
turnaround and acknowledgement (192 + 352 us), and an interframe space of 640 or 192 us. This is the arithmetic of Latré et
al. 2006 ("Throughput and delay analysis of unslotted IEEE 802.15.4", Journal of Networks 1(1)), who leave out assessment and
turnaround before the frame and whose best case has neither addresses nor acknowledgements: {bare} bytes in {cycle / 1e3:.2f}
ms are the {bare * 8e3 / cycle:.0f} kbit/s that they give as the most. With addresses, an adaptation layer and what they
leave out it is less. Tolerance: the mean of some thousand backoffs scatters by less than 1 %.
"""
    return Chapter("Goodput of one sender", text, figures, plots)


def _delay() -> Chapter:
    figures = []
    for length in (40, 115, 116, 600, 1500):
        records = paced(length, 0.5, 300).records
        records = records[records["in_ns"] >= 1e9]
        delay = float((records["out_ns"] - records["in_ns"]).mean()) / 1e6
        last = arithmetic.fragments(length)[-1]
        tail = arithmetic.TURNAROUND + arithmetic.airtime(arithmetic.ACK_FRAME) + arithmetic.interframe_space(last)
        expected = (arithmetic.packet_cycle(length) - tail) / 1e3
        figures.append(Figure(f"{length} bytes, {len(arithmetic.fragments(length))} frames", "ms", expected, delay, 0.03))
    text = """
From port to port when nothing else is sent: the same times, without what follows the last fragment. 300 packets each; with
one frame a packet the mean backoff scatters by 2 %.
"""
    return Chapter("Delay with fragmentation", text, figures)


def _errors() -> Chapter:
    figures = []
    points: list[tuple[float, float]] = []
    count = 1500
    for decibels in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0):
        emulation = paced(100, 0.02, count, acknowledgements=False, **at_snr(decibels))
        snr = station(emulation, "hub")["snr"]
        measured = 1 - len(emulation.received["hub"]) / count
        points.append((snr, measured))
        expected = arithmetic.frame_error_rate(snr, arithmetic.fragments(100)[0])
        spread = 4 * math.sqrt(expected * (1 - expected) / count)
        figures.append(Figure(f"SNR {snr:.2f} dB", "", expected, measured, absolute=max(spread, 0.002)))
    sensitivity = paced(28, 0.02, 3000, acknowledgements=False, **at_snr(0.41))
    figures.append(
        Figure(
            "at the sensitivity, frame of 40 bytes",
            "",
            arithmetic.frame_error_rate(station(sensitivity, "hub")["snr"], 40),
            1 - len(sensitivity.received["hub"]) / 3000,
            absolute=0.01,
        )
    )
    axis = [x / 20 for x in range(-40, 31)]
    curve = [arithmetic.frame_error_rate(x, arithmetic.fragments(100)[0]) for x in axis]
    plot = Plot(
        "pan-errors",
        "Frame errors by signal-to-noise ratio, 112 bytes",
        "SNR, dB",
        "frame error ratio",
        [Curve("", axis, curve, False), Curve("", [x for x, _ in points], [y for _, y in points], True)],
    )
    text = """
One frame a packet, not acknowledged, 1500 packets at each power. Expected is the bit error rate of O-QPSK in IEEE
802.15.4-2006, E.4.1.8, for every bit of the frame and its PHY header. Tolerance: four standard deviations of a binomial. The
`sensitivity` is where frames of 20 bytes have 1 % errors (6.1.7), at an SNR of 0.4 dB.
"""
    return Chapter("Frame errors by signal-to-noise ratio", text, figures, [plot])


def _contention() -> Chapter:
    numbers = (1, 2, 3, 5, 7, 10, 15)
    frame = arithmetic.fragments(100)[0]
    measured, expected = [], []
    figures = []
    for number in numbers:
        _, rate = saturated(number, 100, 30.0, mac_max_frame_retries=0)
        measured.append(rate * 0.8)
        expected.append(arithmetic.contention(number, frame)[0] * 0.8)
        if number <= 10:
            figures.append(Figure(f"{number} senders", "kbit/s", expected[-1], measured[-1], 0.02 if number == 1 else 0.15))
    curves = [Curve("", numbers, expected, False), Curve("", numbers, measured, True)]
    plot = Plot("pan-contention", "Goodput of contending senders, 100 bytes", "senders", "kbit/s in all", curves)
    text = """
Sensors that always have a packet of 100 bytes to send, all in range of each other, default backoff, frames not repeated.
Expected is a fixed point in the manner of Di Marco et al. 2012 ("Analytical modeling of multi-hop IEEE 802.15.4 networks",
IEEE Trans. Vehicular Technology 61(7)), written down for one assessment in continuous time (`arithmetic.contention`): every
assessment meets a busy channel with the same probability, a frame collides when another station's assessment falls within
the turnaround. Such decoupling is an approximation, good to 15 % up to 10 senders and too low for more, where most
assessments come together after a frame.
"""
    return Chapter("Contending senders", text, figures, [plot])
