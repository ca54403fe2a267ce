# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads by a made-up calibration, with figures whose sums can be done by head.

A frame takes Ethernet 4 us and the others 10 us in virtual time; Ethernet takes 14 us with packet sockets and 5 us with memory.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from testbed.description import topology_file
from testbed.plans import calibration, load
from testbed.plans.calibration import Calibration, Costs, Machine, NoCalibration, PortCost, TechnologyCost
from testbed.plans.load import LoadEstimate, NetboxLoad
from testbed.plans.resolve import resolve
from tests.detour import network

REALTIME = RealtimeSupport(True, 950_000, "SCHED_FIFO works")
EMERGENCY = topology_file.load(CHECKOUT / "topologies/emergency.yaml")
#: Voice: RTP each 20 ms and RTCP each 5 s, both ways.
CALL = 2 * (50 + 0.2)
#: 15 pictures a second of 400 kbit/s are 3333 bytes each: three packets.
CAMERA = 15 * 3


def flat(us: float) -> Costs:
    return Costs(small_us=us, large_us=us)


def both(us: float) -> PortCost:
    return PortCost(alone=flat(us), among_many=flat(us))


def made_up(**changes: Any) -> Calibration:
    technologies = {
        name: TechnologyCost(program=calibration.program_hash(name) or "", idle_share=0.01, frame=flat(us))
        for name, us in {"ethernet": 4.0, "satellite": 10.0, "wifi": 10.0, "wimax": 10.0}.items()
    }
    made = Calibration(
        measured="2026-11-21T00:00:00+00:00",
        machine=Machine.this(),
        technologies=technologies,
        ports={"packet": both(14.0), "memory": both(5.0)},
        missing={"xdp": "the kernel has none"},
    )
    return made.model_copy(update=changes)


def generated(
    folder: Path,
    *,
    figures: Calibration | None = None,
    cores: tuple[int, ...] = (0, 1, 2, 3, 4),
    sink: bool = True,
    cores_of_link: int = 1,
    **generator: Any,
) -> LoadEstimate:
    """A generator, two Ethernet links one behind the other, and a sink or a host, on wires of the kernel."""
    link = {"technology": "ethernet", "stations": {"left": {}, "right": {}}, "io": "packet", "cores": cores_of_link}
    out = {"technology": "generator", "stations": {"out": {}}, "io": "packet", **generator}
    netboxes = {"generator": out, "near": link, "far": link}
    if sink:
        netboxes["sink"] = {"technology": "sink", "stations": {"in": {}}, "io": "packet"}
    last = "sink.in" if sink else "bystander"
    network = {
        "name": "line",
        "hosts": {} if sink else {"bystander": {"address": "10.0.0.1/24"}},
        "netboxes": netboxes,
        "wires": [["generator.out", "near.left"], ["near.right", "far.left"], ["far.right", last]],
        "wire": "veth",
    }
    (file := folder / "line.yaml").write_text(json.dumps(network))
    topology = topology_file.load(file)
    return load.estimate(topology, resolve(topology, cores=cores, realtime=REALTIME), figures or made_up())


def of(estimate: LoadEstimate, netbox: str) -> NetboxLoad:
    return next(load for load in estimate.netboxes if load.netbox == netbox)


def emergency(figures: Calibration | NoCalibration) -> LoadEstimate:
    return load.estimate(EMERGENCY, resolve(EMERGENCY, cores=(0, 1, 2, 3, 4), realtime=REALTIME), figures)


def test_a_call_and_a_camera_load_every_netbox_on_their_way() -> None:
    for netbox in emergency(made_up()).netboxes:
        assert netbox.frames_per_s == pytest.approx(CALL + CAMERA)


def test_a_share_is_the_idle_one_and_what_all_frames_cost_the_segment_and_half_of_two_ports() -> None:
    # One of the two ports of `field` is a packet socket, the other memory.
    each_us = 10.0 - 4.0 + (14.0 + 5.0) / 2
    field = of(emergency(made_up()), "field")
    assert field.share == pytest.approx(0.01 + (CALL + CAMERA) * each_us / 1e6)
    assert field.most_per_s == pytest.approx(0.99e6 / each_us)


def test_costs_between_the_sizes_measured_lie_on_a_line() -> None:
    assert Costs(small_us=10.0, large_us=20.0).of((calibration.SMALL + calibration.LARGE) / 2) == pytest.approx(15.0)


def test_a_medium_that_carries_more_small_frames_than_its_netbox_can_is_told() -> None:
    notes = emergency(made_up()).notes
    assert [note for note in notes if note.startswith("field: the smallest frames at 54 Mbit/s would be 110 000 frames/s")]
    assert not [note for note in notes if note.startswith("backhaul")]


def test_generated_traffic_goes_along_its_segment_to_the_sink(tmp_path: Path) -> None:
    estimate = generated(tmp_path, rate="10 kpps", size="64 B")
    for netbox in ("near", "far", "sink"):
        assert (of(estimate, netbox).frames_per_s, of(estimate, netbox).mean_bytes) == (10_000, 60)
    assert of(estimate, "generator").frames_per_s == 0


