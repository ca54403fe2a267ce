# SPDX-License-Identifier: GPL-2.0-or-later
"""A network that is changed while its lab is up, in parts, and what was done to the lab then."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from system import cores
from testbed.changing import alteration
from testbed.changing.alteration import Applied
from testbed.labs.lab import Lab

#: Two pairs of hosts, each with a netbox in between; the first pair has a wire of its own besides.
NETWORK: dict[str, Any] = {
    "name": f"altered{os.getpid()}",
    "hosts": {
        "p": {"interfaces": {"net": "10.1.0.1/24", "wire": "10.2.0.1/24"}},
        "q": {"interfaces": {"net": "10.1.0.2/24", "wire": "10.2.0.2/24"}},
        "a": {"interfaces": {"net": "10.3.0.1/24"}},
        "b": {"interfaces": {"net": "10.3.0.2/24"}},
    },
    "netboxes": {
        "quiet": {"technology": "link", "stations": {"left": {}, "right": {}}},
        "busy": {"technology": "ethernet", "stations": {"left": {}, "right": {}, "third": {}}},
    },
    "routers": {"r": {"engine": "linux", "interfaces": {"net": "10.3.0.254/24"}}},
    "wires": [
        ["p.net", "quiet.left"],
        ["quiet.right", "q.net"],
        ["p.wire", "q.wire"],
        ["a.net", "busy.left"],
        ["busy.right", "b.net"],
        ["busy.third", "r"],
    ],
}


def edited(*edits: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    network = copy.deepcopy(NETWORK)
    for edit in edits:
        edit(network)
    return network


def station_more(network: dict[str, Any]) -> None:
    network["hosts"]["c"] = {"address": "10.3.0.3/24"}
    network["netboxes"]["busy"]["stations"]["more"] = {}
    network["wires"].append(["c", "busy.more"])


def other_address(network: dict[str, Any]) -> None:
    network["hosts"]["b"]["interfaces"]["net"] = ["10.3.0.9/24", "fd00::9/64"]
    network["hosts"]["a"]["interfaces"]["net"] = ["10.3.0.1/24", "fd00::1/64"]
    network["hosts"]["b"]["gateway"] = "10.3.0.254"


def wire_more(network: dict[str, Any]) -> None:
    network["hosts"]["a"]["interfaces"]["side"] = "10.4.0.1/24"
    network["hosts"]["b"]["interfaces"]["side"] = "10.4.0.2/24"
    network["wires"].append(["a.side", "b.side"])


def live_parameter(network: dict[str, Any]) -> None:
    network["netboxes"]["busy"]["delay"] = "2 us"


def apply(network: dict[str, Any], folder: Path) -> Applied:
    (file := folder / "altered.yaml").write_text(json.dumps(network))  # JSON is YAML
    return alteration.apply(file, None)


def touched(applied: Applied) -> dict[str, str]:
    assert applied.difference is not None
    return {part.name: part.action for part in applied.difference.parts() if part.action != "unchanged"}


def reaches(lab: Lab, host: str, other: str) -> bool:
    return lab.run(host, ["ping", "-c", "1", "-W", "5", other]).returncode == 0


def inits(lab: Lab) -> dict[str, int]:
    """The first process of each node: another one after a restart."""
    return {node.name: min(cores.processes(node.container)) for node in lab.plan.nodes}
