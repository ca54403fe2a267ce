# SPDX-License-Identifier: GPL-2.0-or-later
"""LTE: peak rates, link budget, guaranteed bearers, fairness, handover and latency."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from netboxes.engine.virtual import Emulation, emulate, mac
from netboxes.lte.cell_under_test import (
    AF41,
    CLASSES,
    EF,
    IN_GROUPS,
    LARGEST_BLOCK,
    VIDEO,
    VOICE,
    delays,
    flow,
    goodput,
    hello,
    saturated,
)
from netboxes.validation import Chapter, Curve, Figure, Plot

BANDWIDTHS = (6, 15, 25, 50, 75, 100)
ONE: dict[str, Any] = {"stations": {"ue": {"role": "ue"}, "core": {"role": "gateway"}}}
MEGABIT = 1e6


def chapters() -> Iterator[Chapter]:
    yield peak_rates()
    yield link_budget()
    yield guarantees()
    yield fairness()
    yield handover()
    yield latency()


def peak_rates() -> Chapter:
    figures, measured = [], {"downlink": [], "uplink": []}  # type: ignore[var-annotated]
    for blocks in BANDWIDTHS:
        for way in measured:
            uplink = way == "uplink"
            peak = LARGEST_BLOCK[blocks if uplink else IN_GROUPS[blocks]] * 1e3
            # What a sender sends with all its power at once reaches the peak from 50 m; power control would have it sink below.
            cell = ONE | {"resource_blocks": blocks, "distance": "50 m", "uplink_power_control": False}
            emulation = emulate("lte", cell, saturated(cell, uplink, ["ue"], peak * 1.1, 0.6))
            rate = goodput(emulation, "core" if uplink else "ue", 0 if uplink else 1, 1500, 1.2, 1.6)
            figures.append(
                Figure(f"{blocks} resource blocks, {way}: goodput", "Mbit/s", peak / MEGABIT, rate / MEGABIT, relative=0.015)
            )
            measured[way].append(rate / MEGABIT)
    return Chapter(
        "LTE: peak rate of each bandwidth",
        "One UE at 50 m, 1500-byte packets, more than the cell carries. Expected is the largest transport block of one layer"
        " in each subframe: I_TBS 26 of TS 36.213, Table 7.1.7.2.1-1, for the resource blocks of the channel; in the "
        "downlink for those in whole resource block groups (Table 7.1.6.1-1), because ns-3's schedulers leave the rest of "
        "15, 25, 50 and 75 blocks unused. PDCP and RLC headers take 4 to 6 of 1500 bytes, and counting whole packets in 0.4 "
        "s another part: 1.5 %. Real cells reach less: ns-3 has no coding rate limit of 0.93 for the control region's three "
        "symbols.",
        figures,
        [
            Plot(
                "lte-peak",
                "LTE peak rate",
                "resource blocks",
                "Mbit/s",
                [
                    Curve("downlink", BANDWIDTHS, [LARGEST_BLOCK[IN_GROUPS[b]] / 1e3 for b in BANDWIDTHS], False),
                    Curve("downlink", BANDWIDTHS, measured["downlink"], True),
                    Curve("uplink", BANDWIDTHS, [LARGEST_BLOCK[b] / 1e3 for b in BANDWIDTHS], False),
                    Curve("uplink", BANDWIDTHS, measured["uplink"], True),
                ],
            )
        ],
    )


def link_budget() -> Chapter:
    blocks, power, noise_figure = 25, 30.0, 9.0
    distances = (500.0, 2e3, 5e3, 10e3, 15e3, 20e3, 30e3, 40e3)
    frequency = 1842.5e6  # the middle of band 3
    # MCS and the bits of its transport block with 24 resource blocks (TS 36.213, Tables 7.1.7.1-1 and 7.1.7.2.1-1).
    schemes_expected = {5e3: (22, 11064), 10e3: (16, 7224), 15e3: (12, 4776)}
    figures, rates, schemes, ratios = [], [], [], []
    for distance in distances:
        cell = ONE | {
            "resource_blocks": blocks,
            "distance": f"{distance} m",
            "tx_power": f"{power} dBm",
            "enodeb_height": "1.5 m",
        }
        emulation = emulate("lte", cell, saturated(cell, False, ["ue"], LARGEST_BLOCK[blocks] * 1.1e3, 0.6), duration_s=4.0)
        loss = 20 * math.log10(4 * math.pi * distance * frequency / 299792458.0)
        noise = -174.0 + noise_figure + 10 * math.log10(blocks * 180e3)
        expected = power - loss - noise
        counters = emulation.statistics["segment"]["stations"]["ue"]
        if distance <= 15e3:
            figures.append(
                Figure(
                    f"{distance / 1e3:g} km, 30 dBm, free space: SINR", "dB", expected, counters["sinr_downlink"], absolute=0.3
                )
            )
        rates.append(goodput(emulation, "ue", 1, 1500, 1.2, 1.6) / MEGABIT)
        schemes.append(counters["mcs_downlink"])
        ratios.append(expected)
    for distance, (scheme, block) in schemes_expected.items():
        place, rate = f"{distance / 1e3:g} km", rates[distances.index(distance)]
        figures += [
            Figure(f"{place}: MCS", "", scheme, schemes[distances.index(distance)], absolute=1.0),
            Figure(f"{place}: goodput with MCS {scheme}", "Mbit/s", block / 1e3, rate, relative=0.02),
        ]
    shannon = [IN_GROUPS[blocks] * 180e3 * math.log2(1 + 10 ** (ratio / 10)) / MEGABIT for ratio in ratios]
    return Chapter(
        "LTE: signal and modulation against distance",
        "One UE, 25 resource blocks at 1.8 GHz, 30 dBm, free space. Expected SINR: transmit power less Friis's loss, less "
        "thermal noise (-174 dBm/Hz) with the receiver's noise figure of 9 dB in 4.5 MHz. The modulation and coding scheme "
        "follows it (which one a ratio bears is ns-3's link adaptation, for a block error rate of 10 %: no other source is "
        "compared), and the goodput is the transport block of that scheme in each subframe (TS 36.213), under the capacity "
        "of the channel (Shannon) by 3 to 4 dB.",
        figures,
        [
            Plot(
                "lte-distance",
                "LTE goodput in the downlink",
                "m",
                "Mbit/s",
                [
                    Curve("bound", distances, [min(s, LARGEST_BLOCK[24] / 1e3) for s in shannon], False),
                    Curve("goodput", distances, rates, True),
                ],
                logarithmic_x=True,
            ),
            Plot("lte-mcs", "LTE modulation and coding scheme", "SINR, dB", "MCS", [Curve("downlink", ratios, schemes, True)]),
        ],
    )


def crowd(uplink: bool, uphold: bool, seconds: float = 2.0) -> Emulation:
    """A first responder with voice and a camera of 5 Mbit/s, and four civilians who ask for 5 Mbit/s each, in 17 Mbit/s."""
    stations = {
        "responder": {"role": "ue", "distance": "500 m"},
        **{f"civilian{number}": {"role": "ue", "distance": "200 m"} for number in range(4)},
        "core": {"role": "gateway"},
    }
    bearers = [
        {"class": "voice", "qci": 65, "uplink_rate": "100 kbit/s", "downlink_rate": "100 kbit/s"},
        {"class": "video", "qci": 2, "uplink_rate": "6 Mbit/s", "downlink_rate": "6 Mbit/s"},
    ]
    cell = {
        "stations": stations,
        "resource_blocks": 25,
        "uphold_guarantees": uphold,
        "bearers": [bearer | {"stations": ["responder"]} for bearer in bearers],
    }
    frames = saturated(cell, uplink, [f"civilian{number}" for number in range(4)], 5 * MEGABIT, seconds)
    ends = (0, 5) if uplink else (5, 0)
    frames["responder" if uplink else "core"] += [
        *flow(*ends, 200, 80e3, seconds, EF, start=1.0033),
        *flow(*ends, 1250, 5 * MEGABIT, seconds, AF41, start=1.0017),
    ]
    return emulate("lte", cell, frames, classes=CLASSES, duration_s=seconds + 3)


def guarantees() -> Chapter:
    figures = []
    for way in ("downlink", "uplink"):
        uplink = way == "uplink"
        source = 0 if uplink else 5
        for uphold in (True, False):
            emulation = crowd(uplink, uphold)
            records = emulation.records
            camera = records[(records["class"] == VIDEO) & (records["in_ns"] >= 1e9)]
            share = float(np.mean(camera["fate"] == 0))
            voice = delays(emulation, source, VOICE)
            if uphold:
                figures += [
                    Figure(f"{way}: the responder's camera, goodput", "Mbit/s", 5.0, 5.0 * share, relative=0.005),
                    Figure(
                        f"{way}: the responder's voice, 99th percentile of delay",
                        "ms",
                        6.0,
                        float(np.percentile(voice, 99)),
                        absolute=5.0,
                    ),
                ]
            else:
                figures.append(
                    Figure(f"{way}: the same camera with `uphold_guarantees: false`", "Mbit/s", 3.5, 5.0 * share, absolute=1.0)
                )
    return Chapter(
        "LTE: first responders before civilians",
        "A cell of 25 resource blocks (17.6 Mbit/s down, 18.3 up). A first responder has bearers with guaranteed rates for a"
        " voice flow (QCI 65, 80 kbit/s) and a camera (QCI 2, 5 Mbit/s); four civilians on their default bearers ask for 20 "
        "Mbit/s. What has a guarantee is untouched, and civilians share the rest; voice keeps far under its delay budget of "
        "75 ms (TS 23.203, Table 6.1.7). Without upholding, ns-3's proportional fair downlink and round robin uplink give a "
        "UE its fifth of the cell, 3.5 Mbit/s.",
        figures,
    )


def jain(values: list[float]) -> float:
    """Fairness index of Jain, Chiu and Hawe (1984): 1 when all are equal, 1/n when one has everything."""
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def fairness() -> Chapter:
    figures = []
    distances = (100, 1000, 5000, 9000)
    stations = {f"ue{number}": {"role": "ue", "distance": f"{distance} m"} for number, distance in enumerate(distances)}
    cell = {"stations": stations | {"core": {"role": "gateway"}}, "resource_blocks": 25, "tx_power": "30 dBm"}
    for scheduler, quantity, expected in (
        ("rr", "resource blocks", 1.0),
        ("pf", "resource blocks", 1.0),
        ("fdbet", "goodput", 1.0),
        ("tdmt", "goodput", 0.25),
    ):
        given = cell | {"scheduler": scheduler}
        emulation = emulate("lte", given, saturated(given, False, list(stations), 15 * MEGABIT, 1.5), duration_s=5.0)
        if quantity == "goodput":
            values = [goodput(emulation, name, 4, 1500, 1.3, 2.5) for name in stations]
        else:
            counters = emulation.statistics["segment"]["stations"]
            values = [counters[name]["resource_blocks_downlink"] for name in stations]
        figures.append(Figure(f"{scheduler}, downlink: fairness of {quantity}", "", expected, jain(values), absolute=0.1))
    near = cell | {"distance": "100 m", "stations": {name: {"role": s["role"]} for name, s in cell["stations"].items()}}  # type: ignore[attr-defined]
    emulation = emulate("lte", near, saturated(near, True, list(stations), 15 * MEGABIT, 1.5), duration_s=5.0)
    values = [goodput(emulation, "core", number, 1500, 1.3, 2.5) for number in range(4)]
    figures.append(Figure("uplink, all at 100 m: fairness of goodput", "", 1.0, jain(values), absolute=0.02))
    return Chapter(
        "LTE: what schedulers share out",
        "Four UEs at 0.1, 1, 5 and 9 km, all asking for more than the cell has. Jain's index of what each scheduler is to "
        "make equal: round robin and proportional fair, where channels do not fade, the resource blocks; blind equal "
        "throughput the goodput; maximum throughput gives everything to the best channel (1/4). Each within 0.1: schedulers "
        "start with no knowledge of past throughput, and retransmissions are not shared out. The uplink is round robin with "
        "all.",
        figures,
    )


def handover() -> Chapter:
    figures = []
    for algorithm in ("a3-rsrp", "a2-a4-rsrq"):
        path = [{"at": "0 s", "position": ["100 m", "0 m"]}, {"at": "20 s", "position": ["900 m", "0 m"]}]
        cell = {
            "stations": {"ue": {"role": "ue", "path": path}, "core": {"role": "gateway"}},
            "enodebs": {"west": {"position": ["0 m", "0 m"]}, "east": {"position": ["1000 m", "0 m"]}},
            "handover": algorithm,
            "propagation": "log-distance",
            "path_loss_exponent": 3,
            "tx_power": "36 dBm",
            "resource_blocks": 25,
        }
        frames = {"ue": [hello(0)], "core": [hello(1), *flow(1, 0, 200, 320e3, 20.0)]}
        emulation = emulate("lte", cell, frames)
        events = emulation.events("handover")
        times = np.array([time for time, frame in emulation.received["ue"] if frame[6:12] == mac(1) and time >= 1.0])
        when = events[0]["at_s"] + 0.8 if events else 0.0
        near = (times > when - 0.1) & (times < when + 0.3)
        gap = float(np.diff(times[near]).max()) * 1e3
        figures += [
            Figure(f"{algorithm}: handovers on the way", "", 1.0, float(len(events)), absolute=0.0),
            Figure(f"{algorithm}: longest gap in the downlink at the handover", "ms", 30.0, gap, absolute=25.0),
        ]
    return Chapter(
        "LTE: handover",
        "A UE goes from one eNodeB to another 1 km away, at 40 m/s, with a packet each 5 ms in the downlink. It is handed "
        "over once, over X2. 3GPP reckons with an interruption of 49.5 ms (TR 36.881, 5.2.5.2); ns-3's signalling is ideal, "
        "and what remains is random access and the forwarding of packets, so 5 to 55 ms are to be seen.",
        figures,
    )


def latency() -> Chapter:
    cell = ONE | {"distance": "300 m"}
    frames = {
        # Not at multiples of a subframe, so that all phases are met.
        "ue": [hello(0), *flow(0, 1, 100, 100 * 8 / 20.37e-3, 4.0)],
        "core": [hello(1), *flow(1, 0, 100, 100 * 8 / 20.37e-3, 4.0)],
    }
    emulation = emulate("lte", cell, frames)
    return Chapter(
        "LTE: latency of an idle cell",
        "Packets of 100 bytes each 20.37 ms. Downlink: to the next subframe 0.5 ms, two subframes from the MAC to the "
        "antenna, one on the air: 3.5 to 4 ms, as ns-3 hands over at a subframe's end. Uplink: a buffer status report, its "
        "way of four subframes, the grant four subframes later (TS 36.213, 8), the packet itself: 10 to 14 ms, about what TR"
        " 36.912, B.2.1, has (11.5 ms with scheduling request).",
        [
            Figure("downlink: median delay", "ms", 4.0, float(np.median(delays(emulation, 1))), absolute=1.0),
            Figure("uplink: median delay", "ms", 12.0, float(np.median(delays(emulation, 0))), absolute=2.0),
        ],
    )
