# SPDX-License-Identifier: GPL-2.0-or-later
"""Switches in a topology file: what is wrong in them and where, their VLANs, and what Open vSwitch is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from contracts.errors import BadTopology
from contracts.plan import Plan, RealtimeSupport
from testbed.description.test_topology import errors_of, load_text
from testbed.description.topology_schema import schema
from testbed.description.wiring import End, Wiring
from testbed.description.yaml_source import read
from testbed.nodes.switches import CONFIGURATION
from testbed.nodes.test_switches import FLOORS
from testbed.plans.planning import plan_file
from testbed.plans.resolve import resolve
from testbed.plans.switch_plan import Datapaths, NoDatapath
from tests.switched_labs import RING

SIMPLE = """\
name: simple
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
switches:
  sw:
    ports: {one: {}, two: {}}
wires: [[a, sw.one], [b, sw.two]]
"""
GOLDEN = Path(__file__).parent / "golden" / "switch.json"
GRANTED = RealtimeSupport(True, None, "SCHED_FIFO works")
USER_SPACE, KERNEL = Datapaths(kernel=False, xdp=True), Datapaths(kernel=True, xdp=True)


def plan_of(folder: Path, text: str, datapaths: Datapaths = USER_SPACE, cores: tuple[int, ...] = (0, 1)) -> Plan:
    return resolve(load_text(folder, text), cores=cores, realtime=GRANTED, datapaths=datapaths)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("c: {vlan: 20}", "c: {vlan: 4095}", "switches.left.ports.c.vlan: 4095 is more than 4094"),
        ("c: {vlan: 20}", "c: {trunk: [0]}", "switches.left.ports.c.trunk.0: 0 is less than 1"),
        ("from: [b]", "from: [bb]", 'switches.left.mirror.from.0: the switch has no port "bb"; did you mean "b"?'),
        ("to: tap}", "to: tab}", 'switches.left.mirror.to: the switch has no port "tab"; did you mean "tap"?'),
        ("from: [b]", "from: [b, tap]", "would be copied to itself"),
        ("limit: 400 kbit/s, ", "", "switches.right.ports.d: queues need a limit"),
        ("{dscp: ef}", "{dscp: ff}", "'ff' is not a DSCP"),
        ("{dscp: ef}", "{dscp: ef, least: 1 Mbit/s, most: 1 Mbit/s}", "is more than the port's limit of 400 kbit/s"),
        ("queue: 40", "queue: 70", "86 frames could wait in the switch, and the socket that it sends by has room for 80"),
        ("own: {address: 10.99.0.1/24, vlan: 99}", "own: {address: 'fd00::1/64'}", "the switch itself speaks IPv4"),
        ("remote: 10.99.0.2, key: 42", "remote: 10.99.0.1, key: 42", "is the switch's own address"),
        ("key: 42}}\n  right", "key: 43}}\n  right", "right has the address 10.99.0.2, but no vxlan tunnel with key 43 back"),
        ("e: {vlan: 20}\n      g", "e: {vlan: 10}\n      g", "e.eth0 is in 10.20.0.0/24"),
        ("police: 1 Mbit/s", "police: 1 MB", "is not a unit of rate"),
        ("tap: {}", "br0: {}", '"br0" has a meaning of its own in a switch'),
        ("tp_dst=9,actions=drop", "tp_dst=9\\nactions=drop", "a flow is one line of text"),
        ("c: {address: 10.20.0.1/24}", "c: {address: 10.99.0.1/24}", "10.99.0.1 is the address of c.eth0 already"),
    ],
)
def test_a_mistake_is_told_at_its_place(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = FLOORS.replace(old, new, 1)
    assert text != FLOORS
    errors = errors_of(tmp_path, text)
    assert any(words in str(error) for error in errors), "\n".join(map(str, errors))
    assert all(error.line > 1 for error in errors)


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("tunnels: {t: {remote: 10.0.0.9}}", "tunnels begin at an address of the switch; add own"),
        ("controller: {address: 10.0.0.1}", "a controller is spoken to from an address of the switch; add own"),
        ("datapath: xpd", "'xpd' is not known here"),
        ("priority: 5", "5 is not a multiple of 4096"),
        ("flows: ['']", "a flow is one line of text"),
    ],
)
def test_what_lacks_its_condition_is_refused(tmp_path: Path, added: str, words: str) -> None:
    (error,) = errors_of(tmp_path, SIMPLE.replace("    ports", f"    {added}\n    ports"))
    assert words in str(error)


@pytest.mark.parametrize("other", ["flows: ['actions=drop']", "controller: {address: 10.0.0.1}\n    own: {address: 10.0.0.9/24}"])
def test_policing_and_who_decides_over_flows_exclude_each_other(tmp_path: Path, other: str) -> None:
    text = SIMPLE.replace("one: {}", "one: {police: 1 Mbit/s}").replace("    ports", f"    {other}\n    ports")
    (error,) = errors_of(tmp_path, text)
    assert "switches.sw.ports.one.police: is done by a flow" in str(error)


@pytest.mark.parametrize(
    ("flow", "complaint"),
    [
        ("in_port=one,actions=output:two", None),
        ("in_port=on,actions=output:two", "on: invalid or unknown port for in_port"),
        ("priority=1,colour=red,actions=drop", "unknown keyword colour"),
        ("--log-file=evil,actions=drop", "unknown keyword --log-file"),
        ("in_port=1", "must specify an action"),
    ],
)
def test_flows_are_read_by_open_vswitch_itself(tmp_path: Path, flow: str, complaint: str | None) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(SIMPLE.replace("    ports", f"    flows: ['actions=normal', '{flow}']\n    ports"))
    if complaint is None:
        plan_file(file, realtime=GRANTED)
        return
    with pytest.raises(BadTopology) as told:
        plan_file(file, realtime=GRANTED)
    (error,) = told.value.errors
    assert complaint in error.cause
    assert (error.line, error.column) == (7, 31)
    assert list(tmp_path.iterdir()) == [file]


def test_segments_follow_vlans_and_tunnels(tmp_path: Path) -> None:
    wiring = Wiring.of(load_text(tmp_path, FLOORS))
    together = {frozenset(end.node for end in ends if len(end.node) == 1) for ends in wiring.segments()}
    assert {frozenset("abd"), frozenset("ce"), frozenset("fg")} <= together
    assert wiring.same_segment(End("a", "eth0"), End("d", "eth0"))
    assert not wiring.same_segment(End("a", "eth0"), End("e", "eth0"))
    assert wiring.same_segment(End("left", "br0"), End("right", "br0"))


def test_a_native_vlan_joins_untagged_and_tagged_frames(tmp_path: Path) -> None:
    text = """\
