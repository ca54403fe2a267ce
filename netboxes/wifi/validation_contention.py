# SPDX-License-Identifier: GPL-2.0-or-later
"""Many stations at one access point, beside Bianchi's model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi import standard_arithmetic as standard
from netboxes.wifi.cell_under_test import cluster, saturated
from netboxes.wifi.contention import Contenders, shares
from netboxes.wifi.standard_arithmetic import OFDM

MEGABIT = 1e6
LENGTH = 1500
NUMBERS = (1, 2, 3, 5, 10, 20)


def bianchi(number: int, rate: float, length: int, rts: bool) -> float:
    """bit/s of so many stations of 802.11a together."""
    announced = standard.rts_cts() if rts else 0.0
    collision = standard.ofdm(6, standard.RTS) if rts else standard.ofdm(rate, standard.psdu(length))
    exchange = announced + standard.ofdm_exchange(rate, length)
    return shares([Contenders(number, OFDM.cw_min, OFDM.cw_max, length * 8, exchange, collision)])[0]


def contending(number: int, rate: float, rts: bool) -> dict[str, Any]:
    # Bianchi's stations never give a frame up.
    access = {"retry_limit": 255, "msdu_lifetime": "60 s"} | ({"rts_threshold": "0 B"} if rts else {})
    return cluster(number, rate_control="constant", rate=f"{rate} Mbit/s") | access


def chapters() -> Iterator[Chapter]:
    figures, curves = [], []
    for rate in (6, 54):
        for rts in (False, True):
            label = f"{rate} Mbit/s, {'RTS/CTS' if rts else 'basic access'}"
            measured = []
            for number in NUMBERS:
                expected = bianchi(number, rate, LENGTH, rts)
                seconds = 6.0 if rate == 6 else 2.0
                measured.append(sum(saturated(contending(number, rate, rts), LENGTH, expected, seconds)) / MEGABIT)
                if number in (1, 2, 5, 10, 20):
                    what = f"{label}, {number} station{'s' if number > 1 else ''}"
                    figures.append(Figure(what, "Mbit/s", expected / MEGABIT, measured[-1], relative=0.03))
            every = range(1, NUMBERS[-1] + 1)
            curves += [
                Curve(label, list(every), [bianchi(number, rate, LENGTH, rts) / MEGABIT for number in every], False),
                Curve(label, NUMBERS, measured, True),
            ]
    plot = Plot("wifi-stations", "Goodput of contending stations, 1500-byte packets", "stations", "Mbit/s in all", curves)
    text = """
Stations of 802.11a that always have a packet for the access point and all hear each other. They stand at one place, so that of
frames that collide none is strong enough to survive, and never give a frame up, both as in the model: G. Bianchi, "Performance
analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC 18(3), 2000, with its fixed point solved by
`contention.py`. CWmin 15, six doublings; a collision takes the frame (or RTS) and a DIFS; RTS and CTS go at 6 Mbit/s.

Tolerance 3 %. The model lets every station count a slot down after each busy period. In 802.11 those that wait resume where they
stopped, so whoever has just sent may use the first slot alone (G. Bianchi et al., "Remarks on IEEE 802.11 DCF performance
analysis", IEEE Communications Letters 9(8), 2005): 1 to 2 % less than the model for two to five stations. Beacons take 0.3 %.
"""
    yield Chapter("Goodput by number of stations", text, figures, [plot])
