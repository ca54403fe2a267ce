# SPDX-License-Identifier: GPL-2.0-or-later
"""Signal, frame errors and goodput by distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from netboxes.engine.virtual import Change, Emulation, emulate
from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi import error_rates, standard_arithmetic
from netboxes.wifi.cell_under_test import CELL, broadcasts, flow, hello, line, towards_access_point
from netboxes.wifi.path_loss import NOISE, free_space, log_distance, two_ray

MEGABIT = 1e6
TX_POWER = 16.0
#: Frames that are sent at each signal strength, and pauses between them.
COUNT, PAUSE = 500, 2e-3
#: Receiver minimum input sensitivity in dBm for 10 % of frames of 1000 octets lost, by rate (IEEE 802.11-2020, Table 17-18).
SENSITIVITY = {6: -82, 9: -81, 12: -79, 18: -77, 24: -74, 36: -70, 48: -66, 54: -65}


def chapters() -> Iterator[Chapter]:
    yield _signal()
    yield _errors()
    yield _sensitivity()
    yield _goodput()


def _signal() -> Chapter:
    figures, curves = [], []
    distances = (10, 30, 100, 300, 600, 1000)
    laws: dict[str, Callable[[float], float]] = {
        "friis": free_space,
        "log-distance": partial(log_distance, exponent=3.0),
        "two-ray": partial(two_ray, height=1.5),
    }
    for name, law in laws.items():
        measured = []
        for distance in distances:
            # A gain of 20 dB at each end, and no noise of the receiver's own, so that everything is heard.
            cell = line("ad-hoc", 2, distance, propagation=name, sensitivity="-110 dBm", noise_figure="0 dB")
            emulation = emulate("wifi", cell | {"antenna_gain": "20 dB"}, {"s0": broadcasts(1, 1.0)})
            measured.append(emulation.statistics["segment"]["stations"]["s1"]["links"]["s0"]["signal"])
        expected = [TX_POWER + 40 - law(distance) for distance in distances]
        figures += [
            Figure(f"{name}, {distance} m", "dBm", wanted, got, absolute=0.01)
            for distance, wanted, got in zip(distances, expected, measured, strict=True)
            if distance in (30, 300, 1000)
        ]
        every = [10 ** (x / 20) for x in range(20, 61)]
        curves += [
            Curve(name, every, [TX_POWER + 40 - law(distance) for distance in every], False),
            Curve(name, distances, measured, True),
        ]
    plot = Plot("wifi-signal", "Signal by distance, 16 dBm and 2 x 20 dB", "m", "dBm", curves, logarithmic_x=True)
    text = """
The strength of a frame at the receiver, as `statistics` tell it. Free space: 20 log(4 pi d / wavelength) (H. T. Friis, Proc. IRE
34(5), 1946); log-distance: the same at 1 m, then 30 dB a decade; two-ray: free space up to 4 pi h1 h2 / wavelength, then 40
log(d) - 20 log(h1 h2), with antennas at 1.5 m (T. S. Rappaport, Wireless Communications, 4.6).
"""
    return Chapter("Signal by distance", text, figures, [plot])


def _at_powers(rate: int, powers: list[float], length: int, **changes: Any) -> Emulation:
    """Frames of a peer that nobody repeats, COUNT of them at each power, one power after the other; 100 m of free space."""
    cell = line("ad-hoc", 2, 100, rate_control="constant", rate=f"{rate} Mbit/s", retry_limit=1, sensitivity="-110 dBm")
    step = COUNT * PAUSE
    events: list[Change] = [(1.0 + number * step - PAUSE / 2, "s0.tx_power", power) for number, power in enumerate(powers)]
    frames = {"s0": flow(0, 1, length, length * 8 / PAUSE, step * len(powers)), "s1": hello(1)}
    return emulate("wifi", cell | changes, frames, events=events)


def _lost(emulation: Emulation, powers: list[float]) -> list[float]:
    """The share of frames lost at each power."""
    arrived = [0] * len(powers)
    for record in emulation.records[(emulation.records["fate"] == 0) & (emulation.records["in_ns"] >= 1e9)]:
        arrived[int((record["in_ns"] / 1e9 - 1.0 + PAUSE / 2) / (COUNT * PAUSE))] += 1
    return [1 - count / COUNT for count in arrived]


def _errors() -> Chapter:
    length = 500
    octets = standard_arithmetic.psdu(length)
    figures, curves = [], []
    for rate, low in ((9, 5.4), (12, 5.4), (24, 12.0), (36, 14.6), (54, 21.0)):
        wanted = [low + 0.3 * step for step in range(6)]
        powers = [snr + NOISE + free_space(100) for snr in wanted]
        measured = _lost(_at_powers(rate, powers, length, error_model="nist"), powers)
        expected = [error_rates.frame_error_rate(rate, snr, octets) for snr in wanted]
        figures += [
            Figure(
                f"{rate} Mbit/s, SNR {snr:.1f} dB",
                "",
                chance,
                share,
                absolute=4 * math.sqrt(chance * (1 - chance) / COUNT) + 0.01,
            )
            for snr, chance, share in zip(wanted, expected, measured, strict=True)
            if 0.05 < chance < 0.95
        ]
        every = [low - 0.5 + 0.05 * step for step in range(61)]
        curves += [
            Curve(f"{rate} Mbit/s", every, [error_rates.frame_error_rate(rate, snr, octets) for snr in every], False),
            Curve(f"{rate} Mbit/s", wanted, measured, True),
        ]
    plot = Plot("wifi-errors", "Frame errors by SNR, 500-byte packets", "SNR, dB", "frame error ratio", curves)
    text = """
