# SPDX-License-Identifier: GPL-2.0-or-later
"""Bearers of every QoS class identifier, and what becomes of them at a handover."""

from __future__ import annotations

from typing import Any

import pytest

from netboxes.engine.virtual import emulate
from netboxes.lte.cell_under_test import CLASSES, EF, LARGEST_BLOCK, ONE, flow, goodput, hello, lost, saturated
from netboxes.lte.parameters import GUARANTEED, NOT_GUARANTEED

UE, CORE = 0, 1
#: Those that give the cell to whoever hears it best, and to one when all hear it alike.
MAXIMUM_THROUGHPUT = ("fdmt", "tdmt", "tta")


@pytest.mark.parametrize("rlc", ["um", "by-qci"])
@pytest.mark.parametrize("qci", [*GUARANTEED, *NOT_GUARANTEED])
def test_a_bearer_of_each_class_carries_frames_both_ways_and_through_a_handover(qci: int, rlc: str) -> None:
    rates = {"uplink_rate": "100 kbit/s", "downlink_rate": "100 kbit/s"} if qci in GUARANTEED else {}
    cell: dict[str, Any] = {
        "stations": {"ue": {"role": "ue", "position": ["400 m", "0 m"]}, "core": {"role": "gateway"}},
        "enodebs": {"west": {}, "east": {"position": ["1 km", "0 m"]}},
        "handover": "none",
        "resource_blocks": 25,
        "rlc": rlc,
        "bearers": [{"class": "voice", "qci": qci, **rates}],
    }
    frames = {
        "ue": [hello(UE), *flow(UE, CORE, 200, 80e3, 1.0, EF)],
        "core": [hello(CORE), *flow(CORE, UE, 200, 80e3, 1.0, EF)],
    }
    emulation = emulate("lte", cell, frames, classes=CLASSES, events=[(1.3, "ue.handover", "east")])
    assert [event["to"] for event in emulation.events("handover")] == ["east"]
    assert emulation.statistics["segment"]["stations"]["ue"]["bearers"] == 2
    # The handover costs what was in the air, and in acknowledged mode's hands, at that moment.
    assert sum(lost(emulation).values()) <= 2
    assert emulation.statistics["frames"]["delivered"] >= 100


@pytest.mark.parametrize("scheduler", ["pf", "rr", *MAXIMUM_THROUGHPUT, "fdbet", "tdbet", "fdtbfq", "tdtbfq", "pss", "cqa"])
def test_every_scheduler_fills_the_cell_and_shares_it_as_its_name_says(scheduler: str) -> None:
    stations = {name: {"role": "ue", "distance": "100 m"} for name in ("one", "two")} | {"core": {"role": "gateway"}}
    cell = {"stations": stations, "resource_blocks": 6, "scheduler": scheduler, "queue": {"bytes": "10 kB"}}
    emulation = emulate("lte", cell, saturated(cell, False, ["one", "two"], 5e6, 0.6), duration_s=1.8)
    rates = [goodput(emulation, name, 2, 1500, 1.2, 1.6) for name in ("one", "two")]
    assert sum(rates) == pytest.approx(LARGEST_BLOCK[6] * 1e3, rel=0.03)
    if scheduler not in MAXIMUM_THROUGHPUT:
        assert min(rates) == pytest.approx(max(rates), rel=0.1)


def test_what_exceeds_a_maximum_rate_is_dropped() -> None:
    bearer = {
        "class": "voice",
        "qci": 1,
        "uplink_rate": "64 kbit/s",
        "uplink_maximum": "400 kbit/s",
        "downlink_rate": "64 kbit/s",
    }
    cell = ONE | {"resource_blocks": 25, "bearers": [bearer | {"downlink_maximum": "200 kbit/s"}]}
    frames = {
        "ue": [hello(UE), *flow(UE, CORE, 500, 800e3, 1.5, EF)],
        "core": [hello(CORE), *flow(CORE, UE, 500, 800e3, 1.5, EF)],
    }
    emulation = emulate("lte", cell, frames, classes=CLASSES)
    assert goodput(emulation, "core", UE, 500, 1.5, 2.5) == pytest.approx(400e3, rel=0.03)
    assert goodput(emulation, "ue", CORE, 500, 1.5, 2.5) == pytest.approx(200e3, rel=0.03)
    counters = emulation.statistics["segment"]["stations"]["ue"]
    assert set(counters["lost_uplink"]) == set(counters["lost_downlink"]) == {"queue_full"}
