# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from netboxes.technology import technologies
from testbed.description.topology_schema import schema
from testbed.description.yaml_source import read
from testbed.installation import CHECKOUT
from traffic.application import applications

VALIDATOR = Draft202012Validator(schema())
EMERGENCY: dict[str, Any] = read(CHECKOUT / "topologies" / "emergency.yaml").data


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


def test_the_emergency_network_agrees_with_the_schema() -> None:
    assert [error.message for error in VALIDATOR.iter_errors(EMERGENCY)] == []


def test_every_technology_and_application_is_in_it() -> None:
    properties = [part.get("properties", {}) for part in schema()["$defs"].values()]
    assert {part["technology"]["const"] for part in properties if "technology" in part} == set(technologies())
    assert {part["application"]["const"] for part in properties if "application" in part} == set(applications())


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
