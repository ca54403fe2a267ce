# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from applications.registry import applications
from contracts.installation import CHECKOUT, PYTHON
from netboxes.technology import technologies
from testbed.description.topology_schema import schema
from testbed.description.yaml_source import read

TOPOLOGIES = CHECKOUT / "topologies"
OURS = sorted(file for file in TOPOLOGIES.glob("*.yaml") if not file.stem.endswith(".reference"))
VALIDATOR = Draft202012Validator(schema())
EMERGENCY: dict[str, Any] = read(TOPOLOGIES / "emergency.yaml").data


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.stem)
def test_our_topologies_agree_with_the_schema(file: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(read(file).data)] == []


def test_it_is_what_the_command_prints() -> None:
    done = run([PYTHON, CHECKOUT / "netboxit.py", "schema"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == schema()


def test_every_technology_and_application_is_in_it() -> None:
    properties = [part.get("properties", {}) for part in schema()["$defs"].values()]
    assert {part["technology"]["const"] for part in properties if "technology" in part} == set(technologies())
    told = [part["application"] for part in properties if "application" in part]
    assert {application["const"] for application in told if "const" in application} == set(applications())


@pytest.mark.parametrize(
    ("technology", "said"),
    [
        ("link", {"jitter": "2 ms"}),
        ("link", {"jitter": {"deviation": "2 ms"}}),
        ("link", {"loss": 0.01, "corruption": 1e-6}),
        ("link", {"queue": 20}),
        ("link", {"queue": "codel"}),
        ("link", {"queue": {"discipline": "pie", "target": "20 ms"}}),
        ("link", {"trace": "series.csv"}),
        ("link", {"stations": {"left": None, "right": {}}}),
        ("link", {"stations": {"left": {"queue": 20}, "right": {"loss": 0.1}}}),
        ("wifi", {"nakagami_m": 1.5}),
        ("wifi", {"nakagami_m": [["0 m", 1.5], ["80 m", 0.75]]}),
        ("satellite", {"delay_gaps": "gaps.csv", "fade_profile": "fades.csv"}),
        ("satellite", {"delay_gaps": [["10 s", "1 s"]], "fade_profile": [["0 s", "0 dB"], ["5 s", "3 dB"]]}),
        ("satellite", {"capacity_request": "CRA"}),
        ("satellite", {"capacity_request": ["CRA", "VBDC"]}),
    ],
)
def test_every_way_to_say_it_is_in_the_schema(technology: str, said: dict[str, Any]) -> None:
    netbox = {"technology": technology, **(technologies()[technology].TYPICAL or {}), **said}
    assert [error.message for error in VALIDATOR.iter_errors({"name": "x", "netboxes": {"box": netbox}})] == []


@pytest.mark.parametrize("where", [{"position": ["1 m", "2 m"]}, {"position": ["1 m", "2 m", "3 m"]}, {"path": "walk.csv"}])
def test_so_is_every_way_to_say_where_a_station_is(where: dict[str, Any]) -> None:
    network = deepcopy(EMERGENCY)
    network["netboxes"]["field"]["stations"]["responder"] |= where
    assert [error.message for error in VALIDATOR.iter_errors(network)] == []


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        (("netboxes", "field"), "distance", 80),
        (("netboxes", "field"), "distance", "80 furlongs"),
        (("netboxes", "field"), "distnce", "80 m"),
        (("netboxes", "field"), "technology", "wify"),
        (("netboxes", "backhaul"), "packet_error_rate", 2),
        (("traffic", "call"), "application", "cal"),
        (("hosts",), "Not a name", "x"),
        (("realtime",), "policy", "makr"),
        ((), "netboxs", {}),
    ],
)
def test_an_editor_sees_the_mistake(section: tuple[str, ...], key: str, value: object) -> None:
    network = deepcopy(EMERGENCY)
    part = network
    for step in section:
        part = part[step]
    part[key] = value
    assert not VALIDATOR.is_valid(network)


@pytest.mark.parametrize(
    ("wire", "right"),
    [
        (["fr1", "field.responder"], True),
        ({"ends": ["fr1", "field.responder"]}, True),
        ({"ends": ["fr1", "field.responder"], "wire": "veth"}, True),
        ({"ends": ["fr1", "field.responder"], "wire": "cable"}, False),
        ({"wire": "veth"}, False),
        (["fr1"], False),
        ("fr1", False),
    ],
)
def test_an_editor_knows_both_ways_of_writing_a_wire(wire: object, right: bool) -> None:
    network = deepcopy(EMERGENCY)
    network["wires"][0] = wire
    assert VALIDATOR.is_valid(network) == right
