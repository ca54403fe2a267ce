# SPDX-License-Identifier: GPL-2.0-or-later
"""One station and its access point: goodput by offered load, by frame size, and by standard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi import standard_arithmetic as standard
from netboxes.wifi.cell_under_test import cluster, saturated, towards_access_point
from netboxes.wifi.standard_arithmetic import DSSS, ERP, HE, HT, OFDM, VHT, HighThroughput

MEGABIT = 1e6
LENGTHS = (100, 250, 500, 1000, 1500)


def chapters() -> Iterator[Chapter]:
    yield _offered_load()
    yield _frame_size()
    yield _aggregation()


def _offered_load() -> Chapter:
    figures, curves = [], []
    for length in (500, 1500):
        most = standard.saturation(54, length)
        loads = [most * part for part in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.03, 1.2, 1.5)]
        goodputs = []
        for load in loads:
            cell = cluster(1, rate_control="constant", rate="54 Mbit/s") | {"queue_size": 50}
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


_AGGREGATING: tuple[tuple[str, HighThroughput, int, tuple[int, ...]], ...] = (
    ("802.11n", HT, 20, (0, 3, 5, 7)),
    ("802.11n", HT, 40, (0, 3, 5, 7)),
    ("802.11ac", VHT, 20, (0, 4, 8)),
    ("802.11ac", VHT, 80, (0, 4, 9)),
    ("802.11ax", HE, 20, (0, 5, 11)),
    ("802.11ax", HE, 80, (0, 5, 11)),
)


def _aggregation() -> Chapter:
    figures, curves = [], []
    for name, phy, width, schemes in _AGGREGATING:
        label = f"{name}, {width} MHz"
        measured = []
        for mcs in schemes:
            # Strong enough for MCS 11, and longer than an A-MPDU is.
            radio = {"standard": name, "channel_width": f"{width} MHz", "tx_power": "30 dBm", "queue_size": 2000}
            cell = cluster(1, rate_control="constant", mcs=mcs) | radio
            expected = phy.goodput(1500, mcs, width)
            seconds = 1.5 if expected < 150e6 else 0.6
            measured.append(saturated(cell, 1500, expected, seconds)[0] / MEGABIT)
            count = phy.subframes(1500, mcs, width)
            what = f"{label}, MCS {mcs}, {count} frames an A-MPDU"
            figures.append(Figure(what, "Mbit/s", expected / MEGABIT, measured[-1], relative=0.015))
        curves += [
            Curve(label, schemes, [phy.goodput(1500, mcs, width) / MEGABIT for mcs in schemes], False),
            Curve(label, schemes, measured, True),
        ]
    plot = Plot(
        "wifi-aggregation",
        "Goodput with A-MPDUs, 1500-byte packets",
        "MCS",
        "goodput, Mbit/s",
        curves,
        logarithmic_y=True,
    )
    text = """
The same with 802.11n, ac and ax, one spatial stream, long guard interval, best effort. A cycle is AIFS (43 us), 7.5 slots, one
A-MPDU, SIFS and a Block Ack. An A-MPDU has as many frames as fit into 65 535 octets, into 5.484 ms, and into the window of a
Block Ack (64; 802.11ax 256). Preambles are the standard's: 36 us (HT, Table 19-6), 40 us (VHT, Table 21-5), 52 us (HE, with an
HE-LTF of 16 us; IEEE 802.11ax-2021, Table 27-12).

Tolerance 1.5 %. ns-3 is a little *faster* than the standard in two things, by up to 0.7 % at high rates: its VHT preamble lacks
VHT-SIG-B (4 us), and its HE-LTF takes 8 us also with a guard interval of 3.2 us, for which the standard has the one of 16 us.
Against that beacons take 0.2 to 1 %: ns-3 sends 802.11ax's at 6 Mbit/s, too, and slow A-MPDUs of 5 ms make half a second end
within one.
"""
    return Chapter("Goodput with aggregation", text, figures, [plot])
