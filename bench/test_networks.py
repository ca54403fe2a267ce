# SPDX-License-Identifier: GPL-2.0-or-later
"""The networks of the benchmarks, as topology files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import networks, satellites
from bench.networks import DRAIN, SOURCE, assign_cores
from testbed.description.topology import Topology
from testbed.description.topology_file import load


def loaded(network: networks.Network, folder: Path) -> Topology:
    file = folder / "network.yaml"
    file.write_text(json.dumps(network))
    return load(file)


@pytest.mark.parametrize("wire", ["veth", "memory"])
def test_a_chain_is_a_sound_topology(wire: networks.WireKind, tmp_path: Path) -> None:
    topology = loaded(networks.chain("bench-chain", 3, wire), tmp_path)
    assert [wire.ends for wire in topology.wires] == [
        ("source.out", "link1.left"),
        ("link1.right", "link2.left"),
        ("link2.right", "link3.left"),
        ("link3.right", "drain.in"),
    ]


def test_every_satellite_has_a_call_in_both_directions(tmp_path: Path) -> None:
    topology = loaded(satellites._network(3), tmp_path)
    assert len(topology.wires) == 6


def test_traffic_has_the_first_core_and_the_others_are_assigned_in_stretches_of_the_chain() -> None:
    assert assign_cores(["a"], (0, 1)) == {SOURCE: 0, DRAIN: 0, "a": 1}
    assert assign_cores(["a", "b", "c", "d"], (0, 1)) == {SOURCE: 0, DRAIN: 0, "a": 1, "b": 1, "c": 0, "d": 0}
    assert assign_cores(["a", "b"], (0, 1, 2)) == {SOURCE: 0, DRAIN: 0, "a": 2, "b": 1}
