# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs with real equipment: interfaces of a made host that become a node's, and are given back as they were."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import IPRoute  # type: ignore[import-untyped]

from contracts.plan import Plan, RealtimeSupport
from ownership import operators
from ownership.ledger import Ledger
from system import equipment, namespaces
from testbed.changing import alteration
from testbed.description.test_topology import load_text
from testbed.labs import equipment_here
from testbed.labs.lab import Lab
from testbed.labs.removal import undoers
from testbed.plans import taking
from testbed.plans.resolve import resolve
from tests.namespaces import Namespace
from tests.own_interfaces import OwnInterfaces, checked, own_interfaces

pytestmark = pytest.mark.lab

TOPOLOGY = """\
name: real
hosts:
  a: {address: [10.0.0.1/24, fd00::1/64]}
  b: {address: 10.1.0.1/24}
  c: {address: 10.2.0.1/24}
netboxes:
  cell:
    technology: ethernet
    medium: switched
    stations: {one: {}, other: {}}
    rate: 100 Mbit/s
equipment:
  phone: {nic: eth2}
  modem: {nic: eth3}
  pc: {macvlan: {of: eth4}}
wires:
  - [a, phone]
  - [b, cell.one]
  - [cell.other, modem]
  - [c, pc]
"""


@pytest.fixture
def interfaces() -> Iterator[OwnInterfaces]:
    with own_interfaces(("eth2", "eth3", "eth4")) as made:
        made.run("ip", "link", "set", "eth4", "up")
        yield made


def planned(tmp_path: Path, text: str = TOPOLOGY) -> Plan:
    lab = f"e{os.getpid()}"
    plan = resolve(load_text(tmp_path, text), lab=lab, realtime=RealtimeSupport(False, None, "not tried"))
    return replace(plan, take=("eth2",))


def pings(lab: Lab, node: str, address: str) -> bool:
    return lab.run(node, ["ping", "-c", "1", "-W", "5", address]).returncode == 0


def test_equipment_is_reached_without_anything_between_and_given_back_as_it_was(
    interfaces: OwnInterfaces, nothing_left: None, tmp_path: Path
) -> None:
    for line in ("link set eth2 up mtu 1400 promisc on", "address add 192.0.2.1/24 dev eth2", "link set eth3 txqueuelen 5"):
        interfaces.run("ip", *line.split())
    interfaces.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.9", "table", "77")
    interfaces.run("ip", "route", "add", "default", "via", "192.0.2.254")
    for name, address in (("eth2", "10.0.0.9/24"), ("eth2", "fd00::9/64"), ("eth3", "10.1.0.9/24"), ("eth4", "10.2.0.9/24")):
        checked(interfaces.outside[name], "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0")
        checked(interfaces.outside[name], "ip", "address", "add", address, "dev", "far", *(["nodad"] if ":" in address else []))
    before = interfaces.state()
    with interfaces.host.inside(), Lab.up_and_ready(planned(tmp_path)) as lab:
        assert pings(lab, "a", "10.0.0.9") and pings(lab, "a", "fd00::9")
        assert pings(lab, "b", "10.1.0.9")
        assert pings(lab, "c", "10.2.0.9")
        shown = lab.run("a", ["ip", "-br", "link", "show", "eth0"]).stdout
        assert checked(interfaces.host, "cat", "/sys/class/net/eth4/address") not in shown
    interfaces.becomes(before)


class Mortal:
    """Netlink that ends the program at a step."""

    def __init__(self, steps: Iterator[int]) -> None:
        self._steps, self._netlink = steps, IPRoute()

    def __enter__(self) -> Mortal:
        return self

    def __exit__(self, *_: object) -> None:
        self._netlink.close()

    def __getattr__(self, name: str) -> Any:
        if name in ("link", "tc") and next(self._steps, None) is None:
            raise Killed
        return getattr(self._netlink, name)


class Killed(BaseException):
    pass


@contextmanager
def networks_of(plan: Plan) -> Iterator[None]:
    for node in plan.nodes:
        namespaces.create([node.namespace])
    try:
        yield
    finally:
        for node in plan.nodes:
            namespaces.delete(node.namespace)