def test_without_a_sink_generated_traffic_goes_to_the_hosts(tmp_path: Path) -> None:
    assert of(generated(tmp_path, sink=False, rate="10 kpps"), "far").frames_per_s == 10_000


def test_netboxes_that_together_need_more_than_their_core_are_told_before_the_run(tmp_path: Path) -> None:
    shared = generated(tmp_path, cores=(0, 1), rate="50 kpps")
    (warning,) = [note for note in shared.notes if note.startswith("core 1 would need")]
    assert "142% of itself for near 71%, far 71%" in warning
    alone = generated(tmp_path, rate="50 kpps")
    assert not [note for note in alone.notes if "would need" in note]


def test_a_netbox_with_two_cores_is_reckoned_as_if_it_had_one_and_a_note_says_so(tmp_path: Path) -> None:
    two = generated(tmp_path, cores=tuple(range(8)), cores_of_link=2, rate="10 kpps")
    one = generated(tmp_path, cores=tuple(range(8)), rate="10 kpps")
    assert two.netboxes == one.netboxes
    assert any(note.startswith("the work of near and far is reckoned as if on one core") for note in two.notes)
    assert not any("as if on one core" in note for note in one.notes)


def test_the_busier_a_netbox_the_less_a_frame_costs_it(tmp_path: Path) -> None:
    many_are_cheap = made_up(ports={"packet": PortCost(alone=flat(20.0), among_many=flat(10.0))})
    for rate, share in ((100, 0.002), (50_000, 2 / 3), (99_999, 1.0)):
        load = of(generated(tmp_path, figures=many_are_cheap, rate=f"{rate} pps"), "near")
        assert load.share == pytest.approx(0.01 + share, rel=2e-3)


def test_traffic_whose_rate_is_not_known_is_said_to_be_left_out(tmp_path: Path) -> None:
    assert "the load of generator is not in the estimate" in generated(tmp_path, active=False).notes[0]


def test_ends_of_the_network_are_not_estimated_and_say_why(tmp_path: Path) -> None:
    assert of(generated(tmp_path), "sink").share is None
    assert "end of the network" in of(generated(tmp_path), "sink").reason


def test_without_a_calibration_no_figure_is_made_up_and_the_command_is_named() -> None:
    estimate = emergency(NoCalibration("what a frame costs is not known; `netboxit calibrate` measures it"))
    assert [netbox.share for netbox in estimate.netboxes] == [None] * 3
    assert "`netboxit calibrate`" in estimate.notes[-1]


def test_a_port_that_wants_af_xdp_where_there_was_none_costs_what_a_packet_socket_costs() -> None:
    assert made_up().port("xdp") == made_up().port("packet")


def test_a_technology_that_was_not_calibrated_says_so() -> None:
    (field, *_) = emergency(made_up(technologies={"ethernet": made_up().technologies["ethernet"]})).netboxes
    assert field.share is None
    assert "`netboxit calibrate`" in field.reason


def test_another_kernel_makes_a_calibration_stale() -> None:
    estimate = emergency(made_up(machine=Machine(cpu=Machine.this().cpu, kernel="2.6.18")))
    assert [note for note in estimate.notes if "stale" in note and "2.6.18" in note]
    assert not [note for note in emergency(made_up()).notes if "stale" in note]


def test_a_program_built_anew_makes_a_calibration_stale() -> None:
    built = TechnologyCost(program="another", idle_share=0.0, frame=flat(1.0))
    assert list(made_up(technologies={"wifi": built}).stale()) == ["built anew since: wifi"]


DETOUR = f"""{network("technology: ethernet", "technology: ethernet")}\
traffic:
  call: {{application: call, from: a, to: b}}
"""


def detour(folder: Path, text: str = DETOUR, figures: Calibration | None = None) -> LoadEstimate:
    (file := folder / "network.yaml").write_text(text)
    topology = topology_file.load(file)
    return load.estimate(topology, resolve(topology, cores=(0, 1), realtime=REALTIME), figures or made_up())


def test_traffic_goes_by_the_cheapest_path_and_loads_nothing_else(tmp_path: Path) -> None:
    estimate = detour(tmp_path)
    rates = {load.netbox: load.frames_per_s for load in estimate.netboxes}
    assert rates == {"direct": 0, "first": pytest.approx(CALL), "second": pytest.approx(CALL)}
    assert [(path.source, path.destination, path.paths) for path in estimate.paths] == [
        ("a", "b", (("first", "second"),)),
        ("b", "a", (("second", "first"),)),
    ]


def test_each_failure_on_a_path_with_an_alternative_says_what_carries_the_traffic_then(tmp_path: Path) -> None:
    estimate = detour(tmp_path)
    (failure,) = estimate.failures
    assert set(failure.parts) == {
        *("netbox first", "netbox second", "wire west.up--first.x", "wire first.y--relay.down"),
        *("wire relay.on--second.x", "wire second.y--east.up"),
    }
    assert [traffic.paths for traffic in failure.moved] == [(("direct",),), (("direct",),)]
    assert failure.cut == ()
    assert {load.netbox: load.frames_per_s for load in failure.netboxes} == {
        "direct": pytest.approx(CALL),
        "first": 0,
        "second": 0,
    }
    # Ethernet itself 4 us, less those of its own in the ports; two packet sockets 14 us.
    (direct,) = [load for load in failure.netboxes if load.netbox == "direct"]
    assert direct.share == pytest.approx(0.01 + CALL * 14.0 / 1e6)


