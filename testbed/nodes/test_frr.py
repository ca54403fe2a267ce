# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.plan import Plan, RealtimeSupport
from system.realtime_support import realtime_support
from testbed.description.topology_file import load
from testbed.labs.lab import Lab
from testbed.nodes import frr, frr_node
from testbed.plans.planning import plan_file
from testbed.plans.resolve import resolve

#: Two networks, joined by a short and a long way.
RING = """
name: ring
centre: b
hosts:
  a: {address: 10.1.0.2/24, gateway: 10.1.0.1}
  b: {address: 10.2.0.2/24, gateway: 10.2.0.1}
netboxes:
  near: {technology: ethernet, stations: {left: {}, right: {}}, delay: 1 ms}
  far: {technology: ethernet, stations: {left: {}, right: {}}, delay: 20 ms}
routers:
  west:
    engine: linux
    interfaces: {lan: 10.1.0.1/24, near: 10.8.0.1/30, far: 10.9.0.1/30}
    ospf: {bfd: {interval: 100 ms}, costs: {far: 50}}
  east:
    engine: linux
    interfaces: {lan: 10.2.0.1/24, near: 10.8.0.2/30, far: 10.9.0.2/30}
    ospf: {bfd: {interval: 100 ms}, costs: {far: 50}}
wires:
  - [a, west.lan]
  - [west.near, near.left]
  - [near.right, east.near]
  - [west.far, far.left]
  - [far.right, east.far]
  - [east.lan, b]
"""

#: Both ways of RING as links, whose rates their ends follow: 10 Mbit/s cost 10, 5 Mbit/s 20.
FOLLOWED = (
    RING.replace("technology: ethernet", "technology: link, telemetry: true")
    .replace("delay: 1 ms", "delay: 1 ms, rate: 10 Mbit/s")
    .replace("delay: 20 ms", "delay: 20 ms, rate: 5 Mbit/s")
    .replace("costs: {far: 50}", "costs: {near: netbox, far: netbox}")
)

CONFIGURATION = """\
hostname west
log file /run/netboxit/frr.log informational
!
interface lan
 ip ospf area 0
 ip ospf cost 10
 ip ospf passive
exit
!
interface near
 ip ospf area 0
 ip ospf cost 10
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf retransmit-interval 1
 ip ospf bfd
 ip ospf bfd profile netboxit
exit
!
interface far
 ip ospf area 0
 ip ospf cost 50
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf retransmit-interval 1
 ip ospf bfd
 ip ospf bfd profile netboxit
exit
!
router ospf
 ospf router-id 10.1.0.1
 timers throttle spf 10 100 1000
 timers throttle lsa all 200
 timers lsa min-arrival 100
exit
!
bfd
 profile netboxit
  detect-multiplier 3
  receive-interval 100
  transmit-interval 100
 exit
exit
!
"""


def plan_of(tmp_path: Path, text: str = RING) -> Plan:
    file = tmp_path / "ring.yaml"
    file.write_text(text)
    return resolve(load(file), cores=(0, 1), realtime=RealtimeSupport(True, 950_000, ""))


def test_ospf_is_spoken_where_another_router_is(tmp_path: Path) -> None:
    west = plan_of(tmp_path).node("west")
    assert west.files == {frr.CONFIGURATION: CONFIGURATION}
    assert west.command[-5:] == ("2", "10.1.0.0/24", "10.2.0.0/24", "10.8.0.0/30", "10.9.0.0/30")
    assert west.forwards
    # It needs no core of its own, and its wires are interfaces of the kernel.
    assert west.cores == (0,)
    assert {interface.port for interface in west.interfaces} == {"kernel"}


def test_costs_that_follow_netboxes_are_told_apart_from_numbers(tmp_path: Path) -> None:
    text = FOLLOWED.replace("costs: {near: netbox, far: netbox}", "costs: {near: netbox, far: 7}, reference: 1 Gbit/s")
    west = plan_of(tmp_path, text).node("west")
    assert re.findall("ip ospf cost ([0-9]+)", west.files[frr.CONFIGURATION]) == ["10", "10", "7"]
    assert json.loads(west.files[frr.LINK_COSTS]) == {"reference_bps": 1e9, "interfaces": ["near"]}


@pytest.mark.parametrize(
    ("rate_bps", "cost"), [(100_000_000, 1), (10**10, 1), (10_000_000, 10), (3_000_000, 33), (1_000, 65535), (0, 65535)]
)
def test_a_cost_is_the_reference_by_the_rate_as_frrouting_rounds_it(rate_bps: int, cost: int) -> None:
    """The manual of FRRouting's ospfd, `auto-cost reference-bandwidth`."""
    assert frr_node.cost_of(rate_bps, 100e6) == cost


