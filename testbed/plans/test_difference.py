# SPDX-License-Identifier: GPL-2.0-or-later
"""What `apply` would do to a lab, and why, for every kind of change that a topology can have. Nothing is created."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.changes import StagesChange
from contracts.plan import Plan, RealtimeSupport
from testbed.description.topology_file import load
from testbed.plans.difference import Difference, difference
from testbed.plans.resolve import resolve

REALTIME = RealtimeSupport(fifo=True, budget_us=950_000, reason="", keep_awake=True)

#: Two hosts on a Wi-Fi cell each, a router between the cells, a third host on a wire of its own to the first.
NETWORK: dict[str, Any] = {
    "name": "net",
    "centre": "b",
    "hosts": {
        "a": {"interfaces": {"air": "10.1.0.1/24", "side": "10.3.0.1/24"}, "gateway": "10.1.0.254"},
        "b": {"address": "10.2.0.1/24", "gateway": "10.2.0.254"},
        "c": {"address": "10.3.0.2/24"},
    },
    "netboxes": {
        "cell": {
            "technology": "wifi",
            "distance": "80 m",
            "stations": {"one": {"role": "station"}, "ap": {"role": "access-point"}},
        },
        "line": {"technology": "link", "delay": "10 ms", "stations": {"near": {}, "far": {}}},
    },
    "routers": {"mid": {"engine": "linux", "interfaces": {"left": "10.1.0.254/24", "right": "10.2.0.254/24"}}},
    "wires": [["a.air", "cell.one"], ["cell.ap", "mid.left"], ["mid.right", "line.near"], ["line.far", "b"], ["a.side", "c"]],
}

PINK = {"stage": "pink", "rate": "1 Mbit/s"}

Edit = Callable[[dict[str, Any]], object]


def planned(network: dict[str, Any], folder: Path, cores: tuple[int, ...] = (0, 1, 2, 3), running: Plan | None = None) -> Plan:
    (file := folder / "net.yaml").write_text(json.dumps(network))  # JSON is YAML
    return resolve(load(file), cores=cores, realtime=REALTIME, running=running)


def edited(edit: Edit, folder: Path, network: dict[str, Any] = NETWORK) -> Difference:
    """Between a network and the same after an edit."""
    before = planned(network, folder)
    changed = copy.deepcopy(network)
    edit(changed)
    return difference([before], planned(changed, folder, running=before))


LAYER: dict[str, Any] = {"rate": "2 Mbit/s", "delay": "12 ms", "services": []}


def actions(changes: Difference) -> dict[str, str]:
    """Those that are anything but unchanged, of nodes and wires."""
    return {part.name: part.action for part in changes.parts() if part.action != "unchanged"}


def reasons(changes: Difference, name: str) -> str:
    return "; ".join(next(part for part in changes.parts() if part.name == name).reasons)


def test_the_same_file_asks_for_nothing(tmp_path: Path) -> None:
    changes = edited(lambda network: None, tmp_path)
    assert changes.nothing()
    assert actions(changes) == {}


def _cell(network: dict[str, Any]) -> dict[str, Any]:
    return network["netboxes"]["cell"]  # type: ignore[no-any-return]


def _line(network: dict[str, Any]) -> dict[str, Any]:
    return network["netboxes"]["line"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("edit", "node", "action", "words"),
    [
        (lambda n: _cell(n).update(distance="120 m"), "cell", "changed", "distance 80 m → 120 m"),
        (lambda n: _line(n).update(delay="20 ms", rate="1 Mbit/s"), "line", "changed", "delay 10 ms → 20 ms"),
        (lambda n: _line(n)["stations"]["near"].update(delay="5 ms"), "line", "changed", "near.delay none → 5 ms"),
        (lambda n: _line(n).update(stages={"near": [PINK]}), "line", "changed", "near.stages none → pink"),
        (lambda n: _line(n).update(link_layer=LAYER), "line", "restarted", "link_layer is another"),
        (lambda n: _cell(n).update(standard="802.11g"), "cell", "restarted", "standard 802.11a → 802.11g"),
        (lambda n: _cell(n).update(classes={"voice": {"dscp": "ef"}}), "cell", "restarted", "classes is another"),
        (lambda n: _line(n).update(realtime={"limit": "2 ms"}), "line", "restarted", "realtime limit_us 1000.0 → 2000.0"),
        (lambda n: _line(n).update(io="xdp"), "line", "restarted", "capabilities net_raw, sys_nice, ipc_lock →"),
        (lambda n: n.update(seed=2), "line", "restarted", "seed"),
        (
            lambda n: n["hosts"]["b"].update(address="10.2.0.9/24"),
            "b",
            "changed",
            "interface eth0: addresses 10.2.0.1/24 → 10.2.0.9/24",
        ),
        (lambda n: n["hosts"]["b"].pop("gateway"), "b", "changed", "route default by 10.2.0.254 → none"),
        (lambda n: n["routers"]["mid"].update(ospf={}), "mid", "restarted", "file frr.conf is new"),
        (lambda n: _line(n).update(limits={"processes": 99}), "line", "restarted", "its limit of processes 1024 → 99"),
    ],
)
def test_one_change_touches_one_node_only(edit: Edit, node: str, action: str, words: str, tmp_path: Path) -> None:
    changes = edited(edit, tmp_path)
    assert actions(changes)[node] == action
    assert words in reasons(changes, node)
    if "seed" not in words:
        assert list(actions(changes)) == [node]


def test_live_parameters_are_set_only_while_the_netbox_runs_on(tmp_path: Path) -> None:
    live = edited(lambda n: _line(n).update(delay="20 ms"), tmp_path)
    (line,) = live.nodes_to_be("changed")
    assert [(parameter.parameter, parameter.value, parameter.written) for parameter in line.parameters] == [
        ("delay", 0.02, "20 ms")
    ]
    network = {**NETWORK, "netboxes": {**NETWORK["netboxes"], "line": {**_line(NETWORK), "stages": {"near": [PINK]}}}}
    (line,) = edited(lambda n: _line(n).pop("stages"), tmp_path, network).nodes_to_be("changed")
    assert [(parameter.parameter, parameter.value) for parameter in line.parameters] == [("near.stages", [])]
    both = edited(lambda n: _cell(n).update(distance="120 m", standard="802.11g"), tmp_path)
    (cell,) = both.nodes_to_be("restarted")
    assert cell.parameters == ()
    assert "distance 80 m → 120 m" in cell.reasons


#: The same with a Click router between the cells.
CLICK: dict[str, Any] = {
    **NETWORK,
    "routers": {"mid": {**NETWORK["routers"]["mid"], "engine": "click", "configuration": "mid.click"}},
}


def _mid(network: dict[str, Any]) -> dict[str, Any]:
    return network["routers"]["mid"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("before", "after", "words", "set_live"),
    [
        ({}, {"left": [PINK]}, "left.stages none → pink", [("left.stages", ["pink"])]),
        ({"left": [PINK]}, {}, "left.stages pink → none", [("left.stages", [])]),
        ({"left": [PINK]}, {"left": []}, "left.stages pink → none", [("left.stages", [])]),
        ({"left": [PINK]}, {"left": [{**PINK, "rate": "2 Mbit/s"}]}, "left.stages are others", [("left.stages", ["pink"])]),
        (
            {"left": [PINK]},
            {"right": [PINK, {"stage": "mark", "dscp": "ef"}]},
            "left.stages pink → none; right.stages none → pink, mark",
            [("left.stages", []), ("right.stages", ["pink", "mark"])],
        ),
    ],
)
def test_stages_of_a_click_router_are_set_while_it_runs(
    before: dict[str, Any], after: dict[str, Any], words: str, set_live: list[tuple[str, list[str]]], tmp_path: Path
) -> None:
    (tmp_path / "mid.click").write_text("Idle -> Discard;")
    network = {**CLICK, "routers": {"mid": {**_mid(CLICK), "stages": before}}}
    changes = edited(lambda n: _mid(n).update(stages=after), tmp_path, network)
    assert actions(changes) == {"mid": "changed"}
    assert reasons(changes, "mid") == words
    (mid,) = changes.nodes_to_be("changed")
    assert [(change.parameter, [stage["stage"] for stage in change.value]) for change in mid.parameters] == set_live
    assert all(isinstance(change, StagesChange) and change.router == "mid" for change in mid.parameters)


def test_the_seed_of_stages_starts_a_click_router_again_with_its_others(tmp_path: Path) -> None:
    (tmp_path / "mid.click").write_text("Idle -> Discard;")
    changes = edited(lambda n: (n.update(seed=2), _mid(n).update(stages={"left": [PINK]})), tmp_path, CLICK)
    assert actions(changes)["mid"] == "restarted"
    assert "seed of stages" in reasons(changes, "mid")
    assert next(node for node in changes.nodes if node.name == "mid").parameters == ()


def test_services_of_a_link_layer_are_set_live_and_its_rate_is_not(tmp_path: Path) -> None:
    network = {**NETWORK, "netboxes": {**NETWORK["netboxes"], "line": {**_line(NETWORK), "link_layer": LAYER}}}
    services = [{"class": "default", "scheme": "rlp"}]
    (line,) = edited(lambda n: _line(n)["link_layer"].update(services=services), tmp_path, network).nodes_to_be("changed")
    assert [(change.parameter, change.value[0]["scheme"]) for change in line.parameters] == [("services", "rlp")]
    slower = edited(lambda n: _line(n)["link_layer"].update(rate="1 Mbit/s"), tmp_path, network)
    assert actions(slower) == {"line": "restarted"}
    assert "link_layer rate 2000000.0 → 1000000.0" in reasons(slower, "line")


def test_a_parameter_of_the_netbox_that_a_station_says_itself_is_not_set_live_for_all(tmp_path: Path) -> None:
    network = copy.deepcopy(NETWORK)
    network["netboxes"]["line"]["stations"]["near"] = {"delay": "1 ms"}
    changes = edited(lambda n: _line(n).update(delay="20 ms"), tmp_path, network)
    assert actions(changes) == {"line": "restarted"}
    assert "of which station near says its own" in reasons(changes, "line")


def test_a_station_more_starts_its_netbox_again_and_makes_its_wire_and_host(tmp_path: Path) -> None:
    def add(network: dict[str, Any]) -> None:
        network["hosts"]["d"] = {"address": "10.1.0.2/24"}
        network["netboxes"]["cell"]["stations"]["two"] = {"role": "station"}
        network["wires"].append(["d", "cell.two"])

    changes = edited(add, tmp_path)
    assert actions(changes) == {"d": "created", "cell": "restarted", "d.eth0--cell.two": "created"}
    assert reasons(changes, "cell") == "station two is new: it leads to d.eth0"


def test_a_network_more_at_one_ospf_router_leaves_the_others_running(tmp_path: Path) -> None:
    network = copy.deepcopy(NETWORK)
    network["netboxes"] = {}
    network["routers"] = {
        "mid": {"engine": "linux", "ospf": {}, "interfaces": {"left": "10.1.0.254/24", "right": "10.9.0.1/30"}},
        "far": {"engine": "linux", "ospf": {}, "interfaces": {"left": "10.9.0.2/30", "right": "10.2.0.254/24"}},
    }
    network["wires"] = [["a.air", "mid.left"], ["mid.right", "far.left"], ["far.right", "b"], ["a.side", "c"]]

    def add(network: dict[str, Any]) -> None:
        network["routers"]["far"]["interfaces"]["more"] = "10.4.0.254/24"
        network["hosts"]["d"] = {"address": "10.4.0.1/24"}
        network["wires"].append(["far.more", "d"])

    changes = edited(add, tmp_path, network)
    assert actions(changes) == {"d": "created", "far": "restarted", "mid": "changed", "far.more--d.eth0": "created"}
    assert reasons(changes, "mid") == "the networks that it waits for when it starts"


def test_a_host_gets_and_loses_interfaces_while_it_runs(tmp_path: Path) -> None:
    def remove(network: dict[str, Any]) -> None:
        del network["hosts"]["c"]
        network["hosts"]["a"]["interfaces"].pop("side")
        network["wires"].pop()

    changes = edited(remove, tmp_path)
    assert actions(changes) == {"a": "changed", "c": "removed", "a.side--c.eth0": "removed"}
    assert reasons(changes, "a") == "interface side is gone"


def test_a_wire_that_leads_elsewhere_is_new_to_both_its_ends(tmp_path: Path) -> None:
    def move(network: dict[str, Any]) -> None:
        network["wires"][0], network["wires"][4] = ["a.side", "cell.one"], ["a.air", "c"]
        of = network["hosts"]["a"]["interfaces"]
        of["air"], of["side"] = of["side"], of["air"]

    changes = edited(move, tmp_path)
    assert {name: action for name, action in actions(changes).items() if "--" not in name} == {
        "a": "changed",
        "c": "changed",
        "cell": "restarted",
    }
    assert "station one: its wire to a.side is new" in reasons(changes, "cell")
    assert "interface eth0: its wire to a.air is new" in reasons(changes, "c")


def test_a_wire_of_another_kind_is_made_anew_and_its_emulators_start_again(tmp_path: Path) -> None:
    network = copy.deepcopy(NETWORK)
    network["routers"] = {}
    network["netboxes"]["cell"]["stations"]["ap"] = {"role": "access-point"}
    network["wires"] = [["a.air", "cell.one"], ["cell.ap", "line.near"], ["line.far", "b"], ["a.side", "c"]]
    network["hosts"]["a"].pop("gateway")
    network["hosts"]["b"] = {"address": "10.1.0.2/24"}
    changes = edited(lambda n: n.update(wire="veth"), tmp_path, network)
    assert actions(changes) == {
        "cell": "restarted",
        "line": "restarted",
        "cell.ap--line.near": "replaced",
        # Only why they are of their kind.
        "a.air--cell.one": "changed",
        "line.far--b.eth0": "changed",
        "a.side--c.eth0": "changed",
    }


def test_a_smaller_mtu_is_set_live_at_hosts_and_starts_emulators_again(tmp_path: Path) -> None:
    before = planned(NETWORK, tmp_path)
    smaller = tuple(replace(wire, mtu=1400) if wire.name == "line.far--b.eth0" else wire for wire in before.wires)
    changes = difference([before], replace(before, wires=smaller))
    assert actions(changes) == {"b": "changed", "line": "restarted", "line.far--b.eth0": "changed"}
    assert reasons(changes, "b") == "interface eth0: MTU 1500 → 1400"


def test_another_kind_of_node_is_made_anew_with_its_wires(tmp_path: Path) -> None:
    before = planned(NETWORK, tmp_path)
    nodes = tuple(replace(node, kind="netbox") if node.name == "c" else node for node in before.nodes)
    changes = difference([before], replace(before, nodes=nodes))
    assert actions(changes) == {"a": "changed", "c": "replaced", "a.side--c.eth0": "replaced"}
    assert reasons(changes, "a.side--c.eth0") == "c is made anew"


def test_a_disk_of_another_size_takes_another_node_with_its_wires(tmp_path: Path) -> None:
    changes = edited(lambda n: n["hosts"]["c"].update(limits={"disk": "1 GB"}), tmp_path)
    assert actions(changes) == {"a": "changed", "c": "replaced", "a.side--c.eth0": "replaced"}
    assert "its limit of disk 4000000000 → 1000000000" in reasons(changes, "c")


def test_a_node_that_has_ended_starts_again(tmp_path: Path) -> None:
    before = planned(NETWORK, tmp_path)
    changes = difference([before], before, ended={"cell"})
    assert actions(changes) == {"cell": "restarted"}
    assert reasons(changes, "cell") == "it has ended"


def test_what_only_runs_use_is_put_on_record(tmp_path: Path) -> None:
    talk = {"application": "udp-flow", "from": "a", "to": "b", "rate": "10 kbit/s"}
    changes = edited(
        lambda n: n.update(traffic={"talk": talk}, events=[{"at": "1 s", "netbox": "line", "set": {"delay": "1 ms"}}]), tmp_path
    )
    assert actions(changes) == {}
    assert not changes.nothing()
    assert list(changes.recorded) == ["traffic of runs: changed", "events of runs: changed"]


def test_cores_kept_awake_are_the_labs(tmp_path: Path) -> None:
    changes = edited(lambda n: n.update(realtime={"keep_awake": True}), tmp_path)
    assert actions(changes) == {}
    assert list(changes.common) == ["core 1 is kept awake from now on", "core 2 is kept awake from now on"]


def test_what_the_planner_told_of_other_labs_is_no_difference(tmp_path: Path) -> None:
    """It was one, and a lab that was what its file says was said to have to change when another lab came up."""
    before = planned(NETWORK, tmp_path)
    beside = replace(before, notes=("core 1 is shared by line and emulators of lab other; each can make the others late",))
    assert difference([before], beside).nothing()


def test_emulators_stay_on_their_cores_when_one_goes(tmp_path: Path) -> None:
    def remove(network: dict[str, Any]) -> None:
        del network["netboxes"]["cell"]
        network["wires"][:2] = [["a.air", "mid.left"]]

    before = planned(NETWORK, tmp_path)
    assert (before.node("cell").cores, before.node("line").cores) == ((1,), (2,))
    network = copy.deepcopy(NETWORK)
    remove(network)
    after = planned(network, tmp_path, running=before)
    assert after.node("line").cores == (2,)
    assert any("line stay on the cores that they run on" in note for note in after.notes)
    assert planned(network, tmp_path).node("line").cores == (1,)
    assert "line" not in actions(difference([before], after))


def test_after_a_change_that_did_not_end_all_that_may_be_is_put_right(tmp_path: Path) -> None:
    """Parameters and an address were changed, and a host added; that did not end, and the old file is applied again."""
    network = copy.deepcopy(NETWORK)
    network["netboxes"]["line"]["delay"] = "20 ms"
    network["netboxes"]["cell"]["standard"] = "802.11g"
    network["hosts"]["b"]["address"] = "10.2.0.9/24"
    network["hosts"]["a"]["interfaces"]["more"] = "10.4.0.1/24"
    network["hosts"]["d"] = {"address": "10.4.0.2/24"}
    network["wires"].append(["a.more", "d"])
    before = planned(NETWORK, tmp_path)
    halfway = planned(network, tmp_path, running=before)
    back = difference([before, halfway], planned(NETWORK, tmp_path, running=before))
    assert actions(back) == {
        "a": "changed",
        "b": "changed",
        "cell": "restarted",
        "line": "changed",
        "d": "removed",
        "a.more--d.eth0": "removed",
    }
    on = difference([before, halfway], halfway)
    assert actions(on) == {
        "a": "changed",
        "b": "changed",
        "cell": "restarted",
        "line": "changed",
        "d": "replaced",
        "a.more--d.eth0": "replaced",
    }


@pytest.mark.parametrize(
    ("before", "after", "action", "words"),
    [
        ({}, {"start": "true"}, "restarted", "the program that it starts is new"),
        ({"start": "true"}, {"start": "false"}, "restarted", "the program that it starts is another"),
        ({"start": "true"}, {"start": "true", "restart": "always"}, "restarted", "the program that it starts is another"),
        ({"start": "true"}, {}, "restarted", "the program that it starts is gone"),
        ({}, {"files": {"/srv/a": "one"}}, "restarted", "what is copied to /srv/a is new"),
        ({"files": {"/srv/a": "one"}}, {"files": {"/srv/a": "other"}}, "restarted", "what is copied to /srv/a is another"),
        (
            {"files": {"/srv/a": "one"}},
            {"files": {"/srv/a": "same"}},
            "changed",
            "what is copied to /srv/a is from another place",
        ),
        (
            {"files": {"/srv/a": "one"}},
            {"files": {"/srv/b": "one"}},
            "restarted",
            "/srv/a is gone; what is copied to /srv/b is new",
        ),
    ],
)
def test_what_a_file_brings_into_a_host_starts_it_again_when_it_is_another(
    before: dict[str, Any], after: dict[str, Any], action: str, words: str, tmp_path: Path
) -> None:
    for name, text in {"one": "one", "same": "one", "other": "other"}.items():
        (tmp_path / name).write_text(text)
    network = copy.deepcopy(NETWORK)
    network["hosts"]["c"].update(before)

    def edit(changed: dict[str, Any]) -> None:
        for key in before:
            del changed["hosts"]["c"][key]
        changed["hosts"]["c"].update(after)

    changes = edited(edit, tmp_path, network)
    assert actions(changes) == {"c": action}
    assert words in reasons(changes, "c")


def test_a_file_that_has_changed_on_the_disk_is_another_though_the_topology_is_the_same(tmp_path: Path) -> None:
    network = copy.deepcopy(NETWORK)
    network["hosts"]["c"]["files"] = {"/srv/a": "site"}
    (tmp_path / "site").mkdir()
    before = planned(network, tmp_path)
    (tmp_path / "site/more").touch()
    assert actions(difference([before], planned(network, tmp_path, running=before))) == {"c": "restarted"}