name: native
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}, c: {address: 10.1.0.1/24}, d: {address: 10.1.0.2/24}}
switches:
  x: {ports: {a: {vlan: 10}, c: {vlan: 20}, up: {vlan: 10, trunk: [20]}}}
  y: {ports: {b: {vlan: 77}, d: {vlan: 20}, up: {vlan: 77, trunk: [20]}}}
wires: [[a, x.a], [c, x.c], [b, y.b], [d, y.d], [x.up, y.up]]
"""
    wiring = Wiring.of(load_text(tmp_path, text))
    assert wiring.same_segment(End("a", "eth0"), End("b", "eth0"))
    assert wiring.same_segment(End("c", "eth0"), End("d", "eth0"))
    assert not wiring.same_segment(End("a", "eth0"), End("c", "eth0"))


def test_a_tunnels_hosts_have_a_smaller_mtu_and_its_trunk_has_not(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, FLOORS)
    mtus = {wire.name: wire.mtu for wire in plan.wires}
    assert mtus["f.eth0--left.f"] == mtus["g.eth0--right.g"] == 1500 - 36 - 18
    assert mtus["left.trunk--right.trunk"] == mtus["a.eth0--left.a"] == 1500
    assert "the MTU at f.eth0 is 1446 bytes: its segment carries no more" in plan.notes


def test_a_loop_needs_rapid_spanning_tree_in_each_of_its_switches(tmp_path: Path) -> None:
    load_text(tmp_path, RING)
    (error,) = errors_of(tmp_path, RING.replace("rstp: true, ", ""))
    assert "z.x and x.z close a loop" in error.cause
    assert error.remedy == "write rstp: true in x, y and z, or take a wire out"
    assert errors_of(tmp_path, RING.replace("y: {rstp: true, ", "y: {"))[0].remedy == "write rstp: true in y, or take a wire out"


def test_two_wires_for_two_vlans_are_no_loop(tmp_path: Path) -> None:
    text = """\
name: pair
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.1.0.1/24}}
switches:
  x: {ports: {a: {vlan: 10}, ten: {vlan: 10}, twenty: {vlan: 20}}}
  y: {ports: {b: {vlan: 20}, ten: {vlan: 10}, twenty: {vlan: 20}}}
