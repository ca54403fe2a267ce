# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.flow import Flow
from experiments.carrying import Carried, in_virtual_time
from experiments.frame_maker import FrameMaker, announcement, checksum, key_of, routed
from experiments.variant import variant
from experiments.virtual_chain import NotVirtual
from netboxes.engine.virtual import mac
from results.datagram import datagram
from results.identity import identity


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
    # The application starts 0.2 s after the network's time.
    assert figures.arrived == pytest.approx(4.8 * 47_900 / 816, abs=3)


def test_traffic_that_needs_a_lab_is_refused(tmp_path: Path) -> None:
    def call(content: dict[str, Any]) -> None:
        content["traffic"] = {"call": {"application": "call", "from": "fr1", "to": "eoc"}}

    with pytest.raises(NotVirtual, match="call"):
        made(tmp_path, call)

    def both_ways(content: dict[str, Any]) -> None:
        there = {**content["traffic"]["voice"], "duration": "1 s"}
        content["traffic"] = {"there": there, "back": {**there, "from": "eoc", "to": "fr1"}}

    with pytest.raises(NotVirtual, match="both ways"):
        made(tmp_path, both_ways)


def flow() -> Flow:
    addresses = {"source": "a", "destination": "b", "source_address": "10.0.0.1", "destination_address": "10.1.0.2"}
    ports: dict[str, Any] = {"source_ports": (5000, 5000), "destination_ports": (5001, 5001)}
    return Flow(name="udp", kind="udp", direction="return", protocol="udp", **addresses, **ports)


def test_frames_are_sound_and_keep_their_identity_through_a_router() -> None:
    maker = FrameMaker(flow(), 100, 46, mac(1), mac(2))
    frame = maker.frame(70_000)
    packet = datagram(frame)
    assert packet is not None
    assert (packet.source, packet.destination, packet.destination_port) == ("10.0.0.1", "10.1.0.2", 5001)
    assert (packet.payload_bytes, len(frame), frame[15] >> 2) == (100, 142, 46)
    assert checksum(frame[14:34]) == 0
    # The UDP checksum covers the pseudo header (RFC 768).
    assert checksum(frame[26:34] + b"\0\x11" + frame[38:40] + frame[34:]) == 0
    on = routed(frame, mac(3), mac(4))
    assert on[:12] == mac(4) + mac(3)
    assert on[22] == frame[22] - 1
    assert checksum(on[14:34]) == 0
    assert identity(on) == identity(frame) != identity(maker.frame(70_001))
    assert key_of(on) == maker.key
    assert len(announcement(mac(1), "10.0.0.1")) == 60
