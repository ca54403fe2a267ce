# SPDX-License-Identifier: GPL-2.0-or-later
"""The status of a lab over two machines, from what each of them says of its part."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from contracts.node_status import NodeStatus
from contracts.plan import RealtimeSupport
from testbed.description import topology_file
from testbed.documents import kinds
from testbed.documents.status import LabStatus
from testbed.plans.resolve import resolve
from testbed.several_hosts.distributed_lab import merged
from tests.documents import result

PAIR = """
name: pair
hosts: {a: {address: 10.1.0.1/24}, b: {address: 10.1.0.2/24}}
wires: [[a, b]]
"""


def part(node: str, *events: tuple[float, str]) -> Any:
    told = [{"kind": "event", "node": node, "at_s": at_s, "words": words} for at_s, words in events]
    return {"lab": "pair", "nodes": [{"name": node, "netbox": None}], "wires": [], "equipment": [], "notes": [], "events": told}


def test_events_of_all_machines_are_in_the_order_of_time(tmp_path: Path) -> None:
    (file := tmp_path / "pair.yaml").write_text(PAIR)
    plan = resolve(topology_file.load(file), cores=(0, 1), realtime=RealtimeSupport(True, 950_000, ""))
    record: Any = SimpleNamespace(whole=lambda: plan, here="alpha")
    own, other = part("a", (1.0, "a: off"), (3.0, "a: on")), part("b", (2.0, "b: off"))
    status = merged(record, own, {"beta": other, "gamma": "gamma does not answer"})
    assert [event["words"] for event in status["events"]] == ["a: off", "b: off", "a: on"]
    assert status["notes"][-1] == "gamma does not answer"


def test_what_is_on_a_machine_that_does_not_answer_is_told_as_far_as_it_was_planned(tmp_path: Path) -> None:
    """With the keys of any other node: programs read both alike."""
    (file := tmp_path / "pair.yaml").write_text(PAIR)
    plan = resolve(topology_file.load(file), cores=(0, 1), realtime=RealtimeSupport(True, 950_000, ""))
    nodes = tuple(replace(node, host="alpha" if node.name == "a" else "beta") for node in plan.nodes)
    whole = replace(plan, nodes=nodes, wires=tuple(replace(wire, kind="vxlan") for wire in plan.wires))
    node: NodeStatus = {
        "name": "a",
        "kind": "host",
        "alive": True,
        "confined": True,
        "cores": [0],
        "limits_reached": [],
        "network_changes": [],
        "awake": False,
        "addresses": ["10.1.0.1/24"],
        "netbox": None,
        "program": None,
        "management": None,
        "switch": None,
    }
    own: LabStatus = {
        "lab": "pair",
        "folder": "/x",
        "nodes": [node],
        "wires": [],
        "equipment": [],
        "notes": [],
        "began_ns": None,
        "events": [],
    }
    record: Any = SimpleNamespace(whole=lambda: whole, here="alpha")
    told = result(json.dumps(kinds.UP.of(merged(record, own, {"beta": "beta does not answer"}))), "up")
    here, there = told["nodes"]
    assert here.keys() == there.keys()
    assert (there["alive"], there["host"], there["addresses"]) == (None, "beta", ["10.1.0.2/24"])
    assert told["hosts"] == {"here": "alpha", "reached": ["alpha"], "not_reached": ["beta"]}
