# SPDX-License-Identifier: GPL-2.0-or-later
"""Equipment in a topology: what it may say, what is planned of it, and real networks in the place of netboxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.plan import EquipmentPlan, Plan, RealtimeSupport, WireEnd
from testbed.description.test_topology import EMERGENCY, changed, errors_of, load_text
from testbed.description.topology import Topology
from testbed.plans.resolve import resolve

#: A host at each of two NICs, and a router between.
REAL = """\
name: real
hosts:
  a: {address: [10.0.0.1/24, fd00::1/64], gateway: 10.0.0.254}
routers:
  edge: {engine: linux, interfaces: {inside: 10.1.0.254/24, outside: 10.2.0.1/24}}
equipment:
  gateway: {nic: eth2, address: 10.0.0.254/24}
  phone: {vlan: {of: eth3, id: 100}}
  modem: {macvlan: {of: eth3}}
wires:
  - [a, gateway]
  - [edge.inside, phone]
  - [modem, edge.outside]
"""

#: Of a file that checks what is wrong with equipment: two hosts at two ports.
TWO = """\
name: two
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.1.0.1/24}
equipment:
  one: ONE
  other: OTHER
wires: [[a, one], [b, other]]
"""

BOTH = "\nreplace:\n  backhaul: {meoc: {nic: eth2}, hub: {nic: eth3}}\n"
ONE_SIDE = "\nreplace:\n  backhaul: {meoc: {nic: eth2}, hub: outside}\n"


def planned(topology: Topology) -> Plan:
    return resolve(topology, cores=(0, 1, 2), realtime=RealtimeSupport(False, None, "not tried"))


def replaced(tmp_path: Path, text: str) -> Topology:
    return load_text(tmp_path, EMERGENCY.read_text() + text)


def test_equipment_takes_the_place_of_a_wire_and_of_the_planned_mac_address(tmp_path: Path) -> None:
    plan = planned(load_text(tmp_path, REAL))
    assert plan.wires == ()
    assert [node.name for node in plan.nodes] == ["a", "edge"]
    assert plan.equipment == (
        EquipmentPlan("gateway", "nic", "eth2", WireEnd("a", "eth0"), "a.eth0--gateway.port", 1500),
        EquipmentPlan("phone", "vlan", "eth3", WireEnd("edge", "inside"), "edge.inside--phone.port", 1500, vlan=100),
        EquipmentPlan("modem", "macvlan", "eth3", WireEnd("edge", "outside"), "modem.port--edge.outside", 1500, mode="bridge"),
    )
    (interface,) = plan.node("a").interfaces
    assert (interface.name, interface.mac, interface.wire) == ("eth0", "", "a.eth0--gateway.port")
    macs = {interface.name: interface.mac for interface in plan.node("edge").interfaces}
    assert macs["inside"] == ""
    assert macs["outside"].startswith("02:")
    assert Plan.from_json(plan.to_json()) == plan


def test_the_mtu_at_equipment_is_its_segments(tmp_path: Path) -> None:
    text = changed(("  eoc: {address: 10.20.0.20/24, gateway: 10.20.0.1}\n", ""), ("centre: eoc ", "centre: fr1 "))
    text = text[: text.index("traffic:")].replace("[backhaul.hub, eoc]", "[backhaul.hub, modem]")
    (modem,) = planned(load_text(tmp_path, text + "equipment: {modem: {nic: eth2}}\n")).equipment
    assert modem.end == WireEnd("backhaul", "hub")
    assert modem.mtu == 1500


@pytest.mark.parametrize(
    ("one", "cause"),
    [
        ("{}", "a port is one of nic, vlan, macvlan and tap"),
        ("{nic: eth2, tap: vm1}", "a port is one of nic, vlan, macvlan and tap"),
        ("{nic: lo}", "lo is the loopback interface"),
        ("{nic: a/b}", "'a/b' is not the name of an interface"),
        ("{vlan: {of: eth2, id: 4095}}", "4095 is outside 1 … 4094"),
        ("{nic: eth2, user: alice}", "only a tap has a user"),
        ("{tap: vm1, take_addresses: true}", "on the command line, by its name: --take eth2"),
        ("{nic: eth9}", "eth9 is another port's already"),
        ("{macvlan: {of: eth9}}", "eth9 is another port's already"),
        ("{nic: eth2, address: 10.0.0.1/24}", "10.0.0.1 is the address of a.eth0 already"),
        ("{nic: eth2, address: 10.7.0.1/24}", "one.port is in 10.7.0.0/24, but a.eth0"),
        ("{nic: eth2, ports: {left: {nic: eth3}}}", "equipment with ports says at each of them what it is"),
    ],
)
def test_what_is_wrong_with_equipment_is_told(tmp_path: Path, one: str, cause: str) -> None:
    text = TWO.replace("ONE", one).replace("OTHER", "{nic: eth9}")
    told = "\n".join(f"{error.line}: {error.cause}" for error in errors_of(tmp_path, text))
    assert cause in told


def test_macvlans_and_vlans_of_one_nic_go_together_but_not_with_passthru(tmp_path: Path) -> None:
    text = TWO.replace("ONE", "{macvlan: {of: eth2}}").replace("OTHER", "{vlan: {of: eth2, id: 7}}")
    assert len(planned(load_text(tmp_path, text)).equipment) == 2
    (error,) = errors_of(tmp_path, text.replace("{of: eth2}", "{of: eth2, mode: passthru}"))
    assert error.cause == "eth2 is another port's already"
    (error,) = errors_of(tmp_path, text.replace("{macvlan: {of: eth2}}", "{vlan: {of: eth2, id: 7}}"))
    assert error.cause == "VLAN 7 of eth2 is another port's already"


def test_equipment_is_not_wired_to_equipment_nor_by_shared_memory(tmp_path: Path) -> None:
    text = "name: x\nequipment: {one: {nic: eth2}, other: {nic: eth3}}\nwires: [[one, other]]\n"
    assert [error.cause for error in errors_of(tmp_path, text)] == ["both ends of the wire are equipment: one and other"]
    text = REAL.replace("[a, gateway]", "{ends: [a, gateway], wire: memory}")
    assert any("gateway is a piece of equipment, which is reached" in error.cause for error in errors_of(tmp_path, text))


def test_a_real_network_with_several_ports_passes_frames_between_them(tmp_path: Path) -> None:
    text = """\