802.11a with `error_model: nist`, 500 frames at each strength, none repeated. Expected is the union bound for the 133, 171 code
with hard decisions and a Gray-coded constellation in white noise (G. Pei and T. Henderson, "Validation of OFDM error rate model
in ns-3", 2010; `error_rates.py`). Tolerance: four standard deviations of a binomial, and 0.01 for the frame's tail and pad bits.
"""
    return Chapter("Frame errors by signal-to-noise ratio", text, figures, [plot])


def _sensitivity() -> Chapter:
    figures = []
    for rate, level in SENSITIVITY.items():
        strengths = [level - 6 + 0.5 * step for step in range(17)]
        powers = [strength + free_space(100) for strength in strengths]
        # Noise figure 10 dB and implementation margin 5 dB, with which the standard's table reckons (17.3.10.2).
        emulation = _at_powers(rate, powers, 1000 - standard_arithmetic.psdu(0), noise_figure="15 dB")
        lost = _lost(emulation, powers)
        enough = next(number for number, share in enumerate(lost) if share < 0.1)
        figures.append(Figure(f"{rate} Mbit/s", "dBm", level, strengths[enough], absolute=3.0))
    text = """
The weakest signal, in steps of 0.5 dB, of which a receiver of 802.11a loses less than 10 % of frames of 1000 octets, beside the
minimum sensitivity that IEEE 802.11-2020 asks of every receiver (Table 17-18). With the noise figure of 10 dB and the
implementation margin of 5 dB with which that table reckons, and `error_model: table` (link-level simulations), the default.
Tolerance 3 dB: the table is a requirement and not a prediction, and a receiver that decodes by soft decisions, as the
simulations did, is up to 3 dB better. At 6, 9 and 12 Mbit/s the netbox is not limited by errors but by the 4 dB of SNR from
which on a preamble is detected (-82 dBm here).
"""
    return Chapter("Receiver sensitivity", text, figures)


def _goodput() -> Chapter:
    length = 500
    figures, curves = [], []
    for rate, near, far in ((54, 60, 116), (36, 140, 222), (24, 240, 325), (12, 400, 700)):
        distances = [near, (near + far) / 2, far, far * 1.03]
        measured = [_carried(rate, length, distance) for distance in distances]
        for distance, goodput in list(zip(distances, measured, strict=True))[:3]:
            expected = error_rates.goodput(rate, _snr(distance), length)
            figures.append(
                Figure(f"{rate} Mbit/s, {distance:g} m", "Mbit/s", expected / MEGABIT, goodput / MEGABIT, relative=0.03)
            )
        every = [near + (far * 1.15 - near) * step / 80 for step in range(81)]
        curves += [
            Curve(f"{rate} Mbit/s", every, [error_rates.goodput(rate, _snr(d), length) / MEGABIT for d in every], False),
            Curve(f"{rate} Mbit/s", distances, [goodput / MEGABIT for goodput in measured], True),
        ]
    ideal = (20, 80, 150, 250, 400, 550, 750)
    carried = []
    for distance in ideal:
        emulation, goodput = towards_access_point(_cell(distance), length, 25e6, 0.5)
        carried.append(goodput / MEGABIT)
        rate = emulation.statistics["segment"]["stations"]["responder"]["rate"] / MEGABIT
        expected = standard_arithmetic.saturation(rate, length) / MEGABIT
        figures.append(Figure(f"ideal, {distance} m, {rate:g} Mbit/s on air", "Mbit/s", expected, carried[-1], relative=0.02))
    curves.append(Curve("rate control ideal", ideal, carried, True))
    plot = Plot("wifi-distance", "Goodput by distance, 500-byte packets", "m", "goodput, Mbit/s", curves, logarithmic_x=True)
    text = """
802.11a, 16 dBm, free space, noise figure 7 dB, a good card's sensitivity. At a constant rate (`error_model: nist`) goodput
follows from the frame errors above: a frame is sent up to seven times, with a backoff that doubles (IEEE 802.11-2020, 10.3.3)
after each wait for an acknowledgement that does not come. Tolerance 3 %. The last point of each rate is in the steep part,
where 3 % of distance halve the goodput, and only drawn. Farther out ns-3 carries up to a fifth less than expected: it needs some
50 us more after a frame that it has given up.

`ideal` rate control (`error_model: table`, the default) takes the fastest rate with a bit error rate below 1e-6; its goodput is
that of the rate it names, less 1 % for beacons and for frames with errors. It reaches farther than the constant rates here
because the table's receiver decodes by soft decisions, the formula's by hard ones: 54 Mbit/s up to 160 m instead of 118 m.
"""
    return Chapter("Goodput by distance", text, figures, [plot])


def _snr(distance: float) -> float:
    return TX_POWER - free_space(distance) - NOISE


def _cell(distance: float) -> dict[str, Any]:
    return CELL | {"distance": f"{distance} m", "sensitivity": "-100 dBm"}


def _carried(rate: int, length: int, distance: float) -> float:
    radio = {"rate_control": "constant", "rate": f"{rate} Mbit/s", "error_model": "nist", "queue": 20}
    offered = 1.1 * standard_arithmetic.saturation(rate, length)
    return towards_access_point(_cell(distance) | radio, length, offered, 2.0)[1]
