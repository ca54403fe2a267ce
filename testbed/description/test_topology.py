# SPDX-License-Identifier: GPL-2.0-or-later
"""What a topology file may say, and what its writer is told when it says something else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contracts.errors import BadInput, BadTopology
from contracts.installation import CHECKOUT
from testbed.description.topology import Topology
from testbed.description.topology_file import load

EMERGENCY = CHECKOUT / "topologies" / "emergency.yaml"

#: Two hosts and a wire: the smallest network.
PAIR = """\
name: pair
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
wires:
  - [a, b]
"""


#: Two netboxes and a wire between them, in a loop.
ALONE = """\
name: alone
netboxes:
  one: &link
    technology: satellite
    stations: {ground: {role: terminal}, hub: {role: gateway}}
    return_rate: 2 Mbit/s
    forward_rate: 10 Mbit/s
  other: *link
wires:
  - [one.hub, other.hub]
  - {ends: [one.ground, other.ground], wire: memory}
"""


def load_text(tmp_path: Path, text: str) -> Topology:
    file = tmp_path / "lab.yaml"
    file.write_text(text)
    return load(file)


def errors_of(tmp_path: Path, text: str) -> list[BadInput]:
    with pytest.raises(BadTopology) as told:
        load_text(tmp_path, text)
    return told.value.errors


def changed(*changes: tuple[str, str], text: str | None = None) -> str:
    text = EMERGENCY.read_text() if text is None else text
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_the_emergency_network_is_read_in_base_units() -> None:
    topology = load(EMERGENCY)
    assert list(topology.netboxes) == ["field", "longhaul", "backhaul"]
    field = topology.netboxes["field"].parameters.model_dump()
    assert (field["distance"], field["tx_power"]) == (80.0, 16.0)
    assert topology.netboxes["backhaul"].parameters.model_dump()["packet_error_rate"] == 1e-6
    assert topology.netboxes["longhaul"].classes["voice"].rule() == {"dscp": [46]}
    assert topology.traffic["camera"].options.model_dump()["dscp"] == 34
    assert topology.realtime.limit == 5e-3
    assert topology.path == EMERGENCY


def test_two_hosts_and_a_wire_are_a_network(tmp_path: Path) -> None:
    assert list(load_text(tmp_path, PAIR).hosts) == ["a", "b"]


#: Queues by traffic class, and what is wrong with them.
BY_CLASS = [
    ("{discipline: drr, weights: {vioce: »4}}", 'queue.weights.vioce: the netbox has no class "vioce"; did you mean "voice"?'),
    ("{discipline: drr, weights: {voice: »0}}", "queue.weights.voice: 0 is less than 1; use 1 or more"),
    ("{discipline: drr, weights: {voice: »-2}}", "queue.weights.voice: -2 is less than 1"),
    ("{discipline: drr, weights: {voice: »1000000}}", "queue.weights.voice: 1000000 is more than 1024"),
    (
        "{discipline: codel, weights: »{voice: 4}}",
        "queue.weights: codel has no lines by traffic class that weigh; use drr, ",
    ),
    ("{discipline: codel, inner: »fifo}", "queue.inner: codel has no lines by traffic class; use priority, drr,"),
    (
        "{discipline: drr, inner: {discipline: drr, weights: »{voice: 4}}}",
        "queue.inner.weights: nesting too deep: the queue of a",
    ),
    ("{discipline: drr, classes: {voice: »priority}}", "queue.classes.voice: nesting too deep: the queue of a"),
    ("{discipline: drr, classes: {voice: {discipline: codel, target: »99 s}}}", "queue.classes.voice.target: 99 s is outside"),
    (
        "{discipline: priority, classes: {default: {time: »1 s}}}",
        "queue.classes.default.time: the time is that of the whole queue",
    ),
    ("{discipline: qfq, weights: {voice: 2}, flows: »8}", "queue.flows: lines are by traffic class here"),
]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        # Quantities
        ("distance: 80 m", "distance: »80", "netboxes.field.distance: 80 has no unit; a length needs one of m, km, cm"),
        ("distance: 80 m", "distance: »80 KM", "'KM' is not a unit of length; did you mean 80 km?"),
        ("distance: 80 m", "distance: »800 km", "800 km is outside 1 m … 15.1 km"),
        ("distance: 80 m", "distance: »[80 m]", "a length is written as a number and a unit"),
        (
            "packet_error_rate: 1e-6",
            "packet_error_rate: »2",
            "netboxes.backhaul.packet_error_rate: 2 is outside 0 … 1 (",
        ),
        ("packet_error_rate: 1e-6", "packet_error_rate: »low", "'low' stands where a number is needed"),
        # Keys and words
        ("distance: 80 m", "»distnce: 80 m", 'there is no key "distnce"; did you mean "distance"?'),
        ("    technology: wifi", "    »tecnology: wifi", 'there is no key "tecnology"; did you mean "technology"?'),
        ("technology: wifi", "technology: »wify", '"wify" is not a technology; did you mean "wifi"?'),
        ("technology: wifi", "technology: »5", '5 is not text; put it in quotes: "5"'),
        ("standard: 802.11a", "standard: »802.11be", "'802.11be' is not known here; use 802.11a, 802.11b, 802.11g, 802.11n,"),
        ("hosts:", "»host:", 'host: here stands the name of a machine, and this is a mapping; did you mean "hosts"?'),
        ("wires:", "»wire:", 'wire: here stands the kind of all wires, and this is a list; did you mean "wires"?'),
        ("{role: station}", "{role: »sation}", 'did you mean "station"?'),
        ("{role: station}", "{»rolle: station}", 'field.stations.responder: there is no key "rolle"; did you mean "role"?'),
        ("responder: {role: station}", "»responder:", '"role" is missing; add role: …'),
        ("seed: 1\n", "seed: »-1\n", "seed: -1 is outside 0 … 2147483647 (All randomness"),
        ("seed: 1\n", "seed: »1.5\n", "seed: 1.5 stands where a whole number is needed"),
        ("name: emergency", "»name:", "name: nothing stands where text is needed"),
        (
            "responder: {role: station}\n      commander: {role: access-point}",
            "responder: {role: access-point}\n      commander: {role: »access-point}",
            "stations.commander.role: a Wi-Fi cell has exactly one station with `role: access-point` (found: responder,",
        ),
        ("standard: 802.11a", "standard: 802.11a\n    band: »2.4 GHz", "field.band: 802.11a works at 5 GHz, not 2.4 GHz"),
        ("name: emergency", "name: »5", 'name: 5 is not text; put it in quotes: "5"'),
        ("name: emergency", "name: »Emergency", "use small letters, digits and -, a letter first"),
        ("name: emergency", "name: »emergency-network", "has 17 characters; use 15 at most"),
        ("name: emergency", "name: »default", 'the name "default" is taken'),
        ("policy: mark", "policy: »makr", "realtime.policy: 'makr' is not known here; did you mean \"mark\"?"),
        ("netboxes:", "»netboxs:", 'there is no key "netboxs"; did you mean "netboxes"?'),
        # Classes
        ("voice: {dscp: ef}", "voice: {dscp: »eff}", "classes.voice.dscp: 'eff' is not a DSCP; did you mean ef?"),
        ("voice: {dscp: ef}", "voice: »{}", "a class without a condition"),
        ("voice: {dscp: ef}", "voice: {»prt: 5}", 'there is no key "prt"; did you mean "ports"?'),
        ("voice: {dscp: ef}", "»default: {dscp: ef}", 'the name "default" is taken'),
        ("class: voice, direction", "class: »vioce, direction", 'the netbox has no class "vioce"; did you mean "voice"?'),
        # Queues by class
        (
            "packet_error_rate: 1e-6",
            "packet_error_rate: 1e-6\n    queue: {discipline: »modular, prefetch: 9 packets}",
            "queue.discipline: modular needs the state of each receiver's radio channel",
        ),
        *(("bandwidth: 10 MHz", f"bandwidth: 10 MHz\n    queue: {queue}", words) for queue, words in BY_CLASS),
        (
            "packet_error_rate: 1e-6",
            "queue: {discipline: drr, weights: {voice: »4}}",
            'the netbox has no class "voice"; it declares none; add classes, like {voice: {dscp: ef}}, to the netbox',
        ),
        # Wires
        ("[fr1, field.responder]", "[fr1, »field.respnder]", '"field" has no port "respnder"; did you mean "field.responder"?'),
        ("[fr1, field.responder]", "[»fr2, field.responder]", 'there is no node "fr2"; did you mean "fr1"?'),
        ("[fr1, field.responder]", "[fr1, »field]", '"field" has several ports; write field.responder or field.commander'),
        ("[fr1, field.responder]", "»[fr1]", "wires.0: a wire has two ends; write it like fr1--field.responder"),
        ("[fr1, field.responder]", "[fr1, »field.responder.x]", "an end of a wire is a host, or a node and its port"),
        (
            "[fr1, field.responder]",
            "{ends: [fr1, field.responder], wire: »memory}",
            "a memory wire joins emulators only, and fr1 is a host, whose programs need an interface of the kernel; "
            "write {ends: [fr1, field.responder], wire: veth}",
        ),
        ("[fr1, field.responder]", "{ends: [fr1, »field.respnder], wire: veth}", '"field" has no port "respnder"'),
        (
            "[fr1, field.responder]",
            "{ends: [fr1, field.responder], wire: »vteh}",
            "'vteh' is not known here; did you mean \"veth\"?",
        ),
        ("[fr1, field.responder]", "{ends: [fr1, field.responder], »wrie: veth}", 'there is no key "wrie"; did you mean "wire"?'),
        ("[fr1, field.responder]", "{ends: »[fr1]}", "a wire has two ends; write it like fr1--field.responder"),
        ("[fr1, field.responder]", "»fr1", "a wire has two ends; write it like fr1--field.responder"),
        # Cores
        ("    distance: 80 m", "    io: »xpd\n    distance: 80 m", "'xpd' is not known here; did you mean \"xdp\"?"),
        ("    distance: 80 m", "    cores: »3\n    distance: 80 m", "netboxes.field.cores: 3 is outside 1 … 2"),
        (
            "    distance: 80 m",
            "    share: small\n    cores: »2\n    distance: 80 m",
            "a netbox that shares a core has no second one; leave out cores or share: small",
        ),
        # Addresses
        ("10.10.0.11/24", "»10.10.0.11", "10.10.0.11 has no prefix length; write it like 10.10.0.11/24"),
        ("10.10.0.11/24", "»8.8.8.8/24", "8.8.8.8/24 is not private"),
        ("10.10.0.11/24", "»127.0.0.1/8", "127.0.0.1/8 is a loopback address, which is given to no interface"),
        ("10.10.0.11/24", "»fe80::1/64", "fe80::1/64 is a link-local address, which is given to no interface"),
        ("10.10.0.11/24", "»10.10.0.0/24", "is the network's own address; use one after it, like 10.10.0.1/24"),
        ("10.10.0.11/24", "»10.10.0.255/24", "is the broadcast address of 10.10.0.0/24"),
        ("10.10.0.11/24", "»10.10.0.311/24", "is not an address with a prefix length"),
        ("gateway: 10.10.0.1}", "gateway: »10.10.0.9}", "use 10.10.0.1 (meoc.ian)"),
        ("gateway: 10.10.0.1}", "gateway: »10.10.0.11}", "10.10.0.11 is the host's own address"),
        ("gateway: 10.10.0.1}", "gateway: »10.11.0.1}", "gateway 10.11.0.1 is not in 10.10.0.0/24, where fr1 is"),
        ("gateway: 10.10.0.1}", "gateway: »10.10.0.1/24}", "is not an IP address; leave the prefix length out"),
        (
            "fr1: {address: 10.10.0.11/24, gateway: 10.10.0.1}",
            "»fr1: {address: 10.10.0.11/24}",
            "host fr1 has no gateway, but traffic to or from another network; add gateway: 10.10.0.1",
        ),
        ("ian: 10.10.0.1/24", "ian: »10.10.0.11/24", "10.10.0.11 is the address of fr1.eth0 already"),
        # Routers
        ("click/meoc.click", "»click/meok.click", "there is no file click/meok.click; looked in"),
        ("click/meoc.click", "»../../../../../../etc/passwd", "leads out of the topology's folder and of the checkout"),
        ("engine: click", "engine: »clack", "'clack' is not known here; did you mean \"click\"?"),
        ("engine: click", "engine: »cisco", "'cisco' is not known here; use click or linux"),
        # Traffic
        ("centre: eoc", "centre: »meoc", '"meoc" is a router, not a host; use fr1 or eoc'),
        ("application: call", "application: »cal", '"cal" is not an application; did you mean "call"?'),
        ("from: fr1", "from: »fr", 'there is no host "fr"; did you mean "fr1"?'),
        ("    to: eoc", "    to: »fr1", 'the traffic ends at "fr1", where it starts'),
        ("    dscp: ef\n", "    dscp: »eff\n", "traffic.call.dscp: 'eff' is not a DSCP; did you mean ef?"),
        ("    dscp: ef\n", "    »dcsp: ef\n", 'traffic.call: there is no key "dcsp"; did you mean "dscp"?'),
        (
            "  call:\n    application",
            "  call:\n    »playout: 500 ms\n    application",
            "playout 500 ms is more than playout_limit 400 ms",
        ),
    ],
)
def test_one_mistake_is_told_once_at_its_place_with_its_remedy(tmp_path: Path, old: str, new: str, words: str) -> None:
    """» marks the place."""
    marked = changed((old, new))
    before = marked[: marked.index("»")]
    (error,) = errors_of(tmp_path, marked.replace("»", ""))
    assert words in str(error)
    assert (error.line, error.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_memory_for_all_wires_is_refused_at_each_host(tmp_path: Path) -> None:
    text = changed(("wires:\n", "wire: memory\nwires:\n"))
    lines = text.splitlines()
    errors = errors_of(tmp_path, text)
    assert [lines[error.line - 1] for error in errors] == ["  - [fr1, field.responder]", "  - [backhaul.hub, eoc]"]


def test_a_network_of_netboxes_alone_needs_neither_hosts_nor_a_centre(tmp_path: Path) -> None:
    topology = load_text(tmp_path, ALONE)
    assert (topology.hosts, topology.centre) == ({}, None)
    assert load_text(tmp_path, PAIR.replace("centre: b\n", "")).centre is None
    (error,) = errors_of(tmp_path, "name: nothing\n")
    assert error.cause == "the network has no node"


def test_traffic_needs_a_centre(tmp_path: Path) -> None:
    (error,) = errors_of(tmp_path, changed(("centre: eoc", "")))
    assert "there is traffic, but no centre" in str(error)
    assert "add centre: fr1 or eoc" in str(error)
    assert (error.column, error.cause.startswith("there is traffic")) == (1, True)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = changed(
        ("    dscp: ef\n", "    dscp: eff\n"),
        ("delay: 254 ms", "delay: 254"),
        ("[fr1, field.responder]", "[fr1, field.respnder]"),
        ("10.10.0.11/24", "8.8.8.8/24"),
        ("role: base", "role: bass"),
        ("seed: 1\n", "seed: one\n"),
    )
    errors = errors_of(tmp_path, text)
    causes = [error.cause for error in errors]
    for words in ("seed", "8.8.8.8/24 is not private", "'bass'", "254 has no unit", '"respnder"', "'eff'"):
        assert any(words in cause for cause in causes), words
    assert len(errors) == 6
    assert [error.line for error in errors] == sorted(error.line for error in errors)


def test_a_name_belongs_to_one_node(tmp_path: Path) -> None:
    text = changed(("  meoc:\n    engine", "  field:\n    engine"))
    assert '"field" is the name of a netbox already' in [error.cause for error in errors_of(tmp_path, text)]


def test_ipv6_and_both_versions_together_are_understood(tmp_path: Path) -> None:
    text = PAIR.replace("10.0.0.1/24", "[10.0.0.1/24, fd00::1/64]").replace("10.0.0.2/24", "[10.0.0.2/24, fd00::2/64]")
    assert [str(address) for address in load_text(tmp_path, text).hosts["a"].ports()["eth0"]] == ["10.0.0.1/24", "fd00::1/64"]
    (error,) = errors_of(tmp_path, PAIR.replace("10.0.0.1/24", "2a00::1/64"))
    assert "is not private" in error.cause


def test_a_host_with_several_interfaces_says_which_in_its_wires(tmp_path: Path) -> None:
    text = PAIR.replace("a: {address: 10.0.0.1/24}", "a: {interfaces: {x: 10.0.0.1/24}}")
    assert load_text(tmp_path, text)
    assert load_text(tmp_path, text.replace("[a, b]", "[a.x, b]"))
    for wrong in ("a: {}", "a: {address: 10.0.0.1/24, interfaces: {x: 10.0.0.1/24}}", "a: {interfaces: {}}"):
        assert errors_of(tmp_path, PAIR.replace("a: {address: 10.0.0.1/24}", wrong))


@pytest.mark.parametrize("section", ["hosts", "netboxes", "routers", "wires", "traffic"])
def test_a_section_of_the_wrong_kind_is_one_mistake(tmp_path: Path, section: str) -> None:
    text = re.sub(rf"^{section}:.*?(?=^\w|\Z)", "", EMERGENCY.read_text(), flags=re.DOTALL | re.MULTILINE)
    (error,) = errors_of(tmp_path, f"{text}{section}: nonsense\n")
    assert f"{section}: 'nonsense' stands where a" in error.cause


def test_a_configuration_is_found_beside_the_topology_first(tmp_path: Path) -> None:
    (tmp_path / "click").mkdir()
    (tmp_path / "click" / "meoc.click").write_text("// mine\n")
    topology = load_text(tmp_path, EMERGENCY.read_text())
    assert topology.routers["meoc"].configuration == tmp_path / "click" / "meoc.click"
    assert load(EMERGENCY).routers["meoc"].configuration == CHECKOUT / "click" / "meoc.click"


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.click").symlink_to("/etc/hostname")
    (error,) = errors_of(tmp_path, changed(("click/meoc.click", "out.click")))
    assert "there is no file out.click" in error.cause
