# SPDX-License-Identifier: GPL-2.0-or-later
"""What a topology may say of machines, and what is told of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import BadTopology
from testbed.description.machines import KnownMachines
from testbed.description.topology import Topology
from testbed.description.topology_file import load

KNOWN = KnownMachines("alpha", ("alpha", "beta", "gamma"), {"printer": "add netboxit_folder to it"})
TOPOLOGY = """\
name: two
hosts:
  a: {address: 10.0.0.1/24, host: alpha}
  b: {address: 10.0.0.2/24, host: beta}
netboxes:
  one: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s, host: alpha}
  other: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s, host: beta}
wires:
  - [a, one.left]
  - [one.right, other.left]
  - [other.right, b]
"""
BETWEEN = "  - [one.right, other.left]\n"


def read(folder: Path, text: str, known: KnownMachines | None = KNOWN) -> Topology:
    (folder / "lab.yaml").write_text(text)
    return load(folder / "lab.yaml", known)


def complaints(folder: Path, text: str, known: KnownMachines | None = KNOWN) -> list[str]:
    """Without the file's name."""
    with pytest.raises(BadTopology) as wrong:
        read(folder, text, known)
    return [str(error).partition("lab.yaml:")[2] for error in wrong.value.errors]


def with_wire(wire: str) -> str:
    return TOPOLOGY.replace(BETWEEN, f"  - {wire}\n")


def test_nodes_are_on_machines_one_by_one_or_all_that_say_none(tmp_path: Path) -> None:
    places = read(tmp_path, TOPOLOGY.replace(", host: alpha", "") + "host: gamma\n").places(KNOWN)
    assert [places.of(node) for node in ("a", "b", "one", "other")] == ["gamma", "beta", "gamma", "beta"]
    places = read(tmp_path, TOPOLOGY.replace(", host: alpha", "")).places(KNOWN)
    assert places.of("a") == "alpha"


