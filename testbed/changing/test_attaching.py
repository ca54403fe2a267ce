# SPDX-License-Identifier: GPL-2.0-or-later
"""Equipment attached to a lab that is up, and detached: what becomes of its plan, and that no other flow loses a packet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport, WireEnd
from testbed.changing import attaching
from testbed.changing.attaching import BadAttachment, Wanted
from testbed.description.test_topology import load_text
from testbed.labs.lab import Lab
from testbed.plans.resolve import resolve
from tests.namespaces import wait_for
from tests.own_interfaces import OwnInterfaces, checked, own_interfaces

TOPOLOGY = """\
name: cell
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
  c: {address: 10.0.0.3/24}
netboxes:
  cell:
    technology: ethernet
    medium: switched
    stations: {one: {}, two: {}, three: {}, four: {}}
    rate: 100 Mbit/s
routers:
  edge: {engine: linux, interfaces: {inside: 10.0.0.9/24}}
wires:
  - [a, cell.one]
  - [b, cell.two]
  - [cell.three, c]
  - [cell.four, edge]
"""

NIC = Wanted("nic", "eth2")

#: Numbered datagrams, 500 a second, until SIGTERM; then their number.
SENDER = """\
import signal, socket, sys, time
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(1))
to, number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0
while not over:
    to.sendto(b"%d" % number, ("10.0.0.2", 7000))
    number += 1
    time.sleep(0.002)
for _ in range(3):
    to.sendto(b"end %d" % number, ("10.0.0.2", 7000))
"""
RECEIVER = """\
import socket
at = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
at.bind(("10.0.0.2", 7000))
open("/run/netboxit/listening", "w").close()
seen = set()
while not (data := at.recv(100)).startswith(b"end"):
    seen.add(int(data))
