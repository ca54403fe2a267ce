# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan that a topology makes. `make_golden` at the end writes the golden plan anew after a wanted change."""

from __future__ import annotations

import json
from collections.abc import Callable
from ipaddress import ip_address, ip_interface
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from contracts.names import BadLabName
from contracts.netbox_configuration import CONFIGURATION_FILE, netbox_configuration
from contracts.plan import Plan, RealtimeSupport
from testbed import where
from testbed.changing.alteration import apply
from testbed.changing.comparison import compare
from testbed.description.topology_file import load
from testbed.plans.resolve import resolve
from testbed.plans.traffic_plan import BadDuration

EMERGENCY = CHECKOUT / "topologies" / "emergency.yaml"
GOLDEN = Path(__file__).parent / "golden" / "emergency-plan.json"
OURS = sorted(file for file in (CHECKOUT / "topologies").glob("*.yaml") if not file.stem.endswith(".reference"))
GRANTED = RealtimeSupport(True, 950_000, "SCHED_FIFO works", keep_awake=True)


def plan_of(path: Path = EMERGENCY, *, realtime: RealtimeSupport = GRANTED, **options: Any) -> Plan:
    return resolve(load(path), **{"cores": (0, 1), **options}, realtime=realtime)


def readable(plan: Plan) -> dict[str, Any]:
    """The plan as JSON, free of this machine: the checkout's path and the router's text replaced, netbox.json unfolded."""
    text = json.dumps(plan.to_json(), ensure_ascii=False)
    data: dict[str, Any] = json.loads(text.replace(str(CHECKOUT), "CHECKOUT"))
    for node in data["nodes"]:
        for name, content in node["files"].items():
            original = CHECKOUT / "click" / name
            same = original.is_file() and content == original.read_text().replace(str(CHECKOUT), "CHECKOUT")
            node["files"][name] = f"as click/{name}" if same else json.loads(content)
    return data


def test_the_emergency_networks_plan_is_the_golden_one() -> None:
    assert readable(plan_of()) == json.loads(GOLDEN.read_text()), (
        "the plan has changed; if it should, write it anew: .venv/bin/python -m testbed.plans.test_resolve"
    )


def test_the_same_topology_gives_the_same_plan() -> None:
    assert plan_of() == plan_of()


def test_a_plan_survives_being_written_as_json() -> None:
    plan = plan_of()
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_wire_may_leave_its_segment_a_smaller_mtu(tmp_path: Path) -> None:
    """All that hears each other without a router has to agree."""
    (tmp_path / "lab.yaml").write_text(
        """\
name: small
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.1.1/24}
netboxes:
  near: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s}
routers:
  r: {engine: linux, interfaces: {left: 10.0.0.254/24, right: 10.0.1.254/24}}
wires:
  - [a, near.left]
  - {ends: [near.right, r.left], mtu: 1450}
  - [r.right, b]
"""
    )
    assert [wire.mtu for wire in plan_of(tmp_path / "lab.yaml").wires] == [1450, 1450, 1500]


def test_labs_of_one_topology_share_no_container_and_no_mac() -> None:
    one, other = plan_of(), plan_of(lab="second")
    assert other.lab == "second"
    assert {node.container for node in one.nodes}.isdisjoint(node.container for node in other.nodes)
    macs = [{interface.mac for node in plan.nodes for interface in node.interfaces} for plan in (one, other)]
    assert macs[0].isdisjoint(macs[1])
    assert len(macs[0]) == sum(len(node.interfaces) for node in one.nodes)


@pytest.mark.parametrize("name", ["No name", ""])
def test_a_lab_name_that_cannot_be_had_is_refused(name: str) -> None:
    """Also an empty one, as of a shell's variable that is not set: the topology's own name would be another lab."""
    file, topology = EMERGENCY, load(EMERGENCY)
    attempts: list[Callable[[], object]] = [
        lambda: resolve(topology, lab=name, cores=(0, 1), realtime=GRANTED),
        lambda: compare(topology, name),
        lambda: apply(file, name),
        lambda: where.refuse_several(file, name),
        where.planned(file, None, lab=name).__enter__,
    ]
    for attempt in attempts:
        with pytest.raises(BadLabName):
            attempt()


