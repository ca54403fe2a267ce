# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import EquipmentPlan, HostPlan, NodeKind, RealtimeSupport, WireEnd, WirePlan
from results.conftest import node_plan, plan_of, wire_plan
from results.network_picture import PictureFailed, picture, write_picture
from testbed.description.topology_file import load, source_of
from testbed.plans.resolve import resolve


def _wires(pairs: Iterable[tuple[str, str]]) -> list[WirePlan]:
    return [wire_plan(f"{one}-{other}", (one, other), (other, one)) for one, other in pairs]


def test_a_branching_network_is_drawn_with_all_its_nodes() -> None:
    kinds: dict[str, NodeKind] = {"a": "host", "b": "netbox", "c": "host", "d": "host", "alone": "host"}
    wires = [("a", "b"), ("b", "c"), ("b", "d")]
    plan = plan_of([node_plan(*node) for node in kinds.items()], _wires(wires))
    drawn = picture(plan, {"b": ["wifi", "<80 m>"]}, "a")
    places = {name: (float(x), float(y)) for x, y, name in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*600">(\w+)<', drawn)}
    assert places["c"][0] == places["d"][0] < places["b"][0] < places["a"][0] == places["alone"][0]
    assert len({places[name][1] for name in "cd"}) == 2
    assert places["alone"][1] > max(places[name][1] for name in "abcd")
    assert drawn.count("<rect") == 5 and drawn.count("<path") == 3
    assert "&lt;80 m&gt;" in drawn


def test_machines_are_frames_and_wires_between_them_are_dashed() -> None:
    machines = {"a": "alpha", "b": "alpha", "c": "beta", "d": "beta", "e": "alpha"}
    wires = [("a", "b"), ("b", "c"), ("c", "d"), ("b", "e")]
    plan = plan_of(
        [node_plan(name, "host", host=machine) for name, machine in machines.items()],
        _wires(wires),
        hosts=(HostPlan("alpha", True, "192.0.2.1"), HostPlan("beta", False, "192.0.2.2")),
        equipment=(EquipmentPlan("modem", "nic", "eth1", WireEnd("d", "modem"), "modem", 1500),),
    )
    drawn = picture(plan, {}, "a")
    y = {name: float(y) for y, name in re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]*600"[^>]*>(\w+)<', drawn)}
    assert y["alpha"] < min(y[name] for name in "abe") <= max(y[name] for name in "abe") < y["beta"]
    assert y["beta"] < min(y[name] for name in ("c", "d", "modem"))
    assert drawn.count("stroke-dasharray") == 1 and drawn.count("<path") == 5 and drawn.count("<rect") == 8


@pytest.mark.parametrize("name", ["disaster", "emergency"])
def test_a_topology_is_drawn_into_a_file_of_its_own(name: str, tmp_path: Path) -> None:
    topology = CHECKOUT / f"topologies/{name}.yaml"
    written = source_of(topology).data
    plan = resolve(load(topology), cores=(0, 1), realtime=RealtimeSupport(True, None, ""))
    write_picture(plan, written, tmp_path / "network.svg")
    drawn = ElementTree.parse(tmp_path / "network.svg").getroot()
    texts = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {node.name for node in plan.nodes} <= texts
    assert float(drawn.attrib["width"]) > 0
    with pytest.raises(PictureFailed, match="no-such-folder"):
        write_picture(plan, written, tmp_path / "no-such-folder/network.svg")
