# SPDX-License-Identifier: GPL-2.0-or-later
"""Events from the file to the plan, and what is told of those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.changes import EventPlan, ParameterChange, WireChange
from testbed.plan import Plan, RealtimeSupport
from testbed.resolve import resolve
from testbed.test_topology import errors_of, load_text

#: A satellite link between two hosts, and a call across it from 5 s to 25 s.
NETWORK = """\
name: hop
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  near: &link
    technology: satellite
    stations: {ground: {role: terminal}, hub: {role: gateway}}
    return_rate: 2 Mbit/s
    forward_rate: 10 Mbit/s
  far: *link
wires:
  - [a, near.ground]
  - [near.hub, far.ground]
  - [far.hub, b]
traffic:
  talk: {application: call, from: a, to: b, start: 5 s, duration: 20 s}
events:
"""


def planned(tmp_path: Path, *events: str, duration_s: float | None = None) -> Plan:
    text = NETWORK + "".join(f"  - {event}\n" for event in events)
    return resolve(load_text(tmp_path, text), cores=(0, 1), duration_s=duration_s, realtime=RealtimeSupport(True, None, ""))


def test_events_are_in_the_plan_by_their_times_in_base_units(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        "{at: 12 s, netbox: far, set: {outage: true}}",
        "{at: 500 ms, netbox: near, set: {delay: 20 ms, packet_error_rate: 1e-3}}",
    )
    assert plan.events == (
        EventPlan(0.5, ParameterChange("near", "delay", 0.02, "20 ms")),
        EventPlan(0.5, ParameterChange("near", "packet_error_rate", 0.001, "0.001")),
        EventPlan(12.0, ParameterChange("far", "outage", True, "true")),
    )
    assert Plan.from_json(plan.to_json()) == plan


def test_a_wire_is_unplugged_at_an_emulators_end_where_it_has_one(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{at: 1 s, wire: [b, far.hub], state: down}", "{at: 2 s, wire: [far.hub, b], state: up}")
    assert [event.change for event in plan.events] == [
        WireChange("far.hub--b.eth0", "down", "far", "hub"),
        WireChange("far.hub--b.eth0", "up", "far", "hub"),
    ]


def test_a_wire_that_an_event_unplugs_is_no_memory_by_itself(tmp_path: Path) -> None:
    between = planned(tmp_path, "{at: 1 s, wire: [near.hub, far.ground], state: down}").wires[1]
    assert (between.kind, between.reason) == ("veth", "auto: an event takes it down, which shared memory cannot be")
    assert planned(tmp_path, "{at: 1 s, wire: [a, near.ground], state: down}").wires[1].kind == "memory"


@pytest.mark.parametrize(("at", "duration_s", "told"), [("24 s", None, False), ("25 s", None, True), ("15 s", 10.0, True)])
def test_an_event_that_comes_after_the_traffic_is_noted(tmp_path: Path, at: str, duration_s: float | None, told: bool) -> None:
    plan = planned(tmp_path, f"{{at: {at}, netbox: near, set: {{delay: 20 ms}}}}", duration_s=duration_s)
    assert any(f"the event at {at} (near: delay 20 ms) will not happen" in note for note in plan.notes) == told


@pytest.mark.parametrize(
    ("event", "cause", "remedy"),
    [
        ("{at: 4, netbox: near, set: {delay: 60 ms}}", "events[1].at: 4 has no unit", "a time needs one of"),
        ("{at: 4 s, netbox: nera, set: {delay: 60 ms}}", 'there is no netbox "nera"', 'did you mean "near"?'),
        ("{at: 4 s, netbox: a, set: {delay: 60 ms}}", 'there is no netbox "a"', "use near or far"),
        (
            "{at: 4 s, netbox: near, set: {dely: 60 ms}}",
            "netbox near: dely is not a parameter that can change while the netbox runs",
            'did you mean "delay"?',
        ),
        ("{at: 4 s, netbox: near, set: {delay: 60 s}}", "netbox near: delay: 60 s is outside 0 s … 5 s", ""),
        ("{at: 4 s, netbox: near, set: {delay: 60}}", "netbox near: delay: 60 has no unit", "a time needs one of"),
        ("{at: 4 s, netbox: near, station: hbu, set: {role: x}}", 'netbox near has no station "hbu"', 'did you mean "hub"?'),
        (
            "{at: 4 s, netbox: near, set: {}}",
            "events[1].set: has 0, and at least 1 are needed "
            "(Live parameters and their new values, written as in the netbox itself)",
            "",
        ),
        ("{at: 4 s, netbox: near}", "events[1]: an event of a netbox says what it sets", "write set: {parameter: value}"),
        ("{at: 4 s}", "events[1]: an event is of one netbox or of one wire", "write netbox:"),
        ("{at: 4 s, wire: [b, far.hub]}", "events[1]: an event of a wire says its state", "write state: down or state: up"),
        ("{at: 4 s, wire: [b, far.hub], state: gone}", "events[1].state: 'gone' is not known here", "use up or down"),
        ("{at: 4 s, wire: [b, far.hbu], state: up}", '"far" has no port "hbu"', 'did you mean "far.hub"?'),
        ("{at: 4 s, wire: [b, near.hub], state: up}", "no wire joins b.eth0 and near.hub", "b.eth0 is joined to far.hub"),
        ("{set: {delay: 60 ms}, netbox: near}", 'events[1]: "at" is missing', "add at: …"),
    ],
)
def test_what_cannot_happen_is_told_with_its_place(tmp_path: Path, event: str, cause: str, remedy: str) -> None:
    (error,) = errors_of(tmp_path, f"{NETWORK}  - {event}\n")
    assert (error.line, error.cause) == (NETWORK.count("\n") + 1, cause)
    assert error.remedy.startswith(remedy)


def test_a_wire_that_is_memory_by_its_writers_wish_has_no_state(tmp_path: Path) -> None:
    text = NETWORK.replace("[near.hub, far.ground]", "{ends: [near.hub, far.ground], wire: memory}")
    (error,) = errors_of(tmp_path, text + "  - {at: 4 s, wire: [near.hub, far.ground], state: down}\n")
    assert error.cause == "a memory wire is never down: it is shared memory, not an interface"


def test_events_of_a_faulty_file_are_checked_too(tmp_path: Path) -> None:
    text = NETWORK.replace("return_rate: 2 Mbit/s", "return_rate: 2 Mbps").replace("[a, near.ground]", "[a, near.grund]")
    causes = [error.cause for error in errors_of(tmp_path, text + "  - {at: 4 s, netbox: nera, set: {delay: 60 ms}}\n")]
    assert 'there is no netbox "nera"' in causes
