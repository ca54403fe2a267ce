# SPDX-License-Identifier: GPL-2.0-or-later
"""One station of 802.11a, b or g and its access point: goodput by offered load and by frame size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi import standard_arithmetic as standard
from netboxes.wifi.cell_under_test import cluster, saturated, towards_access_point
from netboxes.wifi.standard_arithmetic import DSSS, ERP, OFDM

MEGABIT = 1e6
LENGTHS = (100, 250, 500, 1000, 1500)


def chapters() -> Iterator[Chapter]:
    yield _offered_load()
    yield _frame_size()


def _offered_load() -> Chapter:
    figures, curves = [], []
    for length in (500, 1500):
        most = standard.saturation(54, length)
        loads = [most * part for part in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.03, 1.2, 1.5)]
        goodputs = []
        for load in loads:
            cell = cluster(1, rate_control="constant", rate="54 Mbit/s") | {"queue": 50}
            stations = {"responder": {"role": "station"}, "commander": {"role": "access-point"}}
            _, goodput = towards_access_point(cell | {"stations": stations, "distance": "20 m"}, length, load, 1.0)
            goodputs.append(goodput)
        for load, goodput in zip(loads, goodputs, strict=True):
            if load in (loads[2], loads[4], loads[7], loads[8]):
                what = f"{length} bytes, {load / MEGABIT:.1f} Mbit/s offered"
                figures.append(Figure(what, "Mbit/s", min(load, most) / MEGABIT, goodput / MEGABIT, relative=0.01))
        offered = [load / MEGABIT for load in loads]
        label = f"{length} bytes"
        bend = [0.0, most / MEGABIT, offered[-1]]
        curves += [
            Curve(label, bend, [min(x, most / MEGABIT) for x in bend], False),
            Curve(label, offered, [goodput / MEGABIT for goodput in goodputs], True),
        ]
    plot = Plot("wifi-load", "Goodput by offered load, 802.11a at 54 Mbit/s", "offered, Mbit/s", "goodput, Mbit/s", curves)
    text = """
One station of 802.11a at 54 Mbit/s, packets at equal distances. What is offered arrives until the channel is full; from there on
goodput stays what DIFS, a mean backoff of 7.5 slots, the frame, SIFS and the acknowledgement leave (`standard_arithmetic.py`;
IEEE 802.11-2020, clauses 10.3 and 17). Tolerance 1 %: ten beacons a second take 0.3 %, and the mean of some thousand backoffs
scatters by 0.5 %.
"""
    return Chapter("Goodput by offered load", text, figures, [plot])


@dataclass(frozen=True)
class _Setting:
    label: str
    cell: dict[str, Any]
    exchange: Any
    phy: standard.Phy = OFDM

    def expected(self, length: int) -> float:
        """bit/s."""
        return length * 8 / self.phy.cycle(self.exchange(length)) * 1e6


def _constant(name: str, rate: str) -> dict[str, Any]:
    return cluster(1, rate_control="constant", rate=f"{rate} Mbit/s") | {"standard": name}


_SETTINGS = (
    _Setting("802.11a, 6 Mbit/s", _constant("802.11a", "6"), lambda n: standard.ofdm_exchange(6, n)),
    _Setting("802.11a, 24 Mbit/s", _constant("802.11a", "24"), lambda n: standard.ofdm_exchange(24, n)),
    _Setting("802.11a, 54 Mbit/s", _constant("802.11a", "54"), lambda n: standard.ofdm_exchange(54, n)),
    _Setting("802.11b, 1 Mbit/s", _constant("802.11b", "1"), lambda n: standard.dsss_exchange(1, n, 1), DSSS),
    _Setting("802.11b, 11 Mbit/s", _constant("802.11b", "11"), lambda n: standard.dsss_exchange(11, n, 2), DSSS),
    _Setting(
        "802.11g, 54 Mbit/s",
        _constant("802.11g", "54"),
        lambda n: standard.ofdm_exchange(54, n, ERP, extension=standard.ERP_EXTENSION),
        ERP,
    ),
)


def _frame_size() -> Chapter:
    figures, curves = [], []
    for setting in _SETTINGS:
        slow = setting.label.startswith(("802.11b, 1 ", "802.11a, 6 "))
        measured = [
            saturated(setting.cell, length, setting.expected(length), 6.0 if slow else 1.0)[0] / MEGABIT for length in LENGTHS
        ]
        at_2_4_ghz = not setting.label.startswith("802.11a")
        figures += [
            Figure(
                f"{setting.label}, {length} bytes",
                "Mbit/s",
                setting.expected(length) / MEGABIT,
                value,
                relative=0.02 if at_2_4_ghz else 0.01,
            )
            for length, value in zip(LENGTHS, measured, strict=True)
            if length in (100, 500, 1500)
        ]
        every = range(50, 1501, 25)
        curves += [
            Curve(setting.label, list(every), [setting.expected(length) / MEGABIT for length in every], False),
            Curve(setting.label, LENGTHS, measured, True),
        ]
    plot = Plot(
        "wifi-frame-size",
        "Goodput of one saturated station",
        "layer-3 packet, bytes",
        "goodput, Mbit/s",
        curves,
        logarithmic_y=True,
    )
    text = """
One station that always has a packet to send, 20 m from its access point. Expected is the same cycle, with each PHY's slot, SIFS
and CWmin (IEEE 802.11-2020, Tables 15-4, 17-21, 18-5), preamble (20 us; DSSS 192 us; ERP-OFDM with 6 us of signal extension)
and acknowledgement: OFDM's at the fastest mandatory rate up to the data's, 802.11b's at 2 Mbit/s, since ns-3's access point
names 1 and 2 Mbit/s as basic rates. Tolerance 1 % at 5 GHz, where beacons take 0.3 %; 2 % at 2.4 GHz, where they are sent at
1 Mbit/s and take 1 %.
"""
    return Chapter("Goodput by frame size", text, figures, [plot])