print(len(set(range(int(data[4:]))) - seen))
"""


def planned(tmp_path: Path, text: str = TOPOLOGY) -> Plan:
    return resolve(load_text(tmp_path, text), lab=f"e{os.getpid()}", realtime=RealtimeSupport(False, None, "not tried"))


def veth(tmp_path: Path) -> Plan:
    return planned(tmp_path, TOPOLOGY + "wire: veth\n")


def test_a_station_is_given_up_by_its_wire_and_taken_again(tmp_path: Path) -> None:
    plan = veth(tmp_path)
    after, port = attaching.attached(plan, NIC, "cell.three")
    assert (port.end, port.wire, port.attached) == (WireEnd("cell", "three"), "cell.three--eth2", True)
    assert after.wires == plan.wires
    assert [one.wire for one in after.node("cell").interfaces if one.name == "three"] == ["cell.three--eth2"]
    assert attaching.detached(after, port) == plan


def test_a_host_gets_a_new_interface_and_loses_it(tmp_path: Path) -> None:
    plan = veth(tmp_path)
    after, port = attaching.attached(plan, Wanted("macvlan", "eth2", mode="bridge", addresses=("10.9.0.1/24",)), "a.modem")
    new = after.node("a").interfaces[-1]
    assert (new.name, new.addresses, new.wire) == ("modem", ("10.9.0.1/24",), port.wire)
    assert new.mac.startswith("02:")
    assert attaching.detached(after, port) == plan
    assert attaching.attached(plan, NIC, "a")[1].end == WireEnd("a", "eth2")


def test_what_is_wanted_of_it_is_in_its_plan(tmp_path: Path) -> None:
    plan = veth(tmp_path)
    for wanted in (
        Wanted("nic", "eth2", take=True),
        Wanted("vlan", "eth2", vlan=7),
        Wanted("tap", "vm1", user="alice"),
    ):
        after, port = attaching.attached(plan, wanted, "a.modem")
        own = (port.kind, port.device, port.vlan, port.mode, port.user)
        assert own == (wanted.kind, wanted.device, wanted.vlan, wanted.mode, wanted.user)
        assert after.take == ((wanted.device,) if wanted.take else ())
        assert attaching.detached(after, port).take == ()


@pytest.mark.parametrize(
    ("wanted", "where", "why"),
    [
        (NIC, "cell", "cell has several ports; write cell.one, cell.two, cell.three or cell.four"),
        (NIC, "cell.five", 'netbox cell has no port "five", and its ports are fixed'),
        (NIC, "sell.one", 'there is no node "sell"; did you mean "cell"?'),
        (Wanted("nic", "eth2", addresses=("10.1.0.1/24",)), "a.eth0", "a.eth0 has its addresses by the topology"),
        (Wanted("nic", "eth2", addresses=("10.1.0.1",)), "a.new", "10.1.0.1 has no prefix length"),
        (Wanted("nic", "eth2", addresses=("10.0.0.77/16",)), "a.new", "10.0.0.77/16 is in the network 10.0.0.0/24 of a.eth0"),
        (Wanted("nic", "eth2", user="alice"), "a", "--user is for a tap only"),
        (Wanted("nic", "ETH2"), "a", '"ETH2" is not a name'),
    ],
)
def test_what_cannot_be_attached_there_is_refused(tmp_path: Path, wanted: Wanted, where: str, why: str) -> None:
    with pytest.raises(BadAttachment, match="^" + "".join(f"[{letter}]" if letter in "?.^" else letter for letter in why)):
        attaching.attached(veth(tmp_path), wanted, where)


def test_a_port_takes_one_piece_of_equipment_and_shared_memory_none(tmp_path: Path) -> None:
    after, _ = attaching.attached(veth(tmp_path), NIC, "cell.three")
    with pytest.raises(BadAttachment, match=r"cell\.three has eth2 already"):
        attaching.attached(after, Wanted("nic", "eth3"), "cell.three")
    with pytest.raises(BadAttachment, match="eth2 is attached already"):
        attaching.attached(after, NIC, "a")
    text = (
        TOPOLOGY.replace("  - [cell.three, c]\n", "")
        .replace("{}, four", "{}, own: {}, four")
        .replace("  c: {address: 10.0.0.3/24}\n", "")
    )
    text = text.replace(
        "routers:", "  next:\n    technology: ethernet\n    stations: {x: {}, y: {}}\n    rate: 100 Mbit/s\nrouters:"
    )
    text += "  - [cell.three, next.x]\n  - [cell.own, next.y]\n"
    with pytest.raises(BadAttachment, match=r"cell\.three is shared memory with its neighbour"):
        attaching.attached(planned(tmp_path, text), NIC, "cell.three")


@contextmanager
def nothing_lost(lab: Lab, tmp_path: Path) -> Iterator[None]:
    """From a to b through the netbox that others are attached to, but for what it drops when the machine is too busy."""
    receiver = lab.start("b", ["/usr/bin/python3", "-c", RECEIVER], log=tmp_path / "received")
    listening = lab.node_folder("b") / "listening"
    wait_for(listening.exists, str(listening))
    sender = lab.start("a", ["/usr/bin/python3", "-c", SENDER], log=tmp_path / "sent")
    yield
    sender.terminate()
    assert sender.wait(10) == 0
    assert receiver.wait(10) == 0
    with lab.control("cell") as control:
        overload = sum(port["overload_drops"] for port in control.statistics()["ports"])
    assert int((tmp_path / "received").read_text()) <= overload


def command(interfaces: OwnInterfaces, *words: str) -> str:
    """Of the command line, on the made host."""
    argv = ["nsenter", f"--net=/run/netns/{interfaces.host.name}", sys.executable, str(CHECKOUT / "netboxit.py"), *words]
    result = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def pings(lab: Lab, node: str, address: str) -> bool:
    return lab.run(node, ["ping", "-c", "1", "-W", "5", address]).returncode == 0


@pytest.mark.lab
def test_a_nic_takes_the_place_of_wires_and_gives_it_back_while_another_flow_loses_nothing(
    nothing_left: None, tmp_path: Path
) -> None:
    with own_interfaces(["eth2"]) as interfaces:
        outside = interfaces.outside["eth2"]
        checked(outside, "ip", "address", "add", "10.0.0.7/24", "dev", "far")
        interfaces.run("ip", "link", "set", "eth2", "up", "mtu", "1400")
        before = interfaces.state()
        with interfaces.host.inside(), Lab.up_and_ready(planned(tmp_path)) as lab:
            assert pings(lab, "a", "10.0.0.3") and pings(lab, "a", "10.0.0.9")
            with nothing_lost(lab, tmp_path):
                for place in ("cell.three", "edge.inside", "c.eth0"):
                    attaching.attach(lab, NIC, place)
                    node = {"cell.three": "a", "edge.inside": "edge", "c.eth0": "c"}[place]
                    assert pings(Lab.open(lab.name), node, "10.0.0.7"), place
                    if place == "cell.three":
                        assert lab.run("a", ["ping", "-c", "1", "-W", "1", "10.0.0.3"]).returncode == 1
                    _, notes = attaching.detach(lab, "eth2")
                    assert notes == []
                    interfaces.becomes(before)
                    assert pings(lab, "a", "10.0.0.3") and pings(lab, "a", "10.0.0.9")
                told = command(interfaces, "attach", "eth2", "a.modem", "--address", "10.9.0.1/24", "--json")
                assert json.loads(told)["end"] == {"node": "a", "interface": "modem"}
                checked(outside, "ip", "address", "add", "10.9.0.7/24", "dev", "far")
                assert pings(lab, "a", "10.9.0.7")
                assert "NIC eth2" in command(interfaces, "status")
                command(interfaces, "detach", "eth2")
                interfaces.becomes(before)
                attaching.attach(lab, Wanted("tap", "vm1", addresses=("10.9.0.1/24",)), "b.machine")
                assert "netboxit:" in interfaces.run("ip", "link", "show", "vm1")
                attaching.detach(lab, "vm1")
                interfaces.becomes(before)
                attaching.attach(lab, NIC, "cell.three")
        interfaces.becomes(before)
