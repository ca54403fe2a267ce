# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from testbed.description.topology import Host
from testbed.description.topology_file import load
from testbed.description.wiring import End, Wiring, addresses_between, find_end

PORTS = {"fr1": ("eth0",), "field": ("responder", "commander"), "broken": None}


@pytest.fixture(scope="module")
def emergency() -> Wiring:
    return Wiring.of(load(CHECKOUT / "topologies" / "emergency.yaml"))


def test_netboxes_join_segments_and_routers_part_them(emergency: Wiring) -> None:
    segments = {frozenset(str(end) for end in segment) for segment in emergency.segments()}
    assert segments == {
        frozenset(
            ("fr1.eth0", "field.responder", "field.commander", "longhaul.commander", "longhaul.meoc", "meoc.ian"),
        ),
        frozenset(("meoc.jan", "backhaul.meoc", "backhaul.hub", "eoc.eth0")),
    }
    assert emergency.same_segment(End("fr1", "eth0"), End("meoc", "ian"))
    assert not emergency.same_segment(End("meoc", "ian"), End("meoc", "jan"))


def test_distance_is_counted_in_wires(emergency: Wiring) -> None:
    assert emergency.distances("eoc") == {"eoc": 0, "backhaul": 1, "meoc": 2, "longhaul": 3, "field": 4, "fr1": 5}


def test_an_end_is_found_by_its_node_alone_when_it_has_one_port() -> None:
    assert find_end("fr1", PORTS) == find_end("fr1.eth0", PORTS) == End("fr1", "eth0")
    assert find_end("field.responder", PORTS) == End("field", "responder")
    # What a node has that is wrong in itself is not known, so nothing can be said against it.
    assert find_end("broken.left", PORTS) == End("broken", "left")
    for text, words in (
        ("field", "several ports"),
        ("field.x", 'no port "x"'),
        ("feild.responder", 'did you mean "field.responder"'),
    ):
        with pytest.raises(ValueError, match=words):
            find_end(text, PORTS)


def host(*addresses: str, gateway: list[str] | None = None) -> Host:
    return Host.model_validate({"address": list(addresses), "gateway": gateway or []})


def between(a: Host, b: Host, *, joined: bool) -> tuple[str, str] | None:
    wires = [(End("a", "eth0"), End("b", "eth0"))] if joined else []
    found = addresses_between(Wiring(wires, frozenset(), frozenset(("a", "b"))), ("a", a), ("b", b))
    return None if found is None else (str(found[0]), str(found[1]))


def test_hosts_on_one_segment_talk_directly_by_ipv4_if_they_can() -> None:
    both = host("10.0.0.1/24", "fd00::1/64")
    assert between(both, host("10.0.0.2/24", "fd00::2/64"), joined=True) == ("10.0.0.1", "10.0.0.2")
    assert between(both, host("fd00::2/64"), joined=True) == ("fd00::1", "fd00::2")


def test_hosts_on_two_segments_need_gateways_of_one_ip_version() -> None:
    near = host("10.0.0.1/24", "fd00::1/64", gateway=["10.0.0.254", "fd00::ff"])
    assert between(near, host("10.1.0.1/24", gateway=["10.1.0.254"]), joined=False) == ("10.0.0.1", "10.1.0.1")
    assert between(near, host("fd01::1/64", gateway=["fd01::ff"]), joined=False) == ("fd00::1", "fd01::1")
    assert between(near, host("10.1.0.1/24"), joined=False) is None
    assert between(host("10.0.0.1/24", gateway=["10.0.0.254"]), host("fd01::1/64", gateway=["fd01::ff"]), joined=False) is None


def test_a_host_with_several_interfaces_uses_the_one_on_the_others_segment(tmp_path: Path) -> None:
    file = tmp_path / "three.yaml"
    file.write_text(
        """\
name: three
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {interfaces: {left: 10.0.0.2/24, right: 10.1.0.2/24}}
  c: {address: 10.1.0.1/24}
wires: [[a, b.left], [b.right, c]]
"""
    )
    topology = load(file)
    found = addresses_between(Wiring.of(topology), ("c", topology.hosts["c"]), ("b", topology.hosts["b"]))
    assert [str(address) for address in found or ()] == ["10.1.0.1", "10.1.0.2"]
