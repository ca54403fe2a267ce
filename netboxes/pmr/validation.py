# SPDX-License-Identifier: GPL-2.0-or-later
"""The TETRA-like network beside the arithmetic of EN 300 392-2 (arithmetic.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from contracts.names import repetition_seed
from contracts.nature import SPEED_OF_LIGHT
from netboxes.engine.virtual import emulate
from netboxes.pmr import arithmetic
from netboxes.pmr.network_under_test import BASE, HELLO, START, network, one_packet, packets, station, stream
from netboxes.validation import Chapter, Curve, Figure, Plot


def chapters() -> Iterator[Chapter]:
    """Rates, delays, half duplex, random access and errors."""
    yield _rates()
    yield _delays()
    yield _half_duplex()
    yield _access()
    yield _errors()


def _rates() -> Chapter:
    figures = []
    curves: list[Curve] = []
    for protection in arithmetic.BLOCK:
        measured = []
        for slots in (1, 2, 3, 4):
            _, goodput = stream(1500, 240.0, protection=protection, slots=slots, carriers=2, acknowledged=False)
            measured.append(goodput / 1e3)
            expected = arithmetic.goodput(1500, protection, slots) / 1e3
            figures.append(Figure(f"protection {protection}, {slots} slots: goodput", "kbit/s", expected, goodput / 1e3, 0.01))
        line = [arithmetic.goodput(1500, protection, slots) / 1e3 for slots in (1, 2, 3, 4)]
        label = f"protection {protection}"
        curves += [Curve(label, (1, 2, 3, 4), line, False), Curve(label, (1, 2, 3, 4), measured, True)]
    for acknowledged in (False, True):
        _, goodput = stream(140, 120.0, acknowledged=acknowledged)
        what = f"140 bytes, {'' if acknowledged else 'not '}acknowledged"
        expected = arithmetic.goodput(140, "none", 1, acknowledged) / 1e3
        figures.append(Figure(what, "kbit/s", expected, goodput / 1e3, 0.01))
    text = """