wires: [[a, x.a], [b, y.b], [x.ten, y.ten], [x.twenty, y.twenty]]
"""
    load_text(tmp_path, text)
    (error,) = errors_of(tmp_path, text.replace("twenty: {vlan: 20}", "twenty: {vlan: 10}"))
    assert "close a loop of VLAN 10" in error.cause


def test_a_tunnel_beside_the_way_that_it_takes_is_a_loop(tmp_path: Path) -> None:
    errors = errors_of(tmp_path, FLOORS.replace("far: {vlan: 30", "far: {vlan: 99"))
    assert any("close a loop of VLAN 99" in error.cause for error in errors)


def test_a_wire_of_a_switch_is_never_shared_memory(tmp_path: Path) -> None:
    text = SIMPLE.replace("[a, sw.one]", "{ends: [a, sw.one], wire: memory}")
    assert any("sw is a switch, which Open vSwitch joins by interfaces" in error.cause for error in errors_of(tmp_path, text))


@pytest.mark.parametrize(
    ("asked", "datapaths", "used", "port"),
    [
        ("auto", KERNEL, "system", "kernel"),
        ("auto", USER_SPACE, "netdev", "packet"),
        ("userspace", KERNEL, "netdev", "packet"),
        ("xdp", KERNEL, "netdev", "xdp"),
    ],
)
def test_the_datapath_is_the_kernels_where_it_has_one_unless_said(
    tmp_path: Path, asked: str, datapaths: Datapaths, used: str, port: str
) -> None:
    plan = plan_of(tmp_path, SIMPLE.replace("    ports", f"    datapath: {asked}\n    ports"), datapaths, cores=(0, 1, 2))
    node = plan.node("sw")
    assert f"datapath_type={used}" in node.files[CONFIGURATION]
    assert {interface.port for interface in node.interfaces} == {port}
    assert ("/dev/net/tun" in node.devices) == (used == "netdev")
    assert ("sys_admin" in node.capabilities) == (port == "xdp")
    # What polls has a core like an emulator's, and the first one for the rest of it.
    assert node.cores == ((1, 0) if port == "xdp" else (0, 1, 2))
    assert ("pmd-cpu-mask=0x2" in node.files[CONFIGURATION]) == (port == "xdp")


@pytest.mark.parametrize(("asked", "datapaths"), [("kernel", USER_SPACE), ("xdp", Datapaths(kernel=True, xdp=False))])
def test_a_datapath_that_the_host_lacks_is_refused(tmp_path: Path, asked: str, datapaths: Datapaths) -> None:
    with pytest.raises(NoDatapath, match=f"switch sw: datapath: {asked} needs .*; write auto"):
        plan_of(tmp_path, SIMPLE.replace("    ports", f"    datapath: {asked}\n    ports"), datapaths)


def test_a_switch_can_be_rebooted_by_an_event(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SIMPLE + "events: [{at: 1 s, node: sw, reboot: 2 s}]\n")
    assert [(event.at_s, event.change.words()) for event in plan.events] == [(1.0, "sw: power off"), (3.0, "sw: power on")]


def test_user_space_needs_a_device_that_makes_interfaces(tmp_path: Path) -> None:
    without = Datapaths(kernel=False, xdp=True, tun=False)
    with pytest.raises(NoDatapath, match="switch sw: there is no /dev/net/tun"):
        plan_of(tmp_path, SIMPLE, without)
    plan_of(tmp_path, SIMPLE, Datapaths(kernel=True, xdp=False, tun=False))


def calls(folder: Path) -> list[str]:
    """What the switches of FLOORS are told, with a line for each part of a transaction."""
    plan = plan_of(folder, FLOORS)
    found = []
    for name in ("left", "right"):
        for call in json.loads(plan.node(name).files[CONFIGURATION])["calls"]:
            first, *parts = " ".join(call).split(" -- ")
            found += [f"{name}: {first}", *(f"    {part}" for part in parts)]
    return found


def test_open_vswitch_is_told_what_the_golden_file_says(tmp_path: Path) -> None:
    assert calls(tmp_path) == json.loads(GOLDEN.read_text()), (
        "what Open vSwitch is told has changed; if it should, write it anew: .venv/bin/python -m testbed.description.test_switch"
    )


def test_editors_know_switches(tmp_path: Path) -> None:
    file = tmp_path / "floors.yaml"
    file.write_text(FLOORS)
    network: dict[str, Any] = read(file).data
    validator = Draft202012Validator(schema())
    assert [error.message for error in validator.iter_errors(network)] == []
    network["switches"]["left"]["ports"]["a"]["vlan"] = 4095
    assert len(list(validator.iter_errors(network))) == 1


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        GOLDEN.write_text(json.dumps(calls(Path(folder)), indent=1) + "\n")
