# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.changes import Change, EventPlan, PowerChange, WireChange
from contracts.plan import Plan
from contracts.run_records import LabRecord
from contracts.statistics import SwitchPort, SwitchStatus
from results.conftest import netbox_files, netbox_statistics, node_plan, plan_of, port_counts, wire_plan
from results.timekeeping import ports_of_switches, timekeeping

if TYPE_CHECKING:
    from results.metrics_document import Event

OWN = netbox_files("a", "b", limit_us=50, policy="abort")
PLAN = plan_of([node_plan("cell", "netbox", cores=(1,), files=OWN), node_plan("sky", "netbox", cores=(2, 3))])
COUNTED = netbox_statistics(
    port_counts("a", received=70, overload_drops=2),
    port_counts("b", received=30, overload_drops=1, send_drops=4),
    missed=200,
    misses=[{"at_s": 12.5, "what": "event", "lateness_us": 1234.0}],
    scheduler={"cpu_s": 0.5, "stepped_back": 1},
)
LAB: LabRecord = {"began_s": {"cell": 10.0}, "steal_by_core": {"0": 0.5, "1": 0.01, "2": 0.02, "3": None}}


def switched(node: str, other: str, change: Change) -> Plan:
    """With a wire from b of the node to the other one, and an event."""
    wire = wire_plan("w", (node, "b"), (other, "a"))
    return replace(PLAN, wires=(wire,), events=(EventPlan(1.0, change),))


def test_each_netbox_is_held_to_its_own_promise() -> None:
    by_netbox = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB)
    assert (by_netbox["cell"]["limit_us"], by_netbox["cell"]["policy"]) == (50, "abort")
    assert (by_netbox["sky"]["limit_us"], by_netbox["sky"]["policy"]) == (1000.0, "mark")


def test_drops_are_those_of_all_ports() -> None:
    kept = timekeeping(PLAN, {"cell": COUNTED}, LAB)["cell"]
    assert (kept["received"], kept["overload_drops"], kept["send_drops"]) == (100, 3, 4)


def test_what_was_dropped_at_a_wire_that_an_event_unplugged_is_nobodys_fault() -> None:
    plan = switched("cell", "sky", WireChange("w", "down", "cell", "b"))
    kept = timekeeping(plan, {"cell": COUNTED}, LAB)["cell"]
    assert (kept["overload_drops"], kept["send_drops"], kept["unplugged_drops"]) == (2, 0, 4)


def test_what_a_switch_dropped_at_such_a_wire_is_told_apart() -> None:
    plan = switched("floor", "sky", WireChange("w", "down", "floor", "b"))
    port = SwitchPort(number=1, received=10, sent=9, receive_drops=3, send_drops=1, policed=0, queue_drops=0)
    floor: SwitchStatus = {"datapath": "netdev", "ports": {"a": port, "b": port}, "unserved": 0}
    found = ports_of_switches(plan, {"floor": floor})["floor"]["ports"]
    assert found["a"] == {**port, "unplugged_drops": 0}
    assert found["b"] == {**port, "receive_drops": 0, "send_drops": 0, "unplugged_drops": 4}


def test_what_was_dropped_at_a_node_without_power_is_nobodys_fault() -> None:
    plan = switched("cell", "meoc", PowerChange("meoc", "off"))
    assert timekeeping(plan, {"cell": COUNTED}, LAB)["cell"]["unplugged_drops"] == 4


def test_a_netbox_knows_when_the_run_itself_froze_it() -> None:
    frozen: Event = {
        "time_s": 2.0,
        "kind": "freeze",
        "netbox": "cell",
        "station": None,
        "words": "cell: frozen",
        "details": {"for_s": 0.3},
        "by_run": True,
    }
    by_netbox = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB, [frozen])
    assert (by_netbox["cell"]["freezes"], by_netbox["sky"]["freezes"]) == ([{"at_s": 2.0, "for_s": 0.3}], [])


def test_misses_have_the_time_since_the_traffic_began_where_that_is_known() -> None:
    by_netbox = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB)
    assert by_netbox["cell"]["misses"] == [{"after_s": 2.5, "what": "event", "lateness_us": 1234.0}]
    assert by_netbox["sky"]["misses"][0]["after_s"] is None


def test_time_is_stolen_from_a_netboxs_own_cores() -> None:
    by_netbox = timekeeping(PLAN, {"cell": COUNTED, "sky": COUNTED}, LAB)
    assert (by_netbox["cell"]["steal_ratio"], by_netbox["sky"]["steal_ratio"]) == (0.01, 0.02)
    assert timekeeping(PLAN, {"cell": COUNTED}, {})["cell"]["steal_ratio"] is None
