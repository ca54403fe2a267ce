# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from testbed.description.topology_file import load, source_of
from testbed.installation import CHECKOUT
from testbed.plan import RealtimeSupport
from testbed.plans.resolve import resolve
from testbed.views.network_picture import picture
from testbed.views.network_words import PictureFailed, write_picture


def test_a_branching_network_is_drawn_with_all_its_nodes() -> None:
    names = {"a": "host", "b": "netbox", "c": "host", "d": "host", "alone": "host"}
    wires = [("a", "b"), ("b", "c"), ("b", "d")]
    plan = {
        "nodes": [{"name": name, "kind": kind} for name, kind in names.items()],
        "wires": [{"left": {"node": one}, "right": {"node": other}} for one, other in wires],
    }
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
    plan = {
        "nodes": [{"name": name, "kind": "host", "host": machine} for name, machine in machines.items()],
        "wires": [{"left": {"node": one}, "right": {"node": other}} for one, other in wires],
        "hosts": [{"name": "alpha"}, {"name": "beta"}],
        "equipment": [{"name": "modem", "end": {"node": "d"}}],
    }
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