def test_each_netbox_has_a_seed_of_its_own_that_follows_from_the_files(tmp_path: Path) -> None:
    seeds = netbox_values(plan_of(), "seed")
    assert len(set(seeds.values())) == 3
    text = EMERGENCY.read_text()
    again = tmp_path / "again.yaml"
    again.write_text(text.replace("seed: 1\n", "seed: 2\n"))
    assert set(netbox_values(plan_of(again), "seed").values()).isdisjoint(seeds.values())
    again.write_text(text.replace("name: emergency", "name: other"))
    assert netbox_values(plan_of(again), "seed") == seeds


def netbox_values(plan: Plan, key: str) -> dict[str, Any]:
    return {node.name: json.loads(node.files["netbox.json"])[key] for node in plan.nodes if node.kind == "netbox"}


def test_every_interface_ends_the_wire_that_it_names() -> None:
    plan = plan_of()
    wires = {wire.name: {(wire.left.node, wire.left.interface), (wire.right.node, wire.right.interface)} for wire in plan.wires}
    ends = [(node.name, interface) for node in plan.nodes for interface in node.interfaces]
    assert all((node, interface.name) in wires[interface.wire] for node, interface in ends)
    assert len(ends) == 2 * len(wires)
    assert {wire.mtu for wire in plan.wires} == {1500}


def test_a_netbox_has_no_address_and_a_station_an_interface_of_its_name() -> None:
    field = plan_of().node("field")
    assert [(interface.name, interface.addresses) for interface in field.interfaces] == [("responder", ()), ("commander", ())]
    stations = json.loads(field.files["netbox.json"])["stations"]
    assert stations[0] == {"name": "responder", "port": {"kind": "packet", "interface": "responder"}}
    assert stations[1]["port"] == {"kind": "memory", "wire": "/run/wires/commander", "end": "left", "mtu": 1500}


def test_routes_lead_through_the_router() -> None:
    plan = plan_of()
    for host, port in (("fr1", 0), ("eoc", 1)):
        (route,) = plan.node(host).routes
        router = ip_interface(plan.node("meoc").interfaces[port].addresses[0])
        assert (route.destination, ip_address(route.gateway)) == ("default", router.ip)


def test_traffic_towards_the_centre_is_return_and_away_from_it_forward(tmp_path: Path) -> None:
    assert {entry.direction for entry in plan_of().traffic} == {"return"}
    file = tmp_path / "other.yaml"
    file.write_text(EMERGENCY.read_text().replace("from: fr1\n    to: eoc", "from: eoc\n    to: fr1", 1))
    call, camera = plan_of(file).traffic
    assert (call.direction, call.source_address, call.destination_address) == ("forward", "10.20.0.20", "10.10.0.11")
    assert camera.direction == "return"


def test_a_duration_replaces_that_of_all_traffic() -> None:
    assert {entry.options["duration"] for entry in plan_of(duration_s=12.5).traffic} == {12.5}
    with pytest.raises(BadDuration, match=r"duration of traffic call: .* is outside"):
        plan_of(duration_s=0.001)
    with pytest.raises(BadDuration):
        plan_of(duration_s=float("nan"))


def test_the_emulators_of_a_core_have_its_whole_real_time_budget_together_and_hosts_none() -> None:
    plan = plan_of()
    assert plan.realtime_budget_us == 950_000
    assert {value["runtime_us"] for value in netbox_values(plan, "realtime").values()} == {950_000}
    assert {node.name: node.realtime_priority for node in plan.nodes} == dict.fromkeys(("fr1", "eoc"), 0) | dict.fromkeys(
        ("field", "longhaul", "backhaul", "meoc"), 50
    )
    assert any("95% of each core" in note for note in plan.notes)