def test_whenever_a_command_is_killed_its_ledger_gives_everything_back(
    interfaces: OwnInterfaces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interfaces.run("ip", "address", "add", "192.0.2.1/24", "dev", "eth2")
    before = interfaces.state()
    plan = planned(tmp_path, TOPOLOGY.replace("{nic: eth3}", "{tap: vm1}"))
    steps, whole = 0, False
    while not whole:
        ledger = Ledger(tmp_path / f"ledger-{steps}")
        with interfaces.host.inside(), networks_of(plan):
            with monkeypatch.context() as patched:
                patched.setattr(equipment, "IPRoute", partial(Mortal, iter(range(steps))))
                try:
                    equipment.take(plan, plan.equipment, ledger)
                    whole = True
                except Killed:
                    steps += 1
            notes: list[str] = []
            ledger.undo(undoers(tmp_path, notes))
            ledger.undo(undoers(tmp_path, notes))  # whoever is killed while undoing does it again
            assert notes == []
            assert interfaces.state() == before
    assert steps > 15


def test_a_nic_that_is_gone_is_told_with_what_it_had(interfaces: OwnInterfaces, tmp_path: Path) -> None:
    interfaces.run("ip", "address", "add", "192.0.2.1/24", "dev", "eth2")
    plan = planned(tmp_path)
    ledger, notes = Ledger(tmp_path / "ledger"), list[str]()
    with interfaces.host.inside():
        with networks_of(plan):
            equipment.take(plan, plan.equipment[:1], ledger)
        ledger.undo(undoers(tmp_path, notes))
    (note,) = notes
    assert "eth2 (MAC " in note and "addresses: 192.0.2.1" in note


def test_what_this_machine_lacks_is_told_before_anything_is_touched(
    interfaces: OwnInterfaces, nothing_left: None, tmp_path: Path
) -> None:
    interfaces.run("ip", "address", "add", "192.0.2.1/24", "dev", "eth3")
    interfaces.run("ip", "address", "add", "192.0.2.2/24", "dev", "eth2")
    text = TOPOLOGY.replace("eth2", "eth9").replace("{macvlan: {of: eth4}}", "{tap: eth4, user: nobody-knows}")
    before = interfaces.state()
    with interfaces.host.inside(), pytest.raises(equipment_here.EquipmentRefused) as refused:
        Lab.up(planned(tmp_path, text))
    assert [line.split(";")[0] for line in str(refused.value).splitlines()] == [
        "phone: there is no interface eth9 on this machine",
        "modem: eth3 is in use: it has the address 192.0.2.1, and this machine would lack it",
        "pc: there is an interface eth4 already",
        "pc: there is no user nobody-knows on this machine",
    ]
    interfaces.becomes(before)


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        ("nic: eth4", "address add 192.0.2.1/24 dev eth4"),
        ("nic: eth4", "route add default dev eth4"),
        ("macvlan: {of: eth4, mode: passthru}", "address add 192.0.2.1/24 dev eth4"),
        ("macvlan: {of: eth4, mode: passthru}", "route add default dev eth4"),
        ("macvlan: {of: eth4}", "route add default dev eth4"),
    ],
)
def test_a_file_takes_nothing_that_is_in_use_until_a_person_names_it(
    interfaces: OwnInterfaces, tmp_path: Path, kind: str, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interfaces.run("ip", *use.split())
    plan = planned(tmp_path, TOPOLOGY.replace("macvlan: {of: eth4}", kind))
    with interfaces.host.inside():
        with pytest.raises(equipment_here.EquipmentRefused, match=r"pc: eth4 is in use: .*say that you mean it: --take eth4"):
            equipment_here.check(plan)
        equipment_here.check(taking.named(plan, ["eth4"]))
        monkeypatch.setattr(operators, "operator", lambda: "alice")
        monkeypatch.setattr(operators, "why_not_taken", lambda _: None)
        with pytest.raises(equipment_here.EquipmentRefused, match="pc: --take eth4 is for root"):
            equipment_here.check(taking.named(plan, ["eth4"]))


REPLACED = """\
name: {lab}
hosts:
  a: {{address: 10.0.0.1/24}}
  b: {{address: 10.0.0.2/24}}
netboxes:
  air:
    technology: link
    stations: {{left: {{}}, right: {{}}}}
    rate: 50 Mbit/s
wires:
  - [a, air.left]
  - [air.right, b]
"""


def test_a_netbox_is_replaced_by_a_real_network_and_comes_back_while_the_lab_is_up(
    interfaces: OwnInterfaces, nothing_left: None, tmp_path: Path
) -> None:
    """The real network is a bridge between what is beyond eth2 and beyond eth3."""
    real = interfaces.outside["eth2"]
    checked(interfaces.outside["eth3"], "ip", "link", "set", "far", "netns", real.name, "name", "other")
    for line in ("link add name hub type bridge", "link set far master hub", "link set other master hub up", "link set hub up"):
        checked(real, "ip", *line.split())
    before, file = interfaces.state(), tmp_path / "lab.yaml"
    emulated = REPLACED.format(lab=f"e{os.getpid()}")
    file.write_text(emulated)
    with interfaces.host.inside(), alteration.apply(file, None).lab:
        for text, nodes in (
            (emulated, ["a", "b", "air"]),
            (emulated + "replace:\n  air: {left: {nic: eth2}, right: {nic: eth3}}\n", ["a", "b"]),
            (emulated, ["a", "b", "air"]),
        ):
            file.write_text(text)
            lab = alteration.apply(file, None).lab
            assert [node.name for node in lab.plan.nodes] == nodes
            assert pings(lab, "a", "10.0.0.2")
        interfaces.becomes(before)


def test_a_network_is_found_again_from_another_one() -> None:
    with Namespace("one") as one, Namespace("two") as two:
        with one.inside():
            identity = equipment.network_identity()
        with two.inside():
            assert equipment.network_identity() != identity
            with equipment.entered_network(identity):
                assert equipment.network_identity() == identity
            assert equipment.network_identity() != identity


def test_another_network_that_has_the_inode_of_one_that_is_gone_is_not_taken_for_it() -> None:
    with ExitStack() as made:
        identity = _identity_of_one_whose_inode_is_another_s(made)
        with pytest.raises(equipment.HostNetworkGone), equipment.entered_network(identity):
            pass


def _identity_of_one_whose_inode_is_another_s(made: ExitStack) -> str:
    """The kernel gives the lowest number that is free, soon after; now and then somebody else on this machine takes it first."""
    for _ in range(20):
        with Namespace("gone") as gone, gone.inside():
            inode = namespaces.path(gone.name).stat().st_ino
            identity = equipment.network_identity()
        for number in range(10):
            again = made.enter_context(Namespace(f"again{number}"))
            if namespaces.path(again.name).stat().st_ino == inode:
                return identity
            time.sleep(0.02)
    pytest.skip("others on this machine took each number that became free")
