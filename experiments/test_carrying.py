# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.carrying import Carried, in_virtual_time
from experiments.variant import variant


def made(folder: Path, change: Any, topology: str = "e6") -> Carried:
    return in_virtual_time(variant(topology, folder, "try", change))


def one_flow(content: dict[str, Any], **options: Any) -> None:
    content["traffic"] = {"udp": {**content["traffic"]["voice"], "duration": "2 s", **options}}


def test_a_frame_crosses_each_segment_in_turn_and_adds_up(tmp_path: Path) -> None:
    carried = made(tmp_path, one_flow)
    (flow,) = carried.measured
    rows = flow.rows
    assert [path.netboxes for path in flow.paths] == [("field", "longhaul", "backhaul")]
    # Routers and wires take no time: what leaves one segment enters the next.
    assert (rows["in_ns.field"] == rows["sent_ns"]).all()
    assert (rows["in_ns.longhaul"] == rows["out_ns.field"]).all()
    assert (rows["in_ns.backhaul"] == rows["out_ns.longhaul"]).all()
    assert (rows["received_ns"] == rows["out_ns.backhaul"]).all()
    assert rows.height == 2 * 47_900 // 816 + 1
    assert rows["received_ns"].null_count() == 0


def test_frames_go_the_path_that_ospf_takes(tmp_path: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        del content["events"]
        content["traffic"]["there"]["duration"] = "1 s"
        for router in ("meoc1", "meoc2"):
            content["routers"][router]["ospf"]["costs"] = {"w1": 50, "w2": 20}

    (flow,) = made(tmp_path, change, "wimax-backhaul").measured
    assert [path.netboxes for path in flow.paths] == [("second",)]


def test_the_same_seed_gives_the_same_run_and_another_one_another(tmp_path: Path) -> None:
    def with_seed(seed: int) -> list[int]:
        def change(content: dict[str, Any]) -> None:
            content["seed"] = seed
            one_flow(content, rate="400 kbit/s", dscp="be")
            # Where some frames are lost on the air.
            content["netboxes"]["longhaul"]["distance"] = "7.5 km"

        return made(tmp_path, change).measured[0].rows["received_ns"].to_list()

    first = with_seed(1)
    assert first == with_seed(1)
    assert first != with_seed(2)


def test_events_of_the_topology_happen(tmp_path: Path) -> None:
    """5 s after the network's time began the subscriber is out of range for good."""

    def change(content: dict[str, Any]) -> None:
        one_flow(content, duration="8 s")
        content["events"] = [{"at": "5 s", "netbox": "longhaul", "set": {"distance": "14 km"}}]

    figures = made(tmp_path, change).segment("longhaul", "udp")
    assert figures.losses.keys() == {"outage"}
    assert figures.arrived == pytest.approx(5.0 * 47_900 / 816, abs=3)
