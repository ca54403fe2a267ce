# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from contracts.plan import EquipmentPlan, NodeKind, WireEnd
from results.conftest import netbox_files, node_plan, plan_of, wire_plan
from results.flow_path import Crossing, Followed, Gap, Network, NoPath


def network(kinds: str, wires: str, *, equipment: str = "", mute: Sequence[str] = (), tunnels: Sequence[str] = ()) -> Network:
    """From `host a b, netbox n` and wires like `a.x n.left, n.right b.y`; `mute` are netboxes without records.

    Wires are called w0, w1, …; those in `tunnels` lead to another machine. A netbox has the ports of its wires as stations, in
    the order of the wires.
    """
    pairs = [[end.partition(".")[::2] for end in wire.split()] for wire in wires.split(", ")]
    nodes = []
    for kind, *names in map(str.split, kinds.split(", ")):
        for name in names:
            files = netbox_files(*(port for pair in pairs for node, port in pair if node == name)) if kind == "netbox" else {}
            nodes.append(node_plan(name, cast(NodeKind, kind), files=files))
    joined = [
        wire_plan(f"w{at}", (left[0], left[1]), (right[0], right[1]), kind="vxlan" if f"w{at}" in tunnels else "veth")
        for at, (left, right) in enumerate(pairs)
    ]
    real = [wire.split() for wire in equipment.split(", ") if wire]
    pieces = tuple(EquipmentPlan(name, "nic", name, WireEnd(*end.split(".")), name, 1500) for name, end in real)
    return Network(plan_of(nodes, joined, equipment=pieces), mute)


CHAIN = network("host a b, netbox n, router r s", "a.eth n.left, n.right r.x, r.y s.x, s.y b.eth")
#: Routers r and s with a short path, by `near`, and a long one, by `far`, router t and `further`.
RING_NODES = "host a b, netbox near far further, router r s t"
RING_WIRES = (
    "a.eth r.a, r.near near.r, near.s s.near, r.far far.r, far.t t.far, t.further further.t, further.s s.further, s.b b.eth"
)
RING = network(RING_NODES, RING_WIRES)


def followed(crossings: Sequence[str], *, arrived: bool = True, of: Network = RING) -> Followed:
    """Crossings are written as `near r s`, or with the fate of a lost frame as `near r s 5`."""
    parts = [crossing.split() for crossing in crossings]
    own = [Crossing(netbox, entered, left, int(fate[0]) if fate else 0) for netbox, entered, left, *fate in parts]
    return of.follow("a", "b", own, frozenset(), arrived=arrived)


def test_a_path_lists_netboxes_and_what_lies_between_them() -> None:
    path = CHAIN.shortest("a", "b")
    assert path.netboxes == ("n",)
    assert path.gaps == (Gap("a", "n", ()), Gap("n", "b", ("r", "s")))
    assert [gap.name for gap in CHAIN.shortest("b", "a").gaps] == ["router s and router r", "wire n to a"]


def test_a_real_network_on_the_path_is_told_as_such() -> None:
    chain = network("host a b, netbox n", "a.eth n.left", equipment="sky.left n.right, sky.right b.eth")
    (first, second) = chain.shortest("a", "b").gaps
    assert (first.equipment, second.equipment, second.name) == ((), ("sky",), "equipment sky")


def test_a_gap_names_its_routers_and_switches() -> None:
    mixed = network("host a b, switch s, router r, netbox n", "a.eth s.a, s.r r.s, r.n n.r, n.b b.eth")
    (first, second) = mixed.shortest("a", "b").gaps
    assert (first.routers, first.switches, first.name) == (("r",), ("s",), "router r and switch s")
    assert second.switches == ()


def test_hosts_on_one_wire_have_a_path_without_netboxes() -> None:
    assert network("host a b", "a.eth b.eth").shortest("a", "b").gaps == (Gap("a", "b", ()),)


def test_hosts_that_nothing_joins_have_no_path() -> None:
    with pytest.raises(NoPath, match="from a to b"):
        network("host a b, netbox n", "a.eth n.left").shortest("a", "b")


