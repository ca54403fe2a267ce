# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of small networks that were found by hand, and of random ones by trying every chain of routers."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from testbed.description import topology_file
from testbed.description.topology import Topology
from testbed.description.wiring import Wiring
from testbed.nodes import frr
from testbed.nodes.routers import static_routes
from testbed.plans.resolve import resolve
from testbed.plans.routing import RoutesUnknown, Routing

REALTIME = RealtimeSupport(True, 950_000, "SCHED_FIFO works")
#: A cost that no test reaches by adding.
FAR = 60_000


def ospf_network(folder: Path, links: Mapping[tuple[int, int], tuple[int, int]], routers: int) -> tuple[Topology, Plan]:
    """Routers r0, r1, … with OSPF; hosts a behind r0 and b behind the last one; a netbox n01 between r0 and r1, and so on.

    `links` says at what cost each of the two routers leaves by the link: {(0, 1): (10, 20)}.
    """
    interfaces: list[dict[str, str]] = [{} for _ in range(routers)]
    costs: list[dict[str, int]] = [{} for _ in range(routers)]
    wires = [["a", "r0.lan"], [f"r{routers - 1}.lan", "b"]]
    interfaces[0]["lan"], interfaces[-1]["lan"] = "10.1.0.1/24", "10.2.0.1/24"
    for number, ((one, other), both) in enumerate(links.items()):
        for end, (router, cost) in enumerate(zip((one, other), both, strict=True)):
            interfaces[router][f"to{(other, one)[end]}"] = f"10.9.{number}.{end + 1}/30"
            costs[router][f"to{(other, one)[end]}"] = cost
        wires += [[f"r{one}.to{other}", f"n{one}{other}.x"], [f"n{one}{other}.y", f"r{other}.to{one}"]]
    link = {"technology": "link", "stations": {"x": {}, "y": {}}}
    return read(
        folder,
        {
            "hosts": {
                "a": {"address": "10.1.0.11/24", "gateway": "10.1.0.1"},
                "b": {"address": "10.2.0.11/24", "gateway": "10.2.0.1"},
            },
            "netboxes": {f"n{one}{other}": link for one, other in links},
            "routers": {
                f"r{at}": {"engine": "linux", "interfaces": interfaces[at], "ospf": {"costs": costs[at]}}
                for at in range(routers)
                if interfaces[at]
            },
            "wires": wires,
        },
    )


def read(folder: Path, network: Mapping[str, Any]) -> tuple[Topology, Plan]:
    file = folder / "network.yaml"
    file.write_text(json.dumps({"name": "network", **network}))
    topology = topology_file.load(file)
    return topology, resolve(topology, cores=(0, 1), realtime=REALTIME)


def netboxes(topology: Topology, plan: Plan, source: str, address: str, without: Sequence[str] = ()) -> list[list[str]]:
    """The netboxes of each path, when some have failed."""
    wiring = Wiring.of(topology)
    left = [wire for wire in wiring.wires if not any(end.node in without for end in wire)]
    routing = Routing(plan, Wiring(left, wiring.transparent, wiring.final, wiring.switches))
    paths = routing.paths(source, ipaddress.ip_address(address))
    return [[into.node for _, into in wires if into.node in topology.netboxes] for wires in paths]


def test_the_least_sum_of_costs_wins_and_not_the_fewest_wires(tmp_path: Path) -> None:
    network = ospf_network(tmp_path, {(0, 2): (100, 100), (0, 1): (10, 10), (1, 2): (10, 10)}, 3)
    assert netboxes(*network, "a", "10.2.0.11") == [["n01", "n12"]]
    assert netboxes(*network, "b", "10.1.0.11") == [["n12", "n01"]]


def test_the_costs_of_leaving_count_so_the_way_back_may_be_another(tmp_path: Path) -> None:
    network = ospf_network(tmp_path, {(0, 2): (100, 5), (0, 1): (10, 10), (1, 2): (10, 10)}, 3)
    assert netboxes(*network, "a", "10.2.0.11") == [["n01", "n12"]]
    assert netboxes(*network, "b", "10.1.0.11") == [["n02"]]


def test_equally_good_paths_are_all_there(tmp_path: Path) -> None:
    network = ospf_network(tmp_path, {(0, 2): (20, 20), (0, 1): (10, 10), (1, 2): (10, 10)}, 3)
    assert netboxes(*network, "a", "10.2.0.11") == [["n01", "n12"], ["n02"]]


def test_without_a_netbox_the_next_best_path_is_taken_and_without_any_none(tmp_path: Path) -> None:
    network = ospf_network(tmp_path, {(0, 2): (100, 100), (0, 1): (10, 10), (1, 2): (10, 10)}, 3)
    assert netboxes(*network, "a", "10.2.0.11", without=["n12"]) == [["n02"]]
    assert netboxes(*network, "a", "10.2.0.11", without=["n12", "n02"]) == []


