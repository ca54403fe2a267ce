# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared channels of all shapes, with live changes at any time: whatever happens, each copy of each frame has one fate.

`netboxes.random_parameters` tries all parameters, of which most sets are refused; these are made so that most run.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from netboxes.engine.virtual import Change, EmulationFailed, emulate
from netboxes.queueing.queue import Queue
from netboxes.random_parameters import frames
from netboxes.satellite.parameters import Parameters

METHODS = [
    ["CRA"],
    ["RBDC"],
    ["VBDC"],
    ["AVBDC"],
    ["FCA"],
    ["CRA", "RBDC"],
    ["CRA", "VBDC", "FCA"],
    ["RBDC", "FCA"],
    ["AVBDC", "FCA"],
]
DISCIPLINES = ["fifo", "priority", "codel", "fq-codel", "pie", "red"]
RAIN = {"rain_rate": 42, "latitude": 44.6, "elevation": 38, "uplink_frequency": "29.5 GHz", "downlink_frequency": "19.7 GHz"}
CLASSES = [{"name": "voice", "match": {"dscp": [46]}}, {"name": "video", "match": {"dscp": [34]}}]


def channel(chance: random.Random) -> dict[str, Any]:
    stations: dict[str, dict[str, Any]] = {
        f"t{i}": {"role": "terminal"} | _of_terminal(chance) for i in range(chance.choice((1, 2, 5, 12)))
    }
    common: dict[str, Any] = {
        "stations": stations | {"hub": {"role": "gateway"}},
        "return_channel": "shared",
        "return_rate": f"{10 ** chance.uniform(3.5, 7):.0f} bit/s",
        "forward_rate": f"{10 ** chance.uniform(4.5, 8):.0f} bit/s",
        "capacity_request": chance.choice(METHODS),
        "request_classes": chance.choice(({}, {"voice": {"capacity_request": chance.choice(METHODS), "cra_rate": "1 kbit/s"}})),
        "return_carriers": chance.choice((1, 2, 8)),
        "superframe": f"{10 ** chance.uniform(-2, 0):.4f} s",
        "control_interval": chance.choice((1, 2, 7)),
        "return_waveform": chance.randint(3, 18),
        "coding": chance.choice(("fixed", "adaptive")),
        "connectivity": chance.choice(("star", "mesh")),
        "queue": {"discipline": chance.choice(DISCIPLINES), "buffer": f"{10 ** chance.uniform(-3, 1.3):.4f} s"},
        "vbdc_max": f"{10 ** chance.uniform(0, 7):.0f} B",
        "rbdc_max": f"{10 ** chance.uniform(3, 8):.0f} bit/s",
        "packet_error_rate": chance.choice((0.0, 0.1)),
    }
    variants: list[dict[str, Any]] = [
        {"delay": chance.choice(("0 s", "254 ms", "5 s"))},
        {"delay_gaps": [["300 ms", "200 ms"], ["1 s", "100 ms"]]},
        {"orbit": {"altitude": "800 km", "every": "10 s", "gap": "1 s"}},
    ]
    return common | chance.choice(variants)


def _of_terminal(chance: random.Random) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    if chance.random() < 0.2:
        parameters["capacity_request"] = chance.choice(METHODS)
    if chance.random() < 0.2:
        parameters["delay"] = chance.choice(("0 s", "300 ms", "5 s"))
    if chance.random() < 0.1:
        parameters["fade_profile"] = [["0 s", "0 dB"], ["1 s", "30 dB"], ["2 s", "0 dB"]]
    if chance.random() < 0.1:
        parameters["rain"] = RAIN | {"speed_up": 1000, "begins_with": "10 dB"}
    return parameters


def changes(terminals: list[str], chance: random.Random) -> list[Change]:
    changes: list[Change] = []
    for _ in range(chance.choice((0, 2, 6))):
        terminal = chance.choice(terminals)
        what: list[tuple[str, Any]] = [
            ("fade", chance.choice((0.0, 10.0, 100.0))),
            (f"{terminal}.fade", chance.choice((0.0, 25.0))),
            (f"{terminal}.outage", chance.random() < 0.5),
            (f"{terminal}.delay", chance.choice((0.0, 5.0))),
            (f"{terminal}.cra_rate", chance.choice((0.0, 1e4, 1e9))),
            (f"{terminal}.rbdc_max", chance.choice((0.0, 1e9))),
            (f"{terminal}.return_es_n0", chance.uniform(-20, 60)),
            ("outage", chance.random() < 0.3),
            ("return_rate", 10 ** chance.uniform(4, 8)),
            ("forward_rate", 10 ** chance.uniform(5, 8)),
            ("queue", Queue(discipline=chance.choice(DISCIPLINES), packets=10).model_dump()),
        ]
        changes.append((chance.uniform(0.0, 3.0), *chance.choice(what)))
    return sorted(changes, key=lambda change: change[0])


@pytest.mark.parametrize("number", range(30))
def test_each_copy_has_one_fate_whatever_the_channel(number: int) -> None:
    chance = random.Random(number)
    while True:
        parameters = channel(chance)
        try:
            stations = list(Parameters.model_validate(parameters).stations)
            break
        except ValueError as error:
            assert len(str(error)) > 60
    sent = {name: [(10 * at, frame) for at, frame in timed] for name, timed in frames(stations, chance).items()}
    events = changes(stations[:-1], chance)
    try:
        emulation = emulate("satellite", parameters, sent, events=events, classes=CLASSES, duration_s=60.0)
    except EmulationFailed as error:
        # A rate that the channel cannot have, set while it runs.
        assert "keeps its slots" in str(error) or "longer than 2 s" in str(error)
        return
    counted = emulation.statistics["frames"]
    assert counted["duplicates"] == 0 and counted["lost"]["unknown"] == 0 and counted["inside"] == 0