def test_the_cores_of_netboxes_are_kept_awake_where_the_file_asks_for_it_and_the_host_can(tmp_path: Path) -> None:
    assert plan_of(cores=(0, 1, 2, 3, 4)).awake_cores == (1, 2, 3)
    unable = plan_of(realtime=RealtimeSupport(True, None, "no budgets"))
    assert unable.awake_cores == ()
    assert any("cannot be kept awake" in note for note in unable.notes)
    file = tmp_path / "quiet.yaml"
    file.write_text(EMERGENCY.read_text().replace(", keep_awake: true", ""))
    assert plan_of(file).awake_cores == ()


def test_without_a_budget_none_is_assigned() -> None:
    plan = plan_of(realtime=RealtimeSupport(True, None, "no budgets"))
    assert plan.realtime_budget_us == 0
    assert {value["runtime_us"] for value in netbox_values(plan, "realtime").values()} == {None}
    assert plan.node("field").realtime_priority == 50


def test_without_sched_fifo_nobody_asks_for_it_or_spins_and_the_plan_says_why() -> None:
    plan = plan_of(realtime=RealtimeSupport(False, 0, "the kernel refuses it"))
    assert {node.realtime_priority for node in plan.nodes} == {0}
    assert "--priority" not in plan.node("meoc").command
    assert {(value["priority"], value["spin_us"]) for value in netbox_values(plan, "realtime").values()} == {(0, 0)}
    assert any("without real-time priority" in note and "the kernel refuses it" in note for note in plan.notes)


def test_a_netbox_may_have_a_limit_and_policy_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "strict.yaml"
    file.write_text(EMERGENCY.read_text().replace("  field:  ", "  field:\n    realtime: {limit: 50 us}\n    ", 1))
    realtime = netbox_values(plan_of(file), "realtime")
    assert (realtime["field"]["limit_us"], realtime["field"]["policy"]) == (50.0, "mark")
    assert realtime["longhaul"]["limit_us"] == 5000.0


MEMORY = """\
name: chain
hosts:
  a: {address: 10.0.0.1/24}
wires:
  - [a, one.ground]
  - {ends: [one.hub, other.hub], wire: memory}
  - {ends: [other.ground, third.ground], wire: memory}
  - {ends: [meoc.ian, third.hub], wire: memory}
  - {ends: [meoc.jan, fourth.ground], wire: veth}
  - {ends: [fourth.hub, fifth.hub], wire: veth}
  - {ends: [fifth.ground, sixth.ground], wire: memory}
  - {ends: [sixth.hub, seventh.hub], wire: memory}
  - {ends: [seventh.ground, eighth.ground], wire: memory}
  - [eighth.hub, b]
"""