@settings(max_examples=25)
@given(
    costs=st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] < pair[1]),
        st.tuples(st.integers(1, 9), st.integers(1, 9)),
        min_size=3,
    )
)
def test_random_networks_have_the_paths_that_are_best_of_all_chains_of_routers(
    tmp_path_factory: pytest.TempPathFactory, costs: dict[tuple[int, int], tuple[int, int]]
) -> None:
    """A router without a link would be refused, so that there is one between each and the next, which nobody takes."""
    links = {(at, at + 1): (FAR, FAR) for at in range(4)} | costs
    topology, plan = ospf_network(tmp_path_factory.mktemp("random"), links, 5)
    assert netboxes(topology, plan, "a", "10.2.0.11") == sorted(best_chains(links))


def best_chains(links: Mapping[tuple[int, int], tuple[int, int]]) -> list[list[str]]:
    """The chains from router 0 to router 4 with the least sum of costs, by their netboxes."""
    directed = {pair: costs[0] for pair, costs in links.items()} | {pair[::-1]: costs[1] for pair, costs in links.items()}
    chains = []
    for count in range(4):
        for between in permutations((1, 2, 3), count):
            steps = list(zip((0, *between), (*between, 4), strict=True))
            if all(step in directed for step in steps):
                chains.append((sum(directed[step] for step in steps), [f"n{min(step)}{max(step)}" for step in steps]))
    least = min(cost for cost, _ in chains)
    return [names for cost, names in chains if cost == least]


def test_static_routes_lead_where_they_say(tmp_path: Path) -> None:
    """Two Linux routers without OSPF, whose default gateways are each other by the long link."""
    link = {"technology": "link", "stations": {"x": {}, "y": {}}}
    network = read(
        tmp_path,
        {
            "hosts": {
                "a": {"address": "10.1.0.11/24", "gateway": "10.1.0.1"},
                "b": {"address": "10.2.0.11/24", "gateway": "10.2.0.1"},
            },
            "netboxes": {name: link for name in ("near", "far", "further")},
            "routers": {
                "west": {
                    "engine": "linux",
                    "interfaces": {"lan": "10.1.0.1/24", "near": "10.8.0.1/30", "far": "10.9.0.1/30"},
                    "gateway": "10.9.0.2",
                },
                "east": {
                    "engine": "linux",
                    "interfaces": {"lan": "10.2.0.1/24", "near": "10.8.0.2/30", "far": "10.9.0.2/30"},
                    "gateway": "10.9.0.1",
                },
            },
            "wires": [
                *(["a", "west.lan"], ["east.lan", "b"], ["west.near", "near.x"], ["near.y", "east.near"]),
                *(["west.far", "far.x"], ["far.y", "further.x"], ["further.y", "east.far"]),
            ],
        },
    )
    assert netboxes(*network, "a", "10.2.0.11") == [["far", "further"]]
    assert netboxes(*network, "a", "10.8.0.2") == [["near"]]
    assert netboxes(*network, "a", "10.2.0.11", without=["far"]) == []


def test_the_click_router_of_the_emergency_network_is_understood() -> None:
    topology = topology_file.load(CHECKOUT / "topologies/emergency.yaml")
    plan = resolve(topology, cores=(0, 1), realtime=REALTIME)
    assert netboxes(topology, plan, "fr1", "10.20.0.20") == [["field", "longhaul", "backhaul"]]


def test_a_configuration_of_click_without_one_table_is_not_understood() -> None:
    assert static_routes((CHECKOUT / "click/nat.click").read_text(), {}) is None
    topology = topology_file.load(CHECKOUT / "topologies/emergency.yaml")
    plan = resolve(topology, cores=(0, 1), realtime=REALTIME)
    with pytest.raises(RoutesUnknown, match="meoc"):
        netboxes(topology, plan, "fr1", "10.99.0.1")


def test_routes_of_click_are_read_with_their_variables() -> None:
    text = (CHECKOUT / "click/ip-router.click").read_text()
    defines = {"A_IP": "10.1.0.1", "A_NET": "10.1.0.0/24", "B_IP": "10.2.0.1", "B_NET": "10.2.0.0/24"}
    routes = static_routes(text, defines | {"ROUTES": "10.9.0.0/16 10.2.0.9 2, 0.0.0.0/0 10.1.0.254 1"})
    assert routes is not None
    told = [(str(network), gateway) for network, gateway in routes if gateway is not None]
    assert told == [("10.9.0.0/16", "10.2.0.9"), ("0.0.0.0/0", "10.1.0.254")]
    assert (ipaddress.IPv4Network("10.2.0.0/24"), None) in routes


def test_a_configuration_of_frr_says_interfaces_costs_and_static_routes() -> None:
    text = """\
interface lan
 ip ospf cost 7
 ip ospf passive
exit
interface sky
 ip ospf area 0
exit
router ospf
 network 10.1.0.0/16 area 0
exit
ip route 10.5.0.0/16 10.1.0.9
router bgp 65000
"""
    addresses = {"lan": "10.1.0.1/24", "sky": "10.3.0.1/30", "out": "192.0.2.1/24"}
    found = frr.read_routes(text, {name: [ipaddress.ip_interface(one)] for name, one in addresses.items()})
    assert (found.costs, found.passive, found.others) == ({"lan": 7, "sky": 10}, {"lan"}, ["bgp"])
    assert found.static == [(ipaddress.ip_network("10.5.0.0/16"), "10.1.0.9")]