def test_a_path_goes_by_the_netboxes_that_saw_the_frame_and_not_by_the_fewest_wires() -> None:
    assert followed(["near r s"]).path.netboxes == ("near",)
    path = followed(["far r t", "further t s"])
    assert path.path.netboxes == ("far", "further")
    assert path.crossings == (0, 1)
    assert path.path.gaps == (Gap("a", "far", ("r",)), Gap("far", "further", ("t",)), Gap("further", "b", ("s",)))


def test_a_netbox_that_a_flooded_frame_entered_too_is_not_on_its_path() -> None:
    lan = network("host a b c, router r, netbox lan sky", "a.eth lan.a, lan.r r.lan, lan.c c.eth, r.sky sky.r, sky.b b.eth")
    path = followed(["lan a c", "lan a r", "sky r b"], of=lan)
    assert (path.path.netboxes, path.crossings) == (("lan", "sky"), (1, 2))


def test_a_netbox_that_is_crossed_twice_is_there_twice() -> None:
    """Two stations of a cell, and a router behind its gateway."""
    cell = network("host a b, netbox cell, router r", "a.eth cell.one, b.eth cell.two, cell.gateway r.cell")
    path = followed(["cell one gateway", "cell gateway two"], of=cell)
    assert (path.path.netboxes, path.path.points, path.crossings) == (("cell", "cell"), ("cell", "cell.2"), (0, 1))
    assert path.path.gaps[1] == Gap("cell", "cell", ("r",))


def test_a_routing_loop_is_followed_all_the_way() -> None:
    path = followed(["near r s", "near s r", "near r s"])
    assert (path.path.netboxes, path.crossings) == (("near", "near", "near"), (0, 1, 2))


def test_a_lost_frame_is_lost_where_a_record_says_so_and_its_path_goes_on_from_there() -> None:
    path = followed(["far r t", "further t s 5"], arrived=False)
    assert (path.path.netboxes, path.crossings, path.lost_at) == (("far", "further"), (0, 1), "further")
    assert followed(["far r t 2"], arrived=False).path.netboxes == ("far", "further")


def test_a_frame_that_is_not_seen_again_is_lost_behind_the_last_point_that_saw_it() -> None:
    assert followed(["far r t"], arrived=False).lost_at == "router t"
    assert followed([], arrived=False).lost_at == "router r"
    assert followed(["far r t", "further t s"], arrived=False).lost_at == "router s"


def test_of_a_frame_that_was_flooded_and_lost_the_crossing_towards_its_destination_counts() -> None:
    lan = network("host a b c, netbox lan", "a.eth lan.a, lan.b b.eth, lan.c c.eth")
    path = followed(["lan a c", "lan a b 4"], arrived=False, of=lan)
    assert (path.crossings, path.lost_at) == ((1,), "lan")


def test_a_netbox_without_records_lies_on_the_path_between_those_that_have_some() -> None:
    path = followed(["far r t"], of=network(RING_NODES, RING_WIRES, mute=["further"]))
    assert (path.path.netboxes, path.crossings) == (("far", "further"), (0, None))


def test_of_two_tunnels_side_by_side_the_frame_took_the_one_that_saw_it() -> None:
    two = network("host a b, router r s", "a.eth r.a, r.one s.one, r.two s.two, s.b b.eth", tunnels=("w1", "w2"))
    for wire in ("w1", "w2"):
        path = two.follow("a", "b", (), {(wire, "r"), (wire, "s")}, arrived=True)
        assert [tunnel.wire for tunnel in path.path.tunnels] == [wire]
    lost = two.follow("a", "b", (), {("w2", "r")}, arrived=False)
    assert lost.lost_at == "tunnel w2"
    assert two.follow("a", "b", (), {("w2", "r"), ("w2", "s")}, arrived=False).lost_at == "router r and router s"


def test_records_of_stations_that_a_netbox_has_not_are_on_no_path() -> None:
    assert RING.crossing("near", 0, 1, 0) == Crossing("near", "r", "s", 0)
    crossings = [RING.crossing("near", 0, 9, 0), RING.crossing("far", 0, 1, 0), RING.crossing("further", 0, 1, 0)]
    path = RING.follow("a", "b", crossings, frozenset(), arrived=True)
    assert (path.path.netboxes, path.crossings) == (("far", "further"), (1, 2))
