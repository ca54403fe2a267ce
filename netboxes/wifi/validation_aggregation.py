# SPDX-License-Identifier: GPL-2.0-or-later
"""One station of 802.11n, ac or ax and its access point: goodput with A-MPDUs, by rate and by access category."""

from __future__ import annotations

from collections.abc import Iterator

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi.cell_under_test import DSCP, cluster, saturated
from netboxes.wifi.standard_arithmetic import BEST_EFFORT, CATEGORIES, HE, HT, VHT, Category, HighThroughput

MEGABIT = 1e6
LENGTH = 1500

#: Standard, its arithmetic, width in MHz, and some of its MCS, the fastest last.
AGGREGATING: tuple[tuple[str, HighThroughput, int, tuple[int, ...]], ...] = (
    ("802.11n", HT, 20, (0, 3, 5, 7)),
    ("802.11n", HT, 40, (0, 3, 5, 7)),
    ("802.11ac", VHT, 20, (0, 4, 8)),
    ("802.11ac", VHT, 80, (0, 4, 9)),
    ("802.11ax", HE, 20, (0, 5, 11)),
    ("802.11ax", HE, 80, (0, 5, 11)),
)


def chapters() -> Iterator[Chapter]:
    yield _by_rate()
    yield _by_category()


def measured_bps(name: str, expected: float, mcs: int, width: int, category: Category, seconds: float) -> float:
    """Goodput of one saturated station, bit/s; `expected` sets what it is offered."""
    # Strong enough for MCS 11, and longer than an A-MPDU is.
    radio = {"standard": name, "channel_width": f"{width} MHz", "tx_power": "30 dBm", "queue": 2000}
    cell = cluster(1, rate_control="constant", mcs=mcs) | radio
    return saturated(cell, LENGTH, expected, seconds, (DSCP[category],))[0]


def _by_rate() -> Chapter:
    figures, curves = [], []
    for name, phy, width, schemes in AGGREGATING:
        label = f"{name}, {width} MHz"
        measured = []
        for mcs in schemes:
            expected = phy.goodput(LENGTH, mcs, width)
            seconds = 1.5 if expected < 150e6 else 0.6
            measured.append(measured_bps(name, expected, mcs, width, BEST_EFFORT, seconds) / MEGABIT)
            count = phy.subframes(LENGTH, mcs, width)
            what = f"{label}, MCS {mcs}, {count} frames an A-MPDU"
            figures.append(Figure(what, "Mbit/s", expected / MEGABIT, measured[-1], relative=0.01))
        curves += [
            Curve(label, schemes, [phy.goodput(LENGTH, mcs, width) / MEGABIT for mcs in schemes], False),
            Curve(label, schemes, measured, True),
        ]
    plot = Plot(
        "wifi-aggregation",
        f"Goodput with A-MPDUs, {LENGTH}-byte packets",
        "MCS",
        "goodput, Mbit/s",
        curves,
        logarithmic_y=True,
    )
    text = """
The same with 802.11n, ac and ax, one spatial stream, long guard interval, best effort. A cycle is AIFS (43 us), 7.5 slots, one
A-MPDU, SIFS and a Block Ack. An A-MPDU has as many frames as fit into the octets that a receiver can grant (HT 65 535, VHT
1 048 575, HE at 5 GHz 6 500 631; IEEE 802.11-2020, 9.4.2.55.3 and 9.4.2.157.2, IEEE 802.11ax-2021, 9.4.2.248.2 and 27.4.4), into
5.484 ms (aPPDUMaxTime, Tables 19-25 and 21-29), and into the window of a Block Ack (64; 802.11ax 256). Preambles are the
standard's: 36 us (HT, Table 19-6), 40 us (VHT, Table 21-5), 52 us (HE, with an HE-LTF of 16 us; IEEE 802.11ax-2021, Table 27-12).
The rate of the Block Ack follows from the modulation and the code rate of the data, whatever the width (10.6.11).

Tolerance 1 %. ns-3 is a little *faster* than the standard in two things, by up to 0.5 % of a cycle: its VHT preamble lacks
VHT-SIG-B (4 us), and its HE-LTF takes 8 us also with a guard interval of 3.2 us, for which the standard has the one of 16 us.
Against that beacons take 0.2 to 0.4 %, and A-MPDUs of 5 ms make half a second end within one.
"""
    return Chapter("Goodput with aggregation", text, figures, [plot])


def _by_category() -> Chapter:
    figures = []
    for name, phy, width, schemes in AGGREGATING:
        for category in CATEGORIES:
            mcs = schemes[-1]
            sent, _ = phy.burst(LENGTH, mcs, width, category)
            expected = phy.goodput(LENGTH, mcs, width, category)
            measured = measured_bps(name, expected, mcs, width, category, 0.6)
            what = f"{name}, {width} MHz, MCS {mcs}, {category.name}, {sent} frames at a time"
            figures.append(Figure(what, "Mbit/s", expected / MEGABIT, measured / MEGABIT, relative=0.015))
    text = """
The same by access category, at each standard's fastest rate. All four aggregate frames up to the same limits. Background and
best effort send one A-MPDU at a time. Video and voice send as many, a SIFS apart, as fit into their transmit opportunities of
4.096 ms and 2.08 ms (IEEE 802.11-2020, Table 9-155), with the CF-End that gives the rest back; AIFS and CWmin differ as above.
Tolerance 1.5 %: the mean of some hundred backoffs of 7.5 slots, after A-MPDUs of up to 5 ms, and where the time ends.
"""
    return Chapter("Goodput with aggregation, of each access category", text, figures)
