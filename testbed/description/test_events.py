# SPDX-License-Identifier: GPL-2.0-or-later
"""Events from the file to the plan, and what is told of those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.changes import (
    Condition,
    ConfigurationChange,
    EventPlan,
    HandlerWrite,
    ParameterChange,
    PowerChange,
    StagesChange,
    WireChange,
)
from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from testbed.description.test_topology import errors_of, load_text
from testbed.plans.resolve import resolve

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
    plan = planned(tmp_path, "{at: 1 s, wire: b--far, state: down}", "{at: 2 s, wire: [far.hub, b], state: up}")
    assert [event.change for event in plan.events] == [
        WireChange("far.hub--b.eth0", "down", "far", "hub"),
        WireChange("far.hub--b.eth0", "up", "far", "hub"),
    ]


def test_a_wire_that_an_event_unplugs_is_no_memory_by_itself(tmp_path: Path) -> None:
    between = planned(tmp_path, "{at: 1 s, wire: [near.hub, far.ground], state: down}").wires[1]
    assert (between.kind, between.reason) == ("veth", "auto: an event takes it down, which shared memory cannot be")
    assert planned(tmp_path, "{at: 1 s, wire: [a, near.ground], state: down}").wires[1].kind == "memory"


def test_a_drill_is_the_changes_that_it_is_made_of(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        "{name: rain, at: 1 s, drill: satellite-fade, with: {netbox: near, depth: 2 dB, ramp: 1 s, hold: 3 s}}",
        "{when: {event: rain, within: 9 s}, delay: 2 s, drill: link-flap, with: {wire: [a, near.ground], times: 1}}",
    )
    fades = [(event.at_s, event.change.value) for event in plan.events if isinstance(event.change, ParameterChange)]
    assert fades == [(1.25, 0.5), (1.5, 1.0), (1.75, 1.5), (2.0, 2.0), (5.25, 1.5), (5.5, 1.0), (5.75, 0.5), (6.0, 0.0)]
    assert {event.event for event in plan.events if event.when is None} == {"rain"}
    flaps = [(event.at_s, event.change.words()) for event in plan.events if event.when is not None]
    assert flaps == [(2.0, "wire a.eth0--near.ground down"), (3.0, "wire a.eth0--near.ground up")]
    assert {event.when for event in plan.events if event.when} == {Condition(1, event="rain", within_s=9.0)}
    assert Plan.from_json(plan.to_json()) == plan


def test_a_netbox_is_rebooted_as_a_node_or_by_a_drill(tmp_path: Path) -> None:
    for event in ("{at: 1 s, node: near, reboot: 2 s}", "{at: 1 s, drill: netbox-reboot, with: {netbox: near, away: 2 s}}"):
        made = [event for event in planned(tmp_path, event).events if event.at_s in (1.0, 3.0)]
        assert made == [EventPlan(1.0, PowerChange("near", "off")), EventPlan(3.0, PowerChange("near", "on"))]


#: A marker in base units.
MARK = {
    **{"stage": "mark", "dscp": 46, "rate": None, "excess_dscp": None, "burst": None},
    **{"direction": "entering", "per": "port"},
}


def with_router(events: str) -> str:
    """The network with a Click router before b."""
    text = NETWORK.replace("b: {address: 10.0.0.2/24}", "b: {address: 10.0.1.2/24, gateway: 10.0.1.1}")
    text = text.replace("a: {address: 10.0.0.1/24}", "a: {address: 10.0.0.1/24, gateway: 10.0.0.2}")
    text = text.replace("[far.hub, b]", "[far.hub, r.ian]").replace("traffic:", "  - [r.jan, b]\ntraffic:")
    router = "routers:\n  r: {configuration: click/meoc.click, interfaces: {ian: 10.0.0.2/24, jan: 10.0.1.1/24}}\n"
    return text.replace("wires:", f"{router}wires:") + events


def test_a_router_is_rebooted_reconfigured_and_written_to_and_has_other_stages(tmp_path: Path) -> None:
    events = (
        "  - {at: 1 s, node: r, reboot: 2 s}\n"
        "  - {at: 5 s, node: r, configuration: click/meoc.click}\n"
        "  - {at: 6 s, node: r, write: {jan_be.capacity: 7, jan_shaper.rate: 1000kbps}}\n"
        "  - {at: 7 s, node: r, set: {ian.stages: [{stage: mark, dscp: ef}], jan.stages: []}}\n"
    )
    plan = resolve(load_text(tmp_path, with_router(events)), cores=(0, 1), realtime=RealtimeSupport(True, None, ""))
    file = CHECKOUT / "click/meoc.click"
    assert plan.events == (
        EventPlan(1.0, PowerChange("r", "off")),
        EventPlan(3.0, PowerChange("r", "on")),
        EventPlan(5.0, ConfigurationChange("r", str(file), file.read_text())),
        EventPlan(6.0, HandlerWrite("r", "jan_be.capacity", "7")),
        EventPlan(6.0, HandlerWrite("r", "jan_shaper.rate", "1000kbps")),
        EventPlan(7.0, StagesChange("r", "ian.stages", [MARK], "[{stage: mark, dscp: ef}]")),
        EventPlan(7.0, StagesChange("r", "jan.stages", [], "[]")),
    )
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(("at", "duration_s", "told"), [("24 s", None, False), ("25 s", None, True), ("15 s", 10.0, True)])
def test_an_event_that_comes_after_the_traffic_is_noted(tmp_path: Path, at: str, duration_s: float | None, told: bool) -> None:
    plan = planned(tmp_path, f"{{at: {at}, netbox: near, set: {{delay: 20 ms}}}}", duration_s=duration_s)
    assert any(f"the event at {at} (near: delay 20 ms) will not happen" in note for note in plan.notes) == told


@pytest.mark.parametrize(
    ("event", "cause", "remedy"),
    [
        ("{at: 4, netbox: near, set: {delay: 60 ms}}", "events.0.at: 4 has no unit", "a time needs one of"),
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
            "events.0.set: has 0, and at least 1 are needed "
            "(Live parameters and their new values, written as in the netbox itself; of a Click router `INTERFACE.stages`)",
            "",
        ),
        (
            "{at: 4 s, netbox: near}",
            "events.0: an event of a netbox says what it sets, or how long it is frozen",
            "write set: {parameter: value}, or freeze: 300 ms",
        ),
        (
            "{at: 4 s}",
            "events.0: an event is of one netbox, of one wire, of one node, of one managed link, or a drill",
            "write netbox:",
        ),
        ("{at: 4 s, wire: [b, far.hub]}", "events.0: an event of a wire says its state", "write state: down or state: up"),
        ("{at: 4 s, wire: [b, far.hub], freeze: 1 s}", "events.0: an event of a wire says its state", "write state: down"),
        (
            "{at: 4 s, netbox: near, freeze: 2 min}",
            "events.0.freeze: 2 min is outside 1 ms … 1 min "
            "(The netbox gets no time to compute for so long, as on a host that is too busy)",
            "",
        ),
        ("{at: 4 s, node: b, reboot: 5 s}", "b is an end of the traffic talk, which would end with it", "reboot a router"),
        ("{at: 4 s, node: nobody, reboot: 5 s}", 'there is no node "nobody"', "use near, far"),
        ("{at: 4 s, node: a, write: {x.y: 1}}", "a is a host, no Click router", "the network has none"),
        ("{at: 4 s, node: a, configuration: none.click}", "events.0.configuration: there is no file none.click", "looked in"),
        ("{at: 4 s, node: a, configuration: 5}", "events.0.configuration: a configuration is a file", "write its path"),
        (
            "{at: 4 s, drill: satellite-fate}",
            'events.0.drill: "satellite-fate" is not a drill',
            'did you mean "satellite-fade"?',
        ),
        (
            "{at: 4 s, drill: satellite-fade}",
            "the network has several of what the drill is about (satellite netbox)",
            "say netbox: near or far",
        ),
        ("{at: 4 s, drill: satellite-fade, with: {netbox: mid}}", 'there is no netbox "mid"', "use near or far"),
        (
            "{at: 4 s, drill: satellite-fade, with: {depht: 3 dB}}",
            'events.0.with: there is no key "depht"',
            'did you mean "depth"?',
        ),
        ("{at: 4 s, drill: router-reboot}", "the network has no router", "this drill is not for it"),
        (
            "{at: 4 s, drill: link-flap, with: {wire: [b, near.hub]}}",
            "no wire joins b.eth0 and near.hub",
            "b.eth0 is joined to far.hub",
        ),
        ("{when: {netbox: mid, happens: handover}, netbox: near, freeze: 1 s}", 'there is no netbox "mid"', "use near or far"),
        (
            "{when: {netbox: near, happens: link_dwon}, netbox: near, freeze: 1 s}",
            'netbox near (satellite) never says "link_dwon"',
            'did you mean "link_down"?',
        ),
        (
            "{when: {netbox: near, silent: 1 s}, netbox: near, freeze: 1 s}",
            "events.0.when: frames leave by a station",
            "write station: …",
        ),
        ("{when: {event: x}, netbox: near, freeze: 1 s}", 'no event has the name "x"', "there is none"),
        ("{name: x, when: {event: x}, netbox: near, freeze: 1 s}", "the event waits for itself", "let one of them have a time"),
        (
            "{at: 1 s, when: {netbox: near, happens: x}, netbox: near, freeze: 1 s}",
            "events.0: an event has either a time or a condition",
            "write at: 20 s",
        ),
        ("{at: 4 s, wire: [b, far.hub], state: gone}", "events.0.state: 'gone' is not known here", "use up or down"),
        ("{at: 4 s, wire: [b, far.hbu], state: up}", '"far" has no port "hbu"', 'did you mean "far.hub"?'),
        ("{at: 4 s, wire: [b, near.hub], state: up}", "no wire joins b.eth0 and near.hub", "b.eth0 is joined to far.hub"),
        ("{set: {delay: 60 ms}, netbox: near}", "events.0: an event has either a time or a condition", "write at: 20 s"),
    ],
)
def test_what_cannot_happen_is_told_with_its_place(tmp_path: Path, event: str, cause: str, remedy: str) -> None:
    (error,) = errors_of(tmp_path, f"{NETWORK}  - {event}\n")
    assert (error.line, error.cause) == (NETWORK.count("\n") + 1, cause)
    assert error.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("event", "cause", "remedy"),
    [
        ("{at: 4 s, node: a, set: {x.stages: []}}", "a is a host, no Click router", "use r"),
        ("{at: 4 s, node: near, set: {hub.stages: []}}", "near is a netbox, no Click router", "use r"),
        ("{at: 4 s, node: r, set: {ina.stages: []}}", 'ina.stages: router r has no interface "ina"', 'did you mean "ian"?'),
        (
            "{at: 4 s, node: r, set: {rate: 1 Mbit/s}}",
            "rate is not what a Click router can be set while it runs",
            "that is ian.stages",
        ),
        ("{at: 4 s, node: r, set: {ian.stages: [{stage: qrm}]}}", "ian.stages[0]: qrm needs rate", "add rate: …"),
        (
            "{at: 4 s, node: r, set: {ian.stages: [{stage: qrm, rate: netbox}]}}",
            "ian.stages[0].rate: a Click router does not know what its link carries",
            "say a rate",
        ),
        ("{at: 4 s, node: r, station: ian, set: {ian.stages: []}}", "events.0: an event of a node says how long", "write reboot"),
        ("{at: 4 s, node: r, reboot: 1 s, set: {ian.stages: []}}", "events.0: an event of a node says how long", "write reboot"),
    ],
)
def test_stages_that_a_router_cannot_have_are_told_with_their_place(tmp_path: Path, event: str, cause: str, remedy: str) -> None:
    (error,) = errors_of(tmp_path, with_router(f"  - {event}\n"))
    assert error.line == with_router("").count("\n") + 1
    assert error.cause.startswith(cause)
    assert error.remedy.startswith(remedy)


def test_a_wire_that_is_memory_by_its_writers_wish_has_no_state(tmp_path: Path) -> None:
    text = NETWORK.replace("[near.hub, far.ground]", "{ends: [near.hub, far.ground], wire: memory}")
    (error,) = errors_of(tmp_path, text + "  - {at: 4 s, wire: [near.hub, far.ground], state: down}\n")
    assert error.cause == "between two emulators the wire is shared memory, which is never down"


def test_events_of_a_faulty_file_are_checked_too(tmp_path: Path) -> None:
    text = NETWORK.replace("return_rate: 2 Mbit/s", "return_rate: 2 Mbps").replace("[a, near.ground]", "[a, near.grund]")
    causes = [error.cause for error in errors_of(tmp_path, text + "  - {at: 4 s, netbox: nera, set: {delay: 60 ms}}\n")]
    assert 'there is no netbox "nera"' in causes
