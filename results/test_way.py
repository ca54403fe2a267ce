# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from results.conftest import CENTRE, FIELD, frame, rtp
from results.datagram import datagram
from results.datagram import rtp as read_rtp
from results.way import Gap, NoWay, find_way


def plan(*wires: tuple[str, str], **kinds: str) -> dict[str, Any]:
    return {
        "nodes": [{"name": name, "kind": kind} for name, kind in kinds.items()],
        "wires": [{"left": {"node": one}, "right": {"node": other}} for one, other in wires],
    }


def test_a_way_lists_netboxes_and_what_lies_between_them() -> None:
    chain = plan(("a", "n"), ("n", "r"), ("s", "r"), ("b", "s"), a="host", n="netbox", r="router", s="router", b="host")
    assert find_way(chain, "a", "b").netboxes == ("n",)
    assert find_way(chain, "a", "b").gaps == (Gap("a", "n", ()), Gap("n", "b", ("r", "s")))
    assert [gap.name for gap in find_way(chain, "b", "a").gaps] == ["router s and router r", "wire n to a"]


def test_a_real_network_on_the_way_is_told_as_such() -> None:
    chain = plan(("a", "n"), a="host", n="netbox", b="host")
    chain["equipment"] = [{"name": "sky.left", "end": {"node": "n"}}, {"name": "sky.right", "end": {"node": "b"}}]
    (first, second) = find_way(chain, "a", "b").gaps
    assert (first.equipment, second.equipment, second.name) == ((), ("sky",), "equipment sky")


def test_a_gap_names_its_routers_and_switches() -> None:
    chain = plan(("a", "s"), ("s", "r"), ("r", "n"), ("n", "b"), a="host", s="switch", r="router", n="netbox", b="host")
    (first, second) = find_way(chain, "a", "b").gaps
    assert (first.routers, first.switches, first.name) == (("r",), ("s",), "router r and switch s")
    assert second.switches == ()


def test_hosts_on_one_wire_have_a_way_without_netboxes() -> None:
    assert find_way(plan(("a", "b"), a="host", b="host"), "a", "b").gaps == (Gap("a", "b", ()),)


def test_hosts_that_nothing_joins_have_no_way() -> None:
    with pytest.raises(NoWay, match="from a to b"):
        find_way(plan(("a", "n"), a="host", n="netbox", b="host"), "a", "b")


def test_a_captured_frame_tells_its_addresses_ports_and_true_lengths() -> None:
    whole = frame(FIELD, CENTRE, 1, rtp(9, 1_440, size=500))
    for data in (whole, whole + bytes(20), whole[:256]):
        found = datagram(data)
        assert found is not None
        assert (found.source, found.destination, found.protocol) == (FIELD, CENTRE, "udp")
        assert (found.source_port, found.destination_port) == (20_000, 20_000)
        assert (found.ethernet_bytes, found.payload_bytes) == (14 + 20 + 8 + 512, 512)
        header = read_rtp(found.payload)
        assert header is not None and (header.sequence, header.timestamp, header.payload_type) == (9, 1_440, 8)


def test_a_vlan_tag_is_passed_over() -> None:
    whole = frame(FIELD, CENTRE, 1, b"x" * 30)
    tagged = whole[:12] + b"\x81\x00\x00\x05" + whole[12:]
    found = datagram(tagged)
    assert found is not None and found.payload_bytes == 30


@pytest.mark.parametrize("data", [b"", bytes(14), bytes(12) + b"\x08\x00" + bytes(10), bytes(12) + b"\x08\x06" + bytes(40)])
def test_what_is_no_datagram_is_none(data: bytes) -> None:
    assert datagram(data) is None


def test_later_fragments_have_no_ports() -> None:
    whole = bytearray(frame(FIELD, CENTRE, 1, b"x" * 30))
    whole[20:22] = b"\x00\x10"
    assert datagram(bytes(whole)) is None


def test_rtcp_is_not_taken_for_rtp() -> None:
    assert read_rtp(b"\x80\xc8" + bytes(26)) is None
