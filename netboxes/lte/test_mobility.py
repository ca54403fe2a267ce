# SPDX-License-Identifier: GPL-2.0-or-later
"""UEs that move, lose their cell, and are handed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import EmulationFailed, emulate
from netboxes.lte.cell_under_test import flow, goodput, hello, lost

UE, CORE = 0, 1
TWO_CELLS: dict[str, Any] = {
    "stations": {"ue": {"role": "ue", "position": ["200 m", "0 m"]}, "core": {"role": "gateway"}},
    "enodebs": {"west": {"position": ["0 m", "0 m"]}, "east": {"position": ["1 km", "0 m"]}},
    "resource_blocks": 25,
    "tx_power": "36 dBm",
    "propagation": "log-distance",
    "path_loss_exponent": 3,
}


def talk(seconds: float) -> dict[str, Any]:
    return {"ue": [hello(UE), *flow(UE, CORE, 200, 320e3, seconds)], "core": [hello(CORE), *flow(CORE, UE, 200, 320e3, seconds)]}


@pytest.mark.parametrize("algorithm", ["a3-rsrp", "a2-a4-rsrq"])
def test_a_terminal_that_goes_to_another_cell_is_handed_over_with_few_losses(algorithm: str) -> None:
    path = [{"at": "0 s", "position": ["300 m", "0 m"]}, {"at": "5 s", "position": ["800 m", "0 m"]}]
    cell = TWO_CELLS | {"handover": algorithm, "stations": {"ue": {"role": "ue", "path": path}, "core": {"role": "gateway"}}}
    emulation = emulate("lte", cell, talk(6.0))
    assert [(event["station"], event["from"], event["to"]) for event in emulation.events("handover")] == [("ue", "west", "east")]
    assert emulation.statistics["segment"]["stations"]["ue"]["cell"] == "east"
    assert sum(lost(emulation).values()) < 60  # of 2400, at 100 m/s
    assert goodput(emulation, "ue", CORE, 200, 6.0, 7.0) == pytest.approx(320e3, rel=0.02)


def test_a_handover_by_hand_interrupts_for_some_tens_of_milliseconds() -> None:
    cell = TWO_CELLS | {
        "handover": "none",
        "stations": {"ue": {"role": "ue", "position": ["500 m", "0 m"]}, "core": {"role": "gateway"}},
    }
    emulation = emulate("lte", cell, talk(2.0), events=[(2.0, "ue.handover", "east"), (2.5, "ue.handover", "west")])
    went = [(event["from"], event["to"]) for event in emulation.events("handover")]
    # The two cells are equally far, and which one it chose first does not matter.
    assert went in ([("west", "east"), ("east", "west")], [("east", "west")])
    times = np.array([time for time, _ in emulation.received["ue"] if time > 1.5])
    assert 0.005 < np.diff(times).max() < 0.060


def test_what_cannot_be_is_said_and_changes_nothing() -> None:
    emulation = emulate("lte", TWO_CELLS, talk(1.0), events=[(1.5, "ue.handover", "west")])
    assert [event["reason"] for event in emulation.events("handover_failed")] == ["in this cell already"]
    for parameter, value, message in (
        ("ue.handover", "north", "west, east"),
        ("ue.tx_power", 99.0, "-40 to 33 dBm"),
        ("ue.position", [0.0, 1e9, 0.0], "1000000"),
        ("core.position", [0.0, 0.0, 0.0], "gateway"),
        ("colour", 1.0, "distance fade outage queue tx_power ue_tx_power"),
    ):
        with pytest.raises(EmulationFailed, match=message):
            emulate("lte", TWO_CELLS, talk(0.1), events=[(1.0, parameter, value)])


def test_a_terminal_out_of_reach_loses_its_link_and_comes_back() -> None:
    cell = {"stations": {"ue": {"role": "ue"}, "core": {"role": "gateway"}}, "distance": "500 m"}
    events = [(2.0, "ue.distance", 90e3), (2.0, "tx_power", 0.0), (5.0, "ue.distance", 500.0), (5.0, "tx_power", 43.0)]
    emulation = emulate("lte", cell, talk(6.0), events=events)
    changes = [
        (event["event"], event.get("reason")) for event in emulation.journal if event.get("event") in ("link_up", "link_down")
    ]
    assert changes == [("link_down", "radio link failure"), ("link_up", None)]
    # Six times 200 ms out of synchronism, then T310 of 1 s (TS 36.331, 5.3.11 and TS 36.133, 7.6): 2.2 s, from 2 s on.
    assert emulation.events("link_down")[0]["at_s"] + 0.8 == pytest.approx(4.2, abs=0.1)
    assert lost(emulation)["outage"] > 100
    assert goodput(emulation, "ue", CORE, 200, 6.0, 7.0) == pytest.approx(320e3, rel=0.02)
    assert emulation.statistics["frames"]["inside"] == 0


def test_a_terminal_that_no_cell_reaches_holds_nobody_up() -> None:
    stations = {"ue": {"role": "ue"}, "core": {"role": "gateway"}, "far": {"role": "ue", "position": ["900 km", "0 m"]}}
    cell = {"stations": stations, "distance": "500 m", "tx_power": "0 dBm", "ue_tx_power": "0 dBm"}
    emulation = emulate("lte", cell, {**talk(0.5), "far": [hello(2)]}, duration_s=4.0)
    events = [event for event in emulation.statistics["events"] if event.get("station") == "far"]
    assert [(event["event"], event.get("reason")) for event in events] == [("link_down", "not attached yet")]
    assert emulation.statistics["segment"]["stations"]["far"]["connected"] is False


def test_statistics_follow_the_radio() -> None:
    cell = TWO_CELLS | {"enodebs": {"west": {}}, "propagation": "friis", "distance": "2 km"}
    cell |= {"stations": {"ue": {"role": "ue", "position": ["2 km", "0 m"]}, "core": {"role": "gateway"}}, "tx_power": "10 dBm"}
    counters = emulate("lte", cell, talk(1.0)).statistics["segment"]["stations"]["ue"]
    # 10 dBm - Friis at 1842.5 MHz over 2 km (103.8 dB) + 174 dBm/Hz - 9 dB - 66.5 dB in 4.5 MHz.
    assert counters["sinr_downlink"] == pytest.approx(4.7, abs=0.3)
    assert 0 < counters["mcs_downlink"] < 20
    assert counters["transport_blocks_downlink"] > 200
    assert counters["resource_blocks_downlink"] >= counters["transport_blocks_downlink"]
    assert counters["bearers"] == 1 and counters["cell"] == "west"