def test_a_machine_that_is_not_in_the_inventory_is_told_with_the_nearest_that_is(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("host: beta}\nwires", "host: bete}\nwires").replace(
        "10.0.0.2/24, host: beta", "10.0.0.2/24, host: printer"
    )
    assert complaints(tmp_path, text) == [
        '4:35: machine "printer" can have no part of a lab; add netboxit_folder to it',
        '7:84: the inventory has no machine "bete"; did you mean "beta"?',
    ]


def test_without_an_inventory_all_but_the_names_of_machines_is_checked(tmp_path: Path) -> None:
    read(tmp_path, TOPOLOGY.replace("beta", "nobody-knows"), None)
    assert len(complaints(tmp_path, with_wire("{ends: [one.right, other.left], wire: memory}"), None)) == 1


@pytest.mark.parametrize("over", ["{alpha: eth2, beta: eth2}", "{beta: eth3, alpha: eth2}"])
def test_a_wire_leads_over_a_port_of_each_machine(tmp_path: Path, over: str) -> None:
    read(tmp_path, with_wire(f"{{ends: [one.right, other.left], over: {over}}}"))


def test_without_an_inventory_this_machine_may_be_any_that_a_wire_names(tmp_path: Path) -> None:
    text = with_wire("{ends: [one.right, other.left], over: {alpha: eth2, beta: eth2}}").replace(", host: alpha", "")
    read(tmp_path, text, None)
    read(tmp_path, text)


@pytest.mark.parametrize(
    ("wire", "told"),
    [
        (
            "{ends: [one.right, other.left], wire: memory}",
            "a memory wire is inside of one machine, and its ends are on alpha and beta; leave wire out, and it will be a tunnel",
        ),
        ("{ends: [one.right, other.left], over: {alpha: eth2}}", "with a cable between them; a tunnel by default)"),
        (
            "{ends: [one.right, other.left], over: {alpha: eth2, gamma: eth2}}",
            "no end of the wire is on gamma; use alpha or beta",
        ),
        (
            "{ends: [one.right, other.left], wire: veth, over: {alpha: eth2, beta: eth2}}",
            "a wire over ports is a cable, and no other kind of wire; leave wire out",
        ),
    ],
)
def test_what_a_wire_between_machines_cannot_be_is_told(tmp_path: Path, wire: str, told: str) -> None:
    assert any(one.endswith(told) for one in complaints(tmp_path, with_wire(wire))), complaints(tmp_path, with_wire(wire))


def test_a_wire_inside_of_a_machine_leads_over_no_port(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("  - [a, one.left]\n", "  - {ends: [a, one.left], over: {alpha: eth2, beta: eth2}}\n")
    assert complaints(tmp_path, text) == [
        "9:27: both ends of the wire are on alpha, so that it leads over no port; leave over out"
    ]
    free = with_wire("{ends: [one.right, other.left], over: {alpha: eth2, beta: eth2}}").replace(
        "Mbit/s, host: beta", "Mbit/s, host: auto"
    )
    assert complaints(tmp_path, free) == [
        "10:37: a wire over ports joins two machines, and other may be on any (host: auto); say at other on which machine it is"
    ]


def test_a_port_of_a_machine_is_taken_once_and_another_machine_may_have_one_of_that_name(tmp_path: Path) -> None:
    text = with_wire("{ends: [one.right, other.left], over: {alpha: eth2, beta: eth2}}")
    text = text.replace("left: {}, right: {}}, rate", "left: {}, right: {}, up: {}}, rate").replace(
        "technology: link", "technology: ethernet, medium: switched"
    )
    modem = "equipment:\n  modem: {nic: eth2, host: %s}\n"
    joined = text.replace("wires:\n", modem % "gamma" + "wires:\n  - [modem, one.up]\n")
    told = complaints(tmp_path, joined.replace("host: gamma", "host: alpha"))
    assert any("over" not in one and "eth2 is another port's already" in one for one in told), told


def test_netboxes_on_two_machines_share_no_core(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("rate: 1 Mbit/s,", "rate: 1 Mbit/s, share: links,")
    (told,) = complaints(tmp_path, text)
    assert "other shares a core with one, and they are on beta and alpha; put them on one machine" in told


def test_equipment_is_at_a_port_of_the_machine_of_what_it_is_joined_to(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("wires:\n", "equipment:\n  modem: {nic: eth2, host: gamma}\nwires:\n").replace(
        "[other.right, b]", "[other.right, modem]"
    )
    text = text.replace("  b: {address: 10.0.0.2/24, host: beta}\n", "")
    (told,) = complaints(tmp_path, text)
    assert told.startswith("8:3: modem is at a port of gamma, and other, which is joined to it, on beta; put both on one machine")
    read(tmp_path, text.replace("gamma", "beta"))
    (told,) = complaints(tmp_path, text.replace("gamma", "auto"))
    assert "the ports of modem are those of one machine, and it may be on any (host: auto); say at it which one" in told


def test_what_replaces_a_netbox_is_at_ports_of_the_netboxs_machine(tmp_path: Path) -> None:
    text = TOPOLOGY + "replace:\n  other: {left: {nic: eth2}, right: {nic: eth3}}\n"
    (told,) = complaints(tmp_path, text)
    assert told.startswith("13:3: other is at a port of beta, and one, which is joined to it, on alpha")
    kept = read(
        tmp_path, text.replace("1 Mbit/s, host: alpha", "1 Mbit/s, host: beta").replace("/24, host: alpha", "/24, host: beta")
    )
    assert kept.equipment["other"].host == "beta"


def test_an_event_waits_for_what_its_own_machine_sees(tmp_path: Path) -> None:
    event = "events:\n  - {when: {netbox: %s, station: left, silent: 1 s}, netbox: other, set: {rate: 2 Mbit/s}}\n"
    (told,) = complaints(tmp_path, TOPOLOGY + event % "one")
    assert "it waits for what is at one, on alpha, and changes other, on beta; put one and other on one machine" in told
    read(tmp_path, TOPOLOGY + event % "other")
    flap = "events:\n  - {when: {netbox: one, station: left, silent: 1 s}, drill: link-flap, with: {wire: [other.right, b]}}\n"
    (told,) = complaints(tmp_path, TOPOLOGY + flap)
    assert "it waits for what is at one, on alpha, and changes b, on beta" in told


def test_the_name_of_a_machine_is_one_word(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, TOPOLOGY.replace("host: beta}\nnet", 'host: "$(reboot)"}\nnet'))
    assert "is not the name of a machine" in told
