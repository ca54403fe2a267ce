# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
from typing import Any

from results.timekeeping import ports_of_switches, timekeeping

PLAN: dict[str, Any] = {
    "lateness_limit_s": 1e-3,
    "lateness_policy": "mark",
    "nodes": [
        {"name": "cell", "cores": [1], "files": {"netbox.json": json.dumps({"realtime": {"limit_us": 50, "policy": "abort"}})}},
        {"name": "sky", "cores": [2, 3], "files": {}},
    ],
}
COUNTED: dict[str, Any] = {
    "ports": [
        {"name": "a", "received": 70, "overload_drops": 2, "send_drops": 0},
        {"name": "b", "received": 30, "overload_drops": 1, "send_drops": 4},
    ],
    "missed": 200,
    "misses": [{"at_s": 12.5, "what": "event", "lateness_us": 1234.0}],
    "scheduler": {"cpu_s": 0.5, "stepped_back": 1},
}
LAB = {"began_s": {"cell": 10.0}, "steal_by_core": {"0": 0.5, "1": 0.01, "2": 0.02, "3": None}}


def test_each_netbox_is_held_to_its_own_promise_and_the_others_to_the_labs() -> None:
    found = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB)
    assert (found["cell"]["limit_us"], found["cell"]["policy"]) == (50, "abort")
    assert (found["sky"]["limit_us"], found["sky"]["policy"]) == (1000.0, "mark")


def test_drops_are_those_of_all_ports() -> None:
    found = timekeeping(PLAN, {"cell": COUNTED}, LAB)["cell"]
    assert (found["received"], found["overload_drops"], found["send_drops"]) == (100, 3, 4)


def test_what_was_dropped_at_a_wire_that_an_event_unplugged_is_nobodys_fault() -> None:
    plan = PLAN | {
        "wires": [{"name": "w", "left": {"node": "cell", "interface": "b"}, "right": {"node": "sky", "interface": "a"}}],
        "events": [{"at_s": 1.0, "change": {"kind": "wire", "wire": "w", "state": "down", "node": "cell", "interface": "b"}}],
    }
    found = timekeeping(plan, {"cell": COUNTED}, LAB)["cell"]
    assert (found["overload_drops"], found["send_drops"], found["unplugged_drops"]) == (2, 0, 4)


def test_what_a_switch_dropped_at_such_a_wire_is_told_apart() -> None:
    plan = PLAN | {
        "wires": [{"name": "w", "left": {"node": "floor", "interface": "b"}, "right": {"node": "sky", "interface": "a"}}],
        "events": [{"at_s": 1.0, "change": {"kind": "wire", "wire": "w", "state": "down", "node": "floor", "interface": "b"}}],
    }
    port = {"received": 10, "receive_drops": 3, "send_drops": 1, "policed": 0}
    floor = {"datapath": "netdev", "ports": {"a": port, "b": port}, "unserved": 0}
    found: Any = ports_of_switches(plan, {"floor": floor})["floor"]["ports"]
    assert found["a"] == port | {"unplugged_drops": 0}
    assert found["b"] == port | {"receive_drops": 0, "send_drops": 0, "unplugged_drops": 4}


def test_what_was_dropped_at_a_node_without_power_is_nobodys_fault() -> None:
    plan = PLAN | {
        "wires": [{"name": "w", "left": {"node": "cell", "interface": "b"}, "right": {"node": "meoc", "interface": "a"}}],
        "events": [{"at_s": 1.0, "change": {"kind": "power", "node": "meoc", "power": "off"}}],
    }
    assert timekeeping(plan, {"cell": COUNTED}, LAB)["cell"]["unplugged_drops"] == 4


def test_a_netbox_knows_when_the_run_itself_stalled_it() -> None:
    stalled = {"kind": "stall", "netbox": "cell", "time_s": 2.0, "details": {"for_s": 0.3}}
    found = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB, [stalled])
    assert (found["cell"]["stalls"], found["sky"]["stalls"]) == ([{"at_s": 2.0, "for_s": 0.3}], [])


def test_misses_have_the_time_since_the_traffic_began_where_that_is_known() -> None:
    found = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB)
    assert found["cell"]["misses"] == [{"after_s": 2.5, "what": "event", "lateness_us": 1234.0}]
    assert found["sky"]["misses"][0]["after_s"] is None


def test_time_is_stolen_from_a_netboxs_own_cores() -> None:
    found = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB)
    assert (found["cell"]["steal_ratio"], found["sky"]["steal_ratio"]) == (0.01, 0.02)
    assert timekeeping(PLAN, {"cell": COUNTED}, {})["cell"]["steal_ratio"] is None