A terminal that always has packets of 1500 bytes for the base, in one call. A slot carries 432, 288 or 144 bits in 17 of 18
frames of 56.67 ms: 7.2, 4.8 or 2.4 kbit/s. Headers of 21 bits a block (33 more in a packet's first one) and 48 a packet are
taken off, and packets begin a frame; an acknowledgement takes another frame. Tolerance: the last packet of the measurement.
"""
    plot = Plot("pmr-rates", "Goodput by slots and protection", "slots", "kbit/s", curves)
    return Chapter("Rates", text, figures, [plot])


def _delays() -> Chapter:
    figures = []
    for setup in (0.0, 0.3, 0.5):
        expected = arithmetic.sent_by(arithmetic.access_ends(START) + setup, 1) - START
        measured = one_packet(40, call_setup_time=f"{setup} s")
        figures.append(Figure(f"40 bytes, call set-up {setup * 1e3:.0f} ms", "ms", expected * 1e3, measured * 1e3, absolute=0.01))
    for protection in arithmetic.BLOCK:
        for slots in (1, 3):
            begins = arithmetic.access_ends(START) + 0.3
            expected = arithmetic.sent_by(begins, arithmetic.blocks(1500, protection), 1, slots) - START
            measured = one_packet(1500, protection=protection, slots=slots)
            what = f"1500 bytes, protection {protection}, {slots} slots"
            figures.append(Figure(what, "ms", expected * 1e3, measured * 1e3, absolute=0.01))
    text = """
One packet from a terminal that has no call: the next access opportunity of two in each frame, call set-up (300 ms where
nothing else is said), the next slot of the channel, and the blocks, with the control frame between them. All that is exact.
"""
    return Chapter("Call set-up and transfer time", text, figures)


def _half_duplex() -> Chapter:
    figures = []
    for turnaround in (0.0, 0.1133, 0.5):
        answer = START + 1.0
        frames = {"t0": packets(0, 40, [START]), "base": [*HELLO, *packets(BASE, 40, [answer], to=0)]}
        emulation = emulate("pmr", network(acknowledged=False, turnaround_time=f"{turnaround} s"), frames)
        expected = arithmetic.sent_by(answer + turnaround, 1) - answer
        measured = emulation.received["t0"][-1][0] - answer
        what = f"answer after {turnaround * 1e3:.0f} ms to turn round"
        figures.append(Figure(what, "ms", expected * 1e3, measured * 1e3, absolute=0.01))
    times = [START + 1.5 * i for i in range(160)]
    frames = {"t0": packets(0, 1500, times), "base": [*HELLO, *packets(BASE, 1500, times, to=0)]}
    emulation = emulate("pmr", network(acknowledged=False, queue=3), frames)
    count = sum(START < at <= START + 240 for name in ("t0", "base") for at, _ in emulation.received[name])
    # Each holds the floor until the first packet that ends after 5 s; then the other turns round.
    packet = 1500 * 8 / arithmetic.goodput(1500, "none")
    turn = math.ceil(5.0 / packet) * packet
    expected = arithmetic.goodput(1500, "none") * turn / (turn + 0.1133 + arithmetic.FRAME / 2)
    figures.append(Figure("both directions saturated, together", "kbit/s", expected / 1e3, count * 12 / 240, 0.03))
    text = """
An answer in a call that is held, by the time to turn round; and both sides always having packets of 1500 bytes, who yield
the floor to each other after 5 s: together they get what one gets, less a turn-round and half a frame until the next slot
for every change. Tolerance of that: a packet more or less.
"""
    return Chapter("Half duplex", text, figures)


def _access() -> Chapter:
    figures = []
    for window in (2, 4, 8, 16):
        accesses = 0
        for repetition in range(5):
            frames = {"base": HELLO} | {f"t{i}": packets(i, 40, [START + 2.8 * k for k in range(100)]) for i in range(2)}
            parameters = network(2, access_attempts=15, access_frame=window, hang_time="0 s")
            emulation = emulate("pmr", parameters, frames, seed=repetition_seed(1, repetition))
            accesses += sum(station(emulation, f"t{i}")["accesses"] for i in range(2))
        expected = arithmetic.accesses_of_two(window)
        # The number of repeated collisions is geometric.
        again = 1 / window
        spread = 4 * math.sqrt(again) / (1 - again) / math.sqrt(500)
        figures.append(
            Figure(f"two terminals, access frame {window}: accesses of each", "", expected, accesses / 1000, absolute=spread)
        )
    text = """
Two terminals that want a call at the same moment take the same opportunity and collide; then each draws one of the access
frame's. 500 times for each access frame: the mean number of accesses is 1 + w / (w - 1). Tolerance: four standard
deviations.
"""
    return Chapter("Random access", text, figures)


def _errors() -> Chapter:
    figures = []
    points: list[tuple[float, float]] = []
    # Of terminal and base alike, so that one formula holds; 10 km of free space at 390 MHz.
    radio: dict[str, Any] = {"propagation": "friis", "distance": "10 km", "base_sensitivity": "-103 dBm"}
    loss = 20 * math.log10(4 * math.pi * 10e3 * 390e6 / SPEED_OF_LIGHT)
    for margin in (3, 6, 10, 15, 20):
        power = f"{loss - 103 + margin} dBm"
        parameters = network(**radio, error_model="tu50", acknowledged=False, tx_power=power, base_tx_power=power)
        frames = {"t0": packets(0, 40, [START + 0.4 * i for i in range(700)]), "base": HELLO}
        losses, carried = 0, 0
        for repetition in range(4):
            emulation = emulate("pmr", parameters, frames, seed=repetition_seed(1, repetition))
            sender = station(emulation, "t0")
            losses += sender["blocks_lost"]
            carried += sender["slots_used"]
        snr = 16.33 + margin
        expected = _block_error(10 ** (snr / 10))
        points.append((snr, losses / carried))
        spread = 4 * math.sqrt(expected * (1 - expected) / carried)
        figures.append(Figure(f"mean SNR {snr:.1f} dB: blocks lost", "", expected, losses / carried, absolute=max(0.003, spread)))
    axis = [18 + x / 4 for x in range(76)]
    plot = Plot(
        "pmr-errors",
        "Blocks lost over a Rayleigh fade, 7.2 kbit/s",
        "mean SNR, dB",
        "block error ratio",
        [
            Curve("", axis, [_block_error(10 ** (x / 10)) for x in axis], False),
            Curve("", [x for x, _ in points], [y for _, y in points], True),
        ],
        logarithmic_y=True,
    )
    text = """
Blocks of 432 bits without protection. Expected is the mean over a Rayleigh fade, that lasts for a block, of the probability
that one of 432 bits of differentially detected pi/4-DQPSK is wrong in white noise; the sensitivity is where 2.2 % of raw
bits are wrong in such a fade, at 16.3 dB. Tolerance: four standard deviations of a binomial. Not shown is that real
receivers do as well: the gains of the protected channels are assumed (README).
"""
    return Chapter("Errors over a fading channel", text, figures, [plot])


def _block_error(snr: float, bits: int = 432, steps: int = 2000) -> float:
    """Mean over the fade; not by the segment's series, but by Pawula's integral (IEEE Trans. Communications 32, 1984)."""
    total = 0.0
    for i in range(steps):
        bit = -snr * math.log((i + 0.5) / steps) / 2
        total += (1 - (1 - _bit_error(bit)) ** bits) / steps
    return total


def _bit_error(bit_snr: float, steps: int = 64) -> float:
    angles = (math.pi * (k + 0.5) / steps for k in range(steps))
    return sum(math.exp(-bit_snr * (2 - math.sqrt(2) * math.cos(t))) / (math.sqrt(2) - math.cos(t)) for t in angles) / 2 / steps
