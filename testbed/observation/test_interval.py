# SPDX-License-Identifier: GPL-2.0-or-later
"""What two readings of a lab tell about the time between them, and how it is shown."""

from __future__ import annotations

import io
import json
from collections import deque
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from rich.console import Console
from rich.text import Text

from contracts.control import NetboxCounters
from contracts.node_status import PartStatus
from contracts.plan import InterfacePlan, NodePlan, Plan, WireEnd, WirePlan
from results.conftest import netbox_files
from testbed.documents import kinds
from testbed.documents.watch import LatenessOfKind
from testbed.observation.interval import interval, light
from testbed.observation.reading import InterfaceCounters, NodeReading, Reading, parse_dev, parse_snmp
from testbed.observation.services import ServiceCounters
from testbed.observation.stages import stages
from testbed.observation.watching import WatchedLab
from testbed.views.watch_view import nodes, picture
from tests.documents import documents

SERVICE: ServiceCounters = {
    "scheme": "rlp",
    "offered_bytes": 1000,
    "delivered_bytes": 2000,
    "retransmissions": 7,
    "lost": 1,
    "goodput": 0.9,
    "loss": 0.01,
    "delay": None,
}
BOUNDS = (10.0, 100.0, 1000.0, 10_000.0)
DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  eth0:    1500      10    0    2    0     0          0         0     3000      20    0    1    0     0       0          0
"""
SNMP = """\
Ip: Forwarding DefaultTTL InReceives InDiscards OutDiscards OutNoRoutes
Ip: 1 64 100 3 0 7
Icmp: InMsgs
Icmp: 1
"""


def late(count: int = 0, missed: int = 0, up_to: tuple[int, ...] = (0, 0, 0, 0)) -> dict[str, Any]:
    return {"count": count, "missed": missed, "sum": 0.0, "up_to": list(zip(BOUNDS, up_to, strict=True))}


def counters(frames: int = 0, delay_s: float = 0.0, frame: Any = None, event: Any = None, **changed: Any) -> dict[str, Any]:
    port = {
        **dict.fromkeys(("oversize_drops", "malformed", "send_drops", "overload_drops"), 0),
        **{"name": "responder", "received": frames, "sent": frames, "received_bytes": frames * 100, "sent_bytes": frames * 200},
        "delay_s": delay_s,
    }
    return {
        "ports": [port | {key: value for key, value in changed.items() if key in port}],
        "frames": {"lost": {"on_air": changed.get("on_air", 0), "queue_full": 0}, "inside": 0},
        "stages": changed.get("stages", {}),
        "lateness_us": {"frame": frame or late(), "event": event or late()},
        "scheduler": {"cpu_s": 0.0},
    }


@pytest.fixture
def plan() -> Plan:
    nodes = (
        NodePlan("field", "netbox", "f", "f", (1,), (), (InterfacePlan("responder", "w", ""),), files=netbox_files("responder")),
        NodePlan("air", "netbox", "g", "g", (1,), (), (InterfacePlan("base", "v", ""),), files=netbox_files("base")),
        NodePlan("a", "host", "a", "a", (0,), (), (InterfacePlan("eth0", "w", ""),)),
        NodePlan("meoc", "router", "m", "m", (0,), (), ()),
    )
    wires = (WirePlan("w", WireEnd("a", "eth0"), WireEnd("field", "responder"), 1500),)
    return Plan("x", "x.yaml", 1, nodes, wires, (), 0.001, "mark")


def reading(at_s: float, netbox: Any, **nodes: NodeReading) -> Reading:
    own = stages(netbox["stages"], ["responder"]) if netbox else {}
    return Reading(int(at_s * 1e9), {"field": NodeReading(at_s, True, netbox, stages=own), **nodes})


def with_service(at_s: float, service: ServiceCounters) -> NodeReading:
    return NodeReading(at_s, True, cast(NetboxCounters, counters()), services={("base", "speech"): service})


def between(plan: Plan, before: Any, now: Any, span_s: float = 2.0) -> dict[str, Any]:
    (line,) = documents(json.dumps(kinds.WATCH.of(interval(plan, reading(0, before), reading(span_s, now)))))
    return cast(dict[str, Any], line["nodes"][0])


def test_rates_are_what_counters_grew_by_and_the_delay_is_that_of_the_interval(plan: Plan) -> None:
    node = between(plan, counters(1000, 100.0), counters(1010, 100.5))
    assert node["ports"] == [
        {
            "name": "responder",
            "in_bit_s": 4000.0,
            "in_frames_s": 5.0,
            "out_bit_s": 8000.0,
            "out_frames_s": 5.0,
            "delay_ms": 50.0,
        }
    ]


def test_services_have_the_figures_of_the_interval(plan: Plan) -> None:
    more = {"offered_bytes": 1500, "delivered_bytes": 4000, "retransmissions": 9, "lost": 4, "delay": 0.2}
    grown = cast(ServiceCounters, {**SERVICE, **more})
    readings = [
        reading(at_s, counters(), air=with_service(at_s, service)) for at_s, service in ((0, SERVICE), (2, grown), (4, SERVICE))
    ]
    now, anew = (interval(plan, *two)["nodes"][1]["services"][0] for two in pairwise(readings))
    assert now == {
        **{"station": "base", "service": "speech", "scheme": "rlp", "in_bit_s": 2000.0, "out_bit_s": 8000.0},
        **{"retransmissions": 2, "lost": 3, "goodput": 0.9, "loss": 0.01, "delay_ms": 200.0},
    }
    assert (anew["in_bit_s"], anew["retransmissions"], anew["delay_ms"]) == (4000.0, 7, None)


def test_stages_have_what_they_counted_in_the_interval_and_how_things_are_now(plan: Plan) -> None:
    def pink(rewrites: int, share: float, **others: Any) -> dict[str, Any]:
        told = {"stage": "pink", "flows": 4, "share": share, "rewrites": rewrites, "clamps": 1}
        return counters(stages={"responder": [told | others], "nobody": [told]})

    (stage,) = between(plan, pink(10, 5e6), pink(17, 2.5e6, by_node={}, wild=1e300, beyond=float("nan")))["stages"]
    assert stage == {
        **{"port": "responder", "place": 0, "stage": "pink"},
        **{"levels": {"flows": 4, "share": 2.5e6}, "counts": {"rewrites": 7}},
    }
    (anew,) = between(plan, pink(10, 5e6), pink(3, 5e6))["stages"]
    assert anew["counts"] == {"rewrites": 3, "clamps": 1}
    assert "stages" not in between(plan, pink(10, 5e6), pink(17, 5e6, stage="green"))
    assert "stages" not in between(plan, counters(), pink(17, 5e6))


def test_a_netbox_that_was_started_again_counts_from_nothing(plan: Plan) -> None:
    node = between(plan, counters(1000, 100.0, frame=late(50, 50)), counters(10, 0.1, frame=late(10, 0, (10, 10, 10, 10))))
    assert (node["ports"][0]["in_frames_s"], node["ports"][0]["delay_ms"]) == (5.0, 10.0)
    assert node["lateness"]["frame"] == {"count": 10, "missed": 0, "p99_us": 10.0}


def test_lateness_is_that_of_the_interval_and_not_since_the_beginning(plan: Plan) -> None:
    bad = late(1000, 1000, (0, 0, 0, 0))
    node = between(plan, counters(frame=bad), counters(frame=late(1100, 1000, (0, 99, 100, 100))))
    assert node["lateness"]["frame"] == {"count": 100, "missed": 0, "p99_us": 100.0}
    assert node["light"] == "green"


@pytest.mark.parametrize(
    ("frame", "event", "lost", "colour"),
    [
        ((1000, 0), (0, 0), {}, "green"),
        ((0, 0), (0, 0), {"on_air": 5}, "green"),
        ((1000, 1), (0, 0), {}, "amber"),
        ((1000, 10), (0, 0), {}, "amber"),
        ((1000, 11), (0, 0), {}, "red"),
        # Many good events do not make up for late frames.
        ((10, 1), (10_000, 0), {}, "red"),
        ((1000, 0), (100, 2), {}, "red"),
        ((1000, 0), (0, 0), {"overload": 1}, "amber"),
    ],
)
def test_lights_are_as_the_verdict_of_a_run_would_be(
    frame: tuple[int, int], event: tuple[int, int], lost: dict[str, int], colour: str
) -> None:
    of_frames, of_events = (LatenessOfKind(count=count, missed=missed, p99_us=None) for count, missed in (frame, event))
    assert light({"frame": of_frames, "event": of_events}, lost) == colour


def test_losses_are_told_by_reason_and_only_those_of_the_interval(plan: Plan) -> None:
    node = between(plan, counters(on_air=5, overload_drops=3), counters(on_air=9, overload_drops=5))
    assert (node["lost"], node["light"]) == ({"on_air": 4, "overload": 2}, "amber")


def test_a_netbox_that_does_not_answer_is_red(plan: Plan) -> None:
    node = between(plan, counters(), None)
    assert (node["answers"], node["light"], node["ports"]) == (False, "red", [])


def test_hosts_and_routers_have_what_the_kernel_and_click_count(plan: Plan) -> None:
    ports = parse_dev(DEV, {"eth0"})
    assert ports == {
        "eth0": {"received_bytes": 1500, "received": 10, "receive_drops": 2, "sent_bytes": 3000, "sent": 20, "send_drops": 1}
    }
    assert parse_snmp(SNMP) == {"in_discards": 3, "out_discards": 0, "no_route": 7}
    nothing: InterfaceCounters = {
        "received_bytes": 0,
        "received": 0,
        "receive_drops": 0,
        "sent_bytes": 0,
        "sent": 0,
        "send_drops": 0,
    }
    told = interval(
        plan,
        reading(
            0,
            None,
            a=NodeReading(0, True, None, {"eth0": nothing}, {"no_route": 5}),
            meoc=NodeReading(0, True, lost={"q.drops": 1}),
        ),
        reading(
            1,
            None,
            a=NodeReading(1, True, None, ports, {"no_route": 7}),
            meoc=NodeReading(1, True, lost={"q.drops": 4, "new.drops": 9}),
        ),
    )
    host, router = told["nodes"][1:]
    assert (host["ports"][0]["in_bit_s"], host["ports"][0]["out_frames_s"]) == (12_000.0, 20.0)
    assert host["lost"] == {"no_route": 2, "receive_drops": 2, "send_drops": 1}
    assert router["lost"] == {"q.drops": 3}


def part(role: Literal["allocator", "member"], **others: Any) -> PartStatus:
    nothing: dict[str, Any] = dict.fromkeys(PartStatus.__annotations__)
    return cast(PartStatus, {**nothing, "name": "sat", "role": role, **others})


@pytest.mark.parametrize(
    ("own", "words", "colour"),
    [
        (part("member", budget=450_000, reachable=True), "450 kbit/s", ""),
        (part("member", reachable=False), "none", "yellow"),
        (part("member", budget=450_000, reachable=True, unenforced="no HTB"), "450 kbit/s", "yellow"),
        (part("allocator", capacity=1_800_000), "divides 1.8 Mbit/s", ""),
    ],
)
def test_hosts_of_managed_links_show_their_budgets(plan: Plan, own: PartStatus, words: str, colour: str) -> None:
    now = interval(plan, reading(0, counters()), reading(1, counters(), a=NodeReading(1, True, parts=[own])))
    assert now["nodes"][1].get("management") == [own] and "management" not in now["nodes"][0]
    table = nodes(now["nodes"], 200)
    column = next(column for column in table.columns if column.header == "budget")
    [cell] = [cell for cell in column.cells if isinstance(cell, Text) and cell.plain]
    assert (cell.plain, "".join(str(span.style) for span in cell.spans)) == (words, colour)


@pytest.mark.parametrize("width", [20, 60, 80, 200])
def test_the_picture_fits_terminals_of_any_width(plan: Plan, width: int) -> None:
    now = interval(
        plan,
        reading(0, counters()),
        reading(1, counters(10, 0.1, frame=late(10, 1, (0, 0, 9, 10)), on_air=2), a=NodeReading(1, False)),
    )
    event = {"at_s": 12.5, "words": "field.responder: link down (reason out of range) and much more of that for a long line"}
    watched = SimpleNamespace(lab=SimpleNamespace(name="x"), interval=now, events=deque([event]))
    console = Console(file=io.StringIO(), width=width, height=24, force_terminal=False)
    console.print(picture(cast(list[WatchedLab], [watched]), width, 24, 1.0))
    drawn = cast(io.StringIO, console.file).getvalue()
    assert all(len(line) <= width for line in drawn.splitlines())
    assert ("cores" in drawn, "delay" in drawn) == (width >= 110, width >= 76)
    if width >= 80:
        assert "a ended" in drawn and "1 missed" in drawn and "2 on air" in drawn and "10 ms" in drawn and "link down" in drawn


def test_services_have_lines_of_their_own(plan: Plan) -> None:
    before, after = (
        reading(at_s, counters(), air=with_service(at_s, {**SERVICE, "retransmissions": 7 + at_s, "lost": at_s, "delay": 0.25}))
        for at_s in (0, 2)
    )
    watched = SimpleNamespace(lab=SimpleNamespace(name="x"), interval=interval(plan, before, after), events=deque())
    console = Console(file=io.StringIO(), width=120, height=24, force_terminal=False)
    console.print(picture(cast(list[WatchedLab], [watched]), 120, 24, 1.0))
    (line,) = [line for line in cast(io.StringIO, console.file).getvalue().splitlines() if "base speech" in line]
    assert "250 ms" in line and "2 lost, 2 repeated" in line


def test_stages_have_lines_of_their_own(plan: Plan) -> None:
    told = [{"stage": "police", "nodes": 0}, {"stage": "pink", "share": 2.5e6, "flows": 4}]
    before, after = (
        reading(at_s, counters(stages={"responder": [told[0] | {"dropped": 3 * at_s, "dropped_bytes": 9000 * at_s}, told[1]]}))
        for at_s in (0, 2)
    )
    watched = SimpleNamespace(lab=SimpleNamespace(name="x"), interval=interval(plan, before, after), events=deque())
    console = Console(file=io.StringIO(), width=120, height=24, force_terminal=False)
    console.print(picture(cast(list[WatchedLab], [watched]), 120, 24, 1.0))
    police, pink = [line for line in cast(io.StringIO, console.file).getvalue().splitlines() if "responder p" in line]
    assert police.split()[-2:] == ["6", "dropped"]
    assert "share 2.5 Mbit/s, flows 4" in pink or "flows 4, share 2.5 Mbit/s" in pink


def test_no_lab_is_told() -> None:
    console = Console(file=io.StringIO(), width=40)
    console.print(picture([], 40, 24, 1.0))
    assert "no lab is up" in cast(io.StringIO, console.file).getvalue()
