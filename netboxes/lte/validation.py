# SPDX-License-Identifier: GPL-2.0-or-later
"""LTE: peak rates, guaranteed bearers, fairness and latency; the radio's part is in validation_radio.py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netboxes.engine.virtual import Emulation, emulate
from netboxes.lte.cell_under_test import (
    AF41,
    CLASSES,
    EF,
    IN_GROUPS,
    LARGEST_BLOCK,
    MEGABIT,
    ONE,
    VIDEO,
    VOICE,
    delays,
    flow,
    goodput,
    hello,
    saturated,
)
from netboxes.lte.validation_radio import fading, handover, handover_place, link_budget, path_loss
from netboxes.validation import Chapter, Curve, Figure, Plot

BANDWIDTHS = (6, 15, 25, 50, 75, 100)


def chapters() -> Iterator[Chapter]:
    yield peak_rates()
    yield link_budget()
    yield path_loss()
    yield fading()
    yield guarantees()
    yield fairness()
    yield handover()
    yield handover_place()
    yield latency()


def peak_rates() -> Chapter:
    figures, measured = [], {"downlink": [], "uplink": []}  # type: ignore[var-annotated]
    for blocks in BANDWIDTHS:
        for direction in measured:
            uplink = direction == "uplink"
            peak = LARGEST_BLOCK[blocks if uplink else IN_GROUPS[blocks]] * 1e3
            # What a sender sends with all its power at once reaches the peak from 50 m; power control would have it sink below.
            cell = ONE | {"resource_blocks": blocks, "distance": "50 m", "uplink_power_control": False}
            emulation = emulate("lte", cell, saturated(cell, uplink, ["ue"], peak * 1.1, 0.6))
            rate = goodput(emulation, "core" if uplink else "ue", 0 if uplink else 1, 1500, 1.2, 1.6)
            figures.append(
                Figure(
                    f"{blocks} resource blocks, {direction}: goodput", "Mbit/s", peak / MEGABIT, rate / MEGABIT, relative=0.015
                )
            )
            measured[direction].append(rate / MEGABIT)
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
    for direction in ("downlink", "uplink"):
        uplink = direction == "uplink"
        source = 0 if uplink else 5
        for uphold in (True, False):
            emulation = crowd(uplink, uphold)
            records = emulation.records
            camera = records[(records["class"] == VIDEO) & (records["in_ns"] >= 1e9)]
            share = float(np.mean(camera["fate"] == 0))
            voice = delays(emulation, source, VOICE)
            if uphold:
                figures += [
                    Figure(f"{direction}: the responder's camera, goodput", "Mbit/s", 5.0, 5.0 * share, relative=0.005),
                    Figure(
                        f"{direction}: the responder's voice, 99th percentile of delay",
                        "ms",
                        6.0,
                        float(np.percentile(voice, 99)),
                        absolute=5.0,
                    ),
                ]
            else:
                figures.append(
                    Figure(
                        f"{direction}: the same camera with `uphold_guarantees: false`", "Mbit/s", 3.5, 5.0 * share, absolute=1.0
                    )
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
        parameters = cell | {"scheduler": scheduler}
        frames = saturated(parameters, False, list(stations), 15 * MEGABIT, 1.5)
        emulation = emulate("lte", parameters, frames, duration_s=5.0)
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