def test_frames_that_are_no_telemetry_tell_no_rate() -> None:
    """By the layout of netboxes/engine/README.md; items of other types are passed over."""
    head = bytes.fromhex("0180c200000e 024e42000001 88b5 4e42 01 02")
    rate = bytes.fromhex("000f 0008") + (2_000_000).to_bytes(8)
    assert frr_node.told_rate(head + bytes.fromhex("0010 0004 00000001") + rate + bytes(20)) == 2_000_000
    for wrong in (b"", head, head + rate[:-1], head + bytes.fromhex("0010 ffff") + rate, head[:14] + b"\0" * 4 + rate):
        assert frr_node.told_rate(wrong) is None


def test_a_router_without_ospf_runs_nothing_and_has_its_gateway(tmp_path: Path) -> None:
    text = RING.replace("    ospf: {bfd: {interval: 100 ms}, costs: {far: 50}}\n", "    gateway: 10.8.0.2\n", 1)
    west = plan_of(tmp_path, text).node("west")
    assert (west.command, west.files) == (("/usr/bin/sleep", "infinity"), {})
    assert [(route.destination, route.gateway) for route in west.routes] == [("default", "10.8.0.2")]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("costs: {far: 50}", "costs: {fat: 50}", 'no interface "fat"; did you mean "?far'),
        ("costs: {far: 50}", "costs: {far: netbox}", "no netbox at west.far tells .* add telemetry: true to far"),
        ("costs: {far: 50}", "costs: {lan: netbox}", "no netbox at west.lan tells .* give a number"),
        ("costs: {far: 50}", "dead: 1 s", "must be longer than `hello`"),
        ("costs: {far: 50}", "hello: 1500 ms", "multiple of 1"),
        ("engine: linux", "engine: click", "needs a configuration"),
        ("engine: linux\n", "configuration: click/meoc.click\n", "only a router with engine: linux has this"),
        ("engine: linux\n", "engine: linux\n    configuration: click/meoc.click\n", "says this already"),
        (
            "[west.near, near.left]",
            "{ends: [west.near, near.left], wire: memory}",
            "a router, whose kernel routes",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(old: str, new: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadTopology) as raised:
        plan_of(tmp_path, RING.replace(old, new))
    assert re.search(told, str(raised.value))


@pytest.mark.lab
def test_routes_go_the_other_way_when_a_link_fails(tmp_path: Path, nothing_left: None) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(RING)
    with Lab.up(plan_file(file, lab="ospf-test", realtime=realtime_support()), lambda _: None) as lab:
        lab.wait_ready()
        assert hops(lab) == ["10.1.0.1", "10.8.0.2", "10.2.0.2"]
        with lab.control("near") as control:
            control.set("delay", 10.0)
        deadline = time.monotonic() + 10
        while hops(lab) != ["10.1.0.1", "10.9.0.2", "10.2.0.2"]:
            assert time.monotonic() < deadline, (lab.node_folder("west") / "journal.jsonl").read_text()
        lines = [json.loads(line) for line in (lab.node_folder("west") / "journal.jsonl").read_text().splitlines()]
        changes = [line for line in lines if line.get("event") == "route" and line["destination"] == "10.2.0.0/24"]
        routes = [path["interface"] for line in changes for path in line["paths"]]
    assert routes[-1] == "far"
    assert "near" in routes


@pytest.mark.lab
def test_costs_follow_what_netboxes_tell_of_their_links(tmp_path: Path, nothing_left: None) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(FOLLOWED)
    with Lab.up(plan_file(file, lab="ospf-test", realtime=realtime_support()), lambda _: None) as lab:
        lab.wait_ready()
        short, long = ["10.1.0.1", "10.8.0.2", "10.2.0.2"], ["10.1.0.1", "10.9.0.2", "10.2.0.2"]
        for rate, way in ((10e6, short), (2e6, long), (20e6, short)):
            with lab.control("near") as control:
                control.set("rate", rate)
            deadline = time.monotonic() + 10
            while hops(lab) != way:
                assert time.monotonic() < deadline, lab.run("west", ["/usr/bin/vtysh", "-c", "show running-config"]).stdout


@pytest.mark.lab
def test_a_router_without_ospf_is_ready_when_its_routes_are_there(tmp_path: Path, nothing_left: None) -> None:
    (tmp_path / "own.conf").write_text("hostname r\nip route 10.77.0.0/24 10.1.0.2\nrouter bgp 65001\n bgp router-id 10.1.0.1\n")
    (file := tmp_path / "own.yaml").write_text(
        "name: own\nhosts: {a: {address: 10.1.0.2/24}}\n"
        "netboxes: {n: {technology: link, stations: {x: {}, y: {}}}}\n"
        "routers: {r: {engine: linux, configuration: own.conf, interfaces: {p: 10.1.0.1/24}}}\n"
        "wires: [[a, n.x], [n.y, r.p]]\n"
    )
    with Lab.up(plan_file(file, lab="own-test", realtime=realtime_support()), lambda _: None) as lab:
        lab.wait_ready(30.0)
        assert "10.77.0.0/24" in lab.run("r", ["/usr/sbin/ip", "route"]).stdout


def hops(lab: Lab) -> list[str]:
    """The way from a to b, as time exceeded messages tell it."""
    found = []
    for ttl in range(1, 4):
        text = lab.run("a", ["/usr/bin/ping", "-n", "-c", "1", "-W", "1", "-t", str(ttl), "10.2.0.2"]).stdout
        found += re.findall(r"(?:From|bytes from) ([0-9.]+)", text)
    return found


def test_a_router_that_was_rebooted_counts_from_the_same_time_as_before(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    began_ns = time.time_ns() - 100 * 10**9
    journal.write_text(json.dumps({"began_ns": began_ns}) + "\n")
    frr_node.Journal(journal).add("route", destination="10.0.0.0/8", paths=[])
    first, added = map(json.loads, journal.read_text().splitlines())
    assert first == {"began_ns": began_ns}
    assert 100.0 <= added["at_s"] < 100.0 + (time.time_ns() - began_ns) / 1e9


def test_what_happens_to_a_routers_part_in_a_managed_link_is_in_its_journal_at_its_time(tmp_path: Path) -> None:
    journal, file = tmp_path / "journal.jsonl", tmp_path / "parts.jsonl"
    began_ns = time.time_ns() - 100 * 10**9
    journal.write_text(json.dumps({"began_ns": began_ns}) + "\n")
    of_router = frr_node.Journal(journal)
    parts = frr_node.PartsJournal(file)
    parts.take_into(of_router)  # there is none yet
    share = {"at_s": 0.5, "event": "share", "link": "sat", "share": 1_800_000}
    with file.open("a") as writer:
        for began_s in (10, 20):  # it was killed meanwhile
            writer.write(json.dumps({"began_ns": began_ns + began_s * 10**9}) + "\n" + json.dumps(share) + "\n")
        writer.write('{"at_s": 1, "eve\n[]\n7\n{"at_s": "soon", "event": "share"}\n{"at_s": 1e400, "event": "share"}\n')
        writer.write(half := '{"at_s": 3.0, "event": "share"')
        writer.flush()
        parts.take_into(of_router)
        parts.take_into(of_router)
        writer.write("}\n")
    parts.take_into(of_router)
    assert half in file.read_text()
    taken = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert [line["at_s"] for line in taken] == pytest.approx([10.5, 20.5, 23.0])
    assert taken[0] == {**share, "at_s": taken[0]["at_s"]}


def test_what_a_part_wrote_before_the_router_was_rebooted_is_not_taken_twice(tmp_path: Path) -> None:
    journal, file = tmp_path / "journal.jsonl", tmp_path / "parts.jsonl"
    file.write_text('{"began_ns": 1}\n{"at_s": 1.0, "event": "share"}\n')
    parts = frr_node.PartsJournal(file)
    parts.take_into(of_router := frr_node.Journal(journal))
    assert len(journal.read_text().splitlines()) == 1
    with file.open("a") as writer:
        writer.write('{"began_ns": 2000000000}\n{"at_s": 1.0, "event": "share"}\n')
    parts.take_into(of_router)
    assert len(journal.read_text().splitlines()) == 2


@pytest.mark.parametrize("strange", ["a FIFO", "a link", "a folder", "one long line", "deep"])
def test_a_router_does_not_wait_for_what_stands_in_place_of_its_parts_journal(tmp_path: Path, strange: str) -> None:
    parts = frr_node.PartsJournal(file := tmp_path / "parts.jsonl")
    match strange:
        case "a FIFO":
            os.mkfifo(file)
        case "a link":
            file.symlink_to("/dev/zero")
        case "a folder":
            file.mkdir()
        case "one long line":
            file.write_bytes(b"x" * (1 << 17) + b"\n")
        case "deep":
            file.write_text("[" * 60_000 + "\n")
    of_router = frr_node.Journal(tmp_path / "journal.jsonl")
    for _ in range(4):
        parts.take_into(of_router)
    if file.is_file() and not file.is_symlink():
        with file.open("a") as writer:
            writer.write('{"began_ns": 2000000000}\n{"at_s": 1.0, "event": "share"}\n')
        parts.take_into(of_router)
        assert "share" in (tmp_path / "journal.jsonl").read_text()


def test_a_router_routes_on_where_its_journal_finds_no_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = frr_node.Journal(tmp_path / "journal.jsonl")
    with Path("/dev/full").open("ab", buffering=0) as full:
        journal._file = full
        journal.add("route", destination="10.0.0.0/8", paths=[])
        journal.add("route_gone", destination="10.0.0.0/8", paths=[])
    assert capsys.readouterr().err == "from now on events are missing in the journal: No space left on device\n"


@pytest.mark.parametrize("left", ["", "half a li", "[]\n", '{"began_ns": "then"}\n'])
def test_a_router_whose_journal_says_no_time_begins_one(tmp_path: Path, left: str) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text(left)
    assert frr_node.began_ns(journal) is None
    assert frr_node.began_ns(tmp_path / "none") is None
