# SPDX-License-Identifier: GPL-2.0-or-later
"""UEs and eNodeBs that fade or fall silent, by events and over time; what no eNodeB expects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import Emulation, EmulationFailed, emulate
from netboxes.lte.cell_under_test import flow, goodput, hello

UE, CORE = 0, 1
TWO_CELLS: dict[str, Any] = {
    "stations": {"ue": {"role": "ue", "position": ["300 m", "0 m"]}, "core": {"role": "gateway"}},
    "enodebs": {"west": {}, "east": {"position": ["1 km", "0 m"]}},
    "resource_blocks": 25,
    "tx_power": "30 dBm",
}
#: Six times 200 ms out of synchronism, then T310 of 1 s (TS 36.331, 5.3.11; TS 36.133, 7.6), s.
RADIO_LINK_FAILURE = 2.2


def talk(seconds: float) -> dict[str, Any]:
    return {"ue": [hello(UE), *flow(UE, CORE, 200, 80e3, seconds)], "core": [hello(CORE), *flow(CORE, UE, 200, 80e3, seconds)]}


def told(emulation: Emulation) -> list[tuple[str, str | None]]:
    return [
        (line["event"], line.get("cell") or line.get("to") or line.get("reason"))
        for line in emulation.journal
        if line.get("event") not in (None, "set")
    ]


@pytest.mark.parametrize(
    ("parameter", "value", "back"),
    [("outage", True, False), ("ue.outage", True, False), ("fade", 100.0, 0.0), ("ue.fade", 90.0, 0.0)],
)
def test_what_fades_or_falls_silent_loses_its_link_and_finds_it_again(parameter: str, value: Any, back: Any) -> None:
    emulation = emulate("lte", TWO_CELLS, talk(7.0), events=[(2.0, parameter, value), (6.0, parameter, back)])
    assert told(emulation) == [("link_down", "radio link failure"), ("link_up", "west")]
    down, up = emulation.events("link_down")[0]["at_s"] + 0.8, emulation.events("link_up")[0]["at_s"] + 0.8
    assert down == pytest.approx(2.0 + RADIO_LINK_FAILURE, abs=0.1)
    assert up == pytest.approx(6.3, abs=0.2)
    assert goodput(emulation, "ue", CORE, 200, 7.0, 8.0) == pytest.approx(80e3, rel=0.02)


def test_a_terminal_that_is_heard_no_more_is_down_although_it_hears_its_cell() -> None:
    emulation = emulate("lte", TWO_CELLS, talk(7.0), events=[(2.0, "ue.tx_power", -40.0), (6.5, "ue.tx_power", 23.0)])
    assert told(emulation) == [("link_down", "uplink too weak"), ("link_up", "west")]
    down, up = emulation.events("link_down")[0]["at_s"] + 0.8, emulation.events("link_up")[0]["at_s"] + 0.8
    assert (down, up) == (pytest.approx(5.0, abs=0.1), pytest.approx(6.6, abs=0.1))
    assert goodput(emulation, "core", UE, 200, 7.0, 8.0) == pytest.approx(80e3, rel=0.02)


def test_a_terminal_whose_enodeb_falls_silent_goes_to_another_one() -> None:
    emulation = emulate("lte", TWO_CELLS | {"handover": "none"}, talk(4.0), events=[(2.0, "outage", ["west"])])
    assert told(emulation) == [("link_down", "radio link failure"), ("link_up", "east")]
    gap = emulation.events("link_up")[0]["at_s"] - emulation.events("link_down")[0]["at_s"]
    assert 0.02 < gap < 0.3
    assert goodput(emulation, "core", UE, 200, 4.6, 5.0) == pytest.approx(80e3, rel=0.05)


def test_enodebs_that_are_silent_from_the_beginning_are_not_chosen() -> None:
    emulation = emulate("lte", TWO_CELLS | {"outage": ["west"]}, talk(0.5))
    assert emulation.statistics["segment"]["stations"]["ue"]["cell"] == "east"


def test_a_fade_over_time_adds_to_what_was_said() -> None:
    """SINR and RSRP follow 10 dB of the network and a line from 0 to 20 dB in 4 s."""
    station = {"role": "ue", "position": ["300 m", "0 m"], "fade_series": [["0 s", "0 dB"], ["4 s", "20 dB"]]}
    cell = TWO_CELLS | {"stations": TWO_CELLS["stations"] | {"ue": station}, "enodebs": {"west": {}}, "fade": "10 dB"}
    cell |= {"enodeb_height": "1.5 m"}
    emulation = emulate("lte", cell, {"ue": [hello(UE)], "core": [hello(CORE)]}, interval_s=0.5, duration_s=6.0)
    samples = [(line["at_s"], line["statistics"]["stations"]["ue"]) for line in emulation.journal if "statistics" in line]
    # 30 dBm over 12 subcarriers of each of 25 resource blocks, less Friis's loss in the middle of band 3.
    near = 30.0 - 10 * math.log10(25 * 12) - 20 * math.log10(4 * math.pi * 300.0 * 1842.5e6 / 299792458.0)
    times = np.array([time for time, _ in samples])
    fades = 10.0 + np.clip(times * 5.0, 0.0, 20.0)
    assert len(times) >= 8
    assert np.array([counters["fade"] for _, counters in samples]) == pytest.approx(fades, abs=0.01)
    assert np.array([counters["rsrp"] for _, counters in samples]) == pytest.approx(near - fades, abs=0.1)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("outage", ["north"], "west, east"),
        ("outage", 1, "a list"),
        ("ue.outage", "on", "true or false"),
        ("ue.fade", -1.0, "0 to 100"),
    ],
)
def test_what_cannot_be_is_refused(parameter: str, value: Any, message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        emulate("lte", TWO_CELLS, talk(0.1), events=[(1.0, parameter, value)])


@pytest.mark.parametrize("delay", ["0 s", "300 ms", "1 s"])
def test_a_slow_x2_link_delays_a_handover_and_breaks_nothing(delay: str) -> None:
    middle = {"role": "ue", "position": ["500 m", "0 m"]}
    cell = TWO_CELLS | {"handover": "none", "x2_delay": delay, "stations": TWO_CELLS["stations"] | {"ue": middle}}
    emulation = emulate("lte", cell, talk(6.0), events=[(1.5, "ue.handover", "east"), (4.9, "ue.handover", "west")])
    assert told(emulation) == [("handover", "east"), ("handover", "west")]


def test_a_terminal_that_loses_its_link_while_a_handover_is_prepared_comes_back() -> None:
    cell = TWO_CELLS | {"handover": "none", "x2_delay": "800 ms"}
    emulation = emulate(
        "lte", cell, talk(6.0), events=[(2.0, "outage", True), (3.5, "ue.handover", "east"), (4.5, "outage", False)]
    )
    assert told(emulation) == [("link_down", "radio link failure"), ("link_up", "west")]
    assert goodput(emulation, "ue", CORE, 200, 6.0, 7.0) == pytest.approx(80e3, rel=0.02)