def test_traffic_that_a_failure_cuts_off_is_told_beside_what_has_another_path(tmp_path: Path) -> None:
    """A host at a third station of `first`, with `relay` as its gateway."""
    third = DETOUR.replace(
        "first: {technology: ethernet, stations: {x: {}, y: {}}}",
        "first: {technology: ethernet, stations: {x: {}, y: {}, z: {}}}",
    ).replace("  b: {address", "  c: {address: 10.8.0.11/24, gateway: 10.8.0.2}\n  b: {address")
    third = third.replace("10.8.0.1/30", "10.8.0.1/24").replace("10.8.0.2/30", "10.8.0.2/24")
    third = (
        third.replace("wires:\n", "wires:\n  - [c, first.z]\n")
        + "  reading: {application: call, sip_port: 5070, rtp_port: 30000, from: c, to: b}\n"
    )
    failures = {part: failure for failure in detour(tmp_path, third).failures for part in failure.parts}
    first, second = failures["netbox first"], failures["netbox second"]
    assert [(traffic.traffic, traffic.source) for traffic in first.moved] == [("call", "a"), ("call", "b")]
    assert [(traffic.traffic, traffic.source) for traffic in first.cut] == [("reading", "c"), ("reading", "b")]
    # Without `second` what the host sends goes back through `first`, in which it enters twice.
    assert {(traffic.traffic, traffic.source): traffic.paths for traffic in second.moved} == {
        ("call", "a"): (("direct",),),
        ("call", "b"): (("direct",),),
        ("reading", "c"): (("first", "first", "direct"),),
        ("reading", "b"): (("direct", "first"),),
    }
    assert second.cut == ()
    rates = {load.netbox: load.frames_per_s for load in second.netboxes}
    assert (rates["direct"], rates["first"]) == pytest.approx((2 * CALL, 1.5 * CALL))


def test_a_core_that_a_failure_would_overload_is_told_before_the_run(tmp_path: Path) -> None:
    """The rate counts IP headers: 1946 frames/s at 300 us, 58 % of the core of all netboxes. The other path has two of them."""
    text = DETOUR.replace("direct: 100", "direct: 1").partition("traffic:")[0]
    text += "traffic:\n  film: {application: udp-flow, from: a, to: b, rate: 16 Mbit/s, payload: 1000 B}\n"
    estimate = detour(tmp_path, text, made_up(ports={"packet": both(300.0), "memory": both(300.0)}))
    (warning,) = [note for note in estimate.notes if "would need" in note]
    assert warning.startswith("when netbox direct fails: core 1 would need")
    assert "first 59%, second 59%" in warning


def test_routers_whose_routes_cannot_be_read_are_named_and_the_shortest_chain_is_taken(tmp_path: Path) -> None:
    (tmp_path / "nat.click").write_text((CHECKOUT / "click/nat.click").read_text())
    text = """
name: nat
centre: b
hosts: {a: {address: 10.1.0.11/24, gateway: 10.1.0.1}, b: {address: 10.2.0.11/24, gateway: 10.2.0.1}}
netboxes: {link: {technology: ethernet, stations: {x: {}, y: {}}}}
routers: {nat: {configuration: nat.click, interfaces: {inside: 10.1.0.1/24, outside: 10.2.0.1/24}}}
wires: [[a, link.x], [link.y, nat.inside], [nat.outside, b]]
traffic: {call: {application: call, from: a, to: b}}
"""
    estimate = detour(tmp_path, text)
    assert (
        "the configuration of router nat does not say where packets of call go: the shortest chain of wires is taken"
        in estimate.notes
    )
    assert of(estimate, "link").frames_per_s == pytest.approx(CALL)


def test_equally_good_paths_are_each_reckoned_with_the_whole_load_and_a_note_says_so(tmp_path: Path) -> None:
    estimate = detour(tmp_path, DETOUR.replace("direct: 100", "direct: 20"))
    assert {load.netbox: load.frames_per_s for load in estimate.netboxes} == dict.fromkeys(
        ("direct", "first", "second"), pytest.approx(CALL)
    )
    assert any("call from a to b has 2 paths that are equally good" in note for note in estimate.notes)


def test_traffic_without_a_route_is_told_and_not_reckoned(tmp_path: Path) -> None:
    """Nobody told `west` of the network of `b`: it has neither OSPF nor a gateway."""
    text = DETOUR.replace("    ospf: {costs: {direct: 100}}\n", "", 1)
    estimate = detour(tmp_path, text)
    assert any(note.startswith("call from a to b: no route leads there, so nothing will arrive") for note in estimate.notes)
    assert of(estimate, "first").frames_per_s == 0
