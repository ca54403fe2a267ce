# SPDX-License-Identifier: GPL-2.0-or-later
"""The status of a lab over two machines, from what each of them says of its part."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from testbed.description import topology_file
from testbed.plan import RealtimeSupport
from testbed.plans.resolve import resolve
from testbed.several_hosts.joined_status import joined

PAIR = """
name: pair
hosts: {a: {address: 10.1.0.1/24}, b: {address: 10.1.0.2/24}}
wires: [[a, b]]
"""


def part(node: str, *events: tuple[float, str]) -> dict[str, Any]:
    told = [{"kind": "event", "node": node, "at_s": at_s, "words": words} for at_s, words in events]
    return {"lab": "pair", "nodes": [{"name": node, "netbox": None}], "wires": [], "equipment": [], "notes": [], "events": told}


def test_events_of_all_machines_are_in_the_order_of_time(tmp_path: Path) -> None:
    (file := tmp_path / "pair.yaml").write_text(PAIR)
    plan = resolve(topology_file.load(file), cores=(0, 1), realtime=RealtimeSupport(True, 950_000, ""))
    parts: Any = SimpleNamespace(whole=lambda: plan, here="alpha")
    own, other = part("a", (1.0, "a: off"), (3.0, "a: on")), part("b", (2.0, "b: off"))
    status = joined(parts, own, {"beta": other, "gamma": "gamma does not answer"})
    assert [event["words"] for event in status["events"]] == ["a: off", "b: off", "a: on"]
    assert status["notes"][-1] == "gamma does not answer"