name: real
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
equipment:
  network: {ports: {left: {nic: eth2}, right: {nic: eth3}}}
wires: [[a, network.left], [network.right, b]]
traffic:
  talk: {application: call, from: a, to: b}
"""
    plan = planned(load_text(tmp_path, text))
    assert [port.name for port in plan.equipment] == ["network.left", "network.right"]
    assert plan.traffic[0].direction == "return"


def test_a_netbox_is_replaced_by_a_nic_for_each_station_and_nothing_else_changes(tmp_path: Path) -> None:
    emulated, real = planned(load_text(tmp_path, EMERGENCY.read_text())), planned(replaced(tmp_path, BOTH))
    assert {node.name for node in emulated.nodes} - {node.name for node in real.nodes} == {"backhaul"}
    assert [(port.name, port.device, port.end) for port in real.equipment] == [
        ("backhaul.meoc", "eth2", WireEnd("meoc", "jan")),
        ("backhaul.hub", "eth3", WireEnd("eoc", "eth0")),
    ]
    assert real.traffic == emulated.traffic
    for name in ("fr1", "field", "longhaul"):
        assert real.node(name).interfaces == emulated.node(name).interfaces
    assert "a real network is in the place of netbox backhaul" in real.notes


def test_what_is_beyond_the_outside_is_left_out_with_its_traffic(tmp_path: Path) -> None:
    plan = planned(replaced(tmp_path, ONE_SIDE))
    assert [node.name for node in plan.nodes] == ["fr1", "field", "longhaul", "meoc"]
    assert [(port.name, port.end) for port in plan.equipment] == [("backhaul", WireEnd("meoc", "jan"))]
    assert plan.traffic == ()
    assert "not on this machine, but beyond the real network: eoc, nor the traffic call and camera" in plan.notes


def test_events_of_what_is_replaced_are_left_out_and_said(tmp_path: Path) -> None:
    events = ("{at: 1 s, netbox: backhaul, set: {delay: 20 ms}}", "{at: 2 s, netbox: field, set: {distance: 90 m}}")
    plan = planned(replaced(tmp_path, BOTH + "\nevents:\n  - " + "\n  - ".join(events) + "\n"))
    assert [event.at_s for event in plan.events] == [2.0]
    assert any("1 of the file's events are left out" in note for note in plan.notes)


def test_events_that_wait_for_what_is_replaced_or_left_out_are_left_out_too(tmp_path: Path) -> None:
    events = (
        "{name: faded, when: {netbox: backhaul, happens: link_down}, netbox: field, set: {distance: 90 m}}",
        "{name: later, when: {event: faded}, netbox: field, set: {distance: 80 m}}",
        "{when: {event: later}, netbox: field, set: {distance: 70 m}}",
        "{name: near, at: 1 s, netbox: field, set: {distance: 60 m}}",
        "{when: {event: near}, delay: 3 s, netbox: field, set: {distance: 50 m}}",
    )
    plan = planned(replaced(tmp_path, BOTH + "\nevents:\n  - " + "\n  - ".join(events) + "\n"))
    assert [event.at_s for event in plan.events] == [1.0, 3.0]
    assert any("3 of the file's events are left out: what they change, or wait for, " in note for note in plan.notes)


def test_a_drill_of_a_wire_that_is_not_on_this_machine_is_left_out(tmp_path: Path) -> None:
    drill = "{at: 1 s, drill: link-flap, with: {wire: backhaul.hub--eoc}}"
    plan = planned(replaced(tmp_path, f"{ONE_SIDE}\nevents:\n  - {drill}\n"))
    assert plan.events == ()
    assert any("1 of the file's events are left out" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("{meoc: {nic: eth2}}", "nothing is said of backhaul.hub"),
        ("{meoc: {nic: eth2}, hub: {nic: eth2}}", "eth2 is another port's already"),
        ("{meoc: outside, hub: outside}", "no station of it is on this machine"),
        ("{meoc: {nic: eth2}, hub: outside, dish: {nic: eth3}}", 'netbox backhaul has no station "dish"'),
    ],
)
def test_what_is_wrong_with_a_replacement_is_told(tmp_path: Path, said: str, cause: str) -> None:
    errors = errors_of(tmp_path, f"{EMERGENCY.read_text()}\nreplace:\n  backhaul: {said}\n")
    assert [error.cause for error in errors] == [cause]


def test_a_netbox_to_be_replaced_must_be_there(tmp_path: Path) -> None:
    (error,) = errors_of(tmp_path, f"{EMERGENCY.read_text()}\nreplace:\n  backhall: {{meoc: {{nic: eth2}}}}\n")
    assert (error.cause, error.remedy) == ('there is no netbox "backhall" to be replaced', 'did you mean "backhaul"?')


def test_the_outside_is_not_joined_to_the_inside_by_another_way(tmp_path: Path) -> None:
    text = changed(
        ("eoc: {address: 10.20.0.20/24, gateway: 10.20.0.1}", "eoc: {interfaces: {x: 10.20.0.20/24, y: 10.30.0.2/24}}"),
        ("      jan: 10.20.0.1/24 ", "      other: 10.30.0.1/24\n      jan: 10.20.0.1/24 "),
        ("  - [backhaul.hub, eoc]\n", "  - [backhaul.hub, eoc.x]\n  - [eoc.y, meoc.other]\n"),
    )
    text = text[: text.index("traffic:")]
    (error,) = errors_of(tmp_path, text + ONE_SIDE)
    assert error.cause == "what is beyond backhaul.hub leads to meoc, on this side, by another way as well"