def chain(tmp_path: Path, **keys: str) -> Path:
    """Eight satellite links with a router in their middle; `keys` are lines that a netbox has besides."""
    stations = "stations: {ground: {role: terminal}, hub: {role: gateway}}"
    link = f"{{technology: satellite, {stations}, return_rate: 2 Mbit/s, forward_rate: 2 Mbit/s%s}}"
    names = ("one", "other", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    netboxes = "".join(f"  {name}: {link % (', ' + keys[name] if name in keys else '')}\n" for name in names)
    router = "routers:\n  meoc: {configuration: click/meoc.click, interfaces: {ian: 10.0.0.254/24, jan: 10.1.0.254/24}}\n"
    file = tmp_path / "chain.yaml"
    file.write_text(MEMORY.replace("wires:", f"  b: {{address: 10.1.0.1/24}}\nnetboxes:\n{netboxes}{router}wires:", 1))
    return file


def test_an_emulator_knows_its_end_of_a_memory_wire_and_its_mtu(tmp_path: Path) -> None:
    plan = plan_of(chain(tmp_path))
    ports = {
        f"{node.name}.{station['name']}": station["port"]
        for node in plan.nodes
        if node.kind == "netbox"
        for station in json.loads(node.files["netbox.json"])["stations"]
    }
    assert ports["one.hub"] == {"kind": "memory", "wire": "/run/wires/hub", "end": "left", "mtu": 1500}
    assert ports["other.hub"] == {"kind": "memory", "wire": "/run/wires/hub", "end": "right", "mtu": 1500}
    assert ports["fourth.hub"]["interface"] == "hub"
    router = plan.node("meoc")
    assert router.command[router.command.index("--memory") + 1] == "ian=/run/wires/ian:left"
    assert router.command.count("--memory") == 1


def test_a_memory_end_is_no_interface_of_the_kernel(tmp_path: Path) -> None:
    plan = plan_of(chain(tmp_path))
    assert [interface.name for interface in plan.kernel_interfaces(plan.node("meoc"))] == ["jan"]
    assert [interface.name for interface in plan.kernel_interfaces(plan.node("one"))] == ["ground"]
    assert plan.kernel_interfaces(plan.node("third")) == ()
    assert [wire.reason for wire in plan.wires if wire.kind == "memory"] == ["the topology says so"] * 6


def test_auto_takes_memory_between_emulators_and_veth_at_hosts_and_says_why() -> None:
    found = [(wire.kind, wire.reason) for wire in plan_of().wires]
    memory = ("memory", "auto: both ends are emulators")
    assert found[1:-1] == [memory] * 3
    assert found[0] == ("veth", "auto: fr1 is a host, whose programs need an interface of the kernel")
    assert found[-1] == ("veth", "auto: eoc is a host, whose programs need an interface of the kernel")


def test_a_netbox_gets_the_sockets_that_it_asks_for(tmp_path: Path) -> None:
    plan = plan_of(chain(tmp_path, one="io: packet", eighth="io: xdp"))
    kinds = {node.name: json.loads(node.files["netbox.json"])["stations"] for node in plan.nodes if node.kind == "netbox"}
    assert kinds["one"][0]["port"] == {"kind": "packet", "interface": "ground"}
    assert kinds["eighth"][1]["port"] == {"kind": "xdp", "interface": "hub", "fallback": False}
    assert [(interface.port, interface.reason) for interface in plan.node("eighth").interfaces] == [
        ("memory", ""),
        ("xdp", "the topology says so"),
    ]
    assert plan.node("fourth").interfaces[1].reason.startswith("auto: ")
    assert [interface.port for interface in plan.node("meoc").interfaces] == ["memory", "packet"]
    assert plan.node("a").interfaces[0].port == "kernel"
    assert "bpf" in plan.node("eighth").capabilities
    assert "bpf" not in plan.node("one").capabilities


def test_a_netbox_with_two_cores_is_told_which_one_is_for_its_frames(tmp_path: Path) -> None:
    file = chain(tmp_path, one="cores: 2", other="share: small", third="share: small")
    plan = plan_of(file, cores=tuple(range(12)))
    assert (plan.node("one").cores, netbox_values(plan, "realtime")["one"]["io_core"]) == ((1, 9), 9)
    assert plan.node("other").cores == plan.node("third").cores == (2,)
    assert "io_core" not in netbox_values(plan, "realtime")["other"]
    assert "io_core" not in netbox_values(plan_of(file), "realtime")["one"]
    assert any("one asked for a second core and got none" in note for note in plan_of(file).notes)


@pytest.mark.parametrize("file", OURS, ids=lambda file: str(file.stem))
def test_what_a_netbox_is_told_has_the_shape_that_its_readers_know(file: Path) -> None:
    """No key is lost by reading it."""
    told = [node for node in plan_of(file).nodes if node.kind == "netbox"]
    assert told
    for node in told:
        assert netbox_configuration(node) == json.loads(node.files[CONFIGURATION_FILE])


def make_golden() -> None:
    GOLDEN.write_text(json.dumps(readable(plan_of()), indent=2, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    make_golden()
