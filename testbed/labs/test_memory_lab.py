# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs whose emulators are joined by memory: traffic across them, neighbours that die and come back, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import Plan
from system import containers, cores, namespaces, rings, rootfs
from system.realtime_support import realtime_support
from system.rings import MemoryWireFailed
from testbed.labs import lab_status
from testbed.labs.lab import Lab
from testbed.labs.removal import container_of
from testbed.observation.capture_files import CaptureFile
from testbed.observation.capture_points import points
from testbed.observation.capturing import capture
from testbed.plans.planning import plan_file
from tests.small_labs import PlanPair
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

CHAIN = """\
name: chain
hosts:
  a: {address: 10.10.0.11/24, gateway: 10.10.0.1}
  b: {address: 10.20.0.20/24, gateway: 10.20.0.1}
netboxes:
  first: &link {technology: ethernet, stations: {left: {}, right: {}}}
  middle: *link
  last: *link
routers:
  meoc: {configuration: click/meoc.click, interfaces: {ian: 10.10.0.1/24, jan: 10.20.0.1/24}}
wires:
  - [a, first.left]
  - [first.right, middle.left]
  - [middle.right, meoc.ian]
  - [meoc.jan, last.left]
  - [last.right, b]
"""
PING = ["ping", "-c", "3", "-i", "0.05", "-W", "2", "10.20.0.20"]
PING_S = 0.5
FIELDS = ["-e", "frame.interface_name", "-e", "frame.packet_flags_direction", "-e", "icmp.type"]


@pytest.fixture
def chain(tmp_path: Path, state_folder: Path) -> Iterator[Lab]:
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN)
    with Lab.up_and_ready(plan_file(file, lab=f"chain-{os.getpid()}", realtime=realtime_support())) as lab:
        yield lab


def cpu_s(lab: Lab, node: str) -> float:
    """CPU time of a netbox so far."""
    with lab.control(node) as control:
        return float(control.statistics()["scheduler"]["cpu_s"])


def test_hosts_reach_each_other_over_memory_wires_and_status_says_which_they_are(chain: Lab) -> None:
    assert chain.run("a", PING).returncode == 0
    wires: Any = lab_status.of(chain)["wires"]
    assert [wire["kind"] for wire in wires] == ["veth", "memory", "memory", "memory", "veth"]
    assert [[end["port"] for end in wire["ends"]] for wire in wires[1:4]] == [["memory", "memory"]] * 3
    assert wires[0]["reason"] == "auto: a is a host, whose programs need an interface of the kernel"
    assert wires[0]["ends"][0]["port"] == "kernel"
    assert wires[0]["ends"][1]["port"] == chain.node("first").interfaces[0].port
    assert wires[0]["ends"][1]["reason"].startswith("auto: ")
    with namespaces.entered(chain.node("middle").namespace):
        shown = json.loads(subprocess.check_output(["ip", "-json", "link"]))
    assert [interface["ifname"] for interface in shown] == ["lo"]


def test_a_netbox_that_is_killed_leaves_its_neighbours_idle_and_traffic_flows_again_when_it_is_back(chain: Lab) -> None:
    assert chain.run("a", PING).returncode == 0
    middle = chain.node("middle")
    cores.kill_all(middle.container)
    until(lambda: not chain.alive()["middle"])
    assert chain.run("a", PING).returncode != 0
    neighbours = ("first", "last")
    before = {node: cpu_s(chain, node) for node in neighbours}
    time.sleep(1.0)  # a span of time to be idle in, not a wait for anything
    assert all(cpu_s(chain, node) - before[node] < 0.1 for node in neighbours)
    assert chain.alive() == {node.name: node.name != "middle" for node in chain.plan.nodes}
    container = container_of(chain.folder, middle.name, middle.container)
    with containers.start(container, middle.command) as monitor:
        containers.wait_started(container, monitor)
        chain.wait_ready()
        assert chain.run("a", PING).returncode == 0
        cores.kill_all(middle.container)


def test_wires_ports_and_hosts_are_captured_into_one_file_in_the_order_of_time(chain: Lab, tmp_path: Path) -> None:
    file, pinged = tmp_path / "points.pcapng", list[int]()

    def ping(_: str) -> None:
        if not pinged:
            pinged.append(chain.run("a", PING).returncode)

    words = ["a", "first--middle", "[middle.right, meoc]", "meoc.jan", "b"]
    captured = capture(chain, points(chain.plan, words), lambda found: CaptureFile(file, found), duration_s=PING_S, progress=ping)
    assert pinged == [0]
    assert [(point.point.name, point.dropped) for point in captured.points] == [
        ("a.eth0", 0),
        ("first--middle", 0),
        ("middle.right--meoc", 0),
        ("meoc.jan", 0),
        ("b.eth0", 0),
    ]
    output = subprocess.check_output(["capinfos", "-TmQ", "-c", "-o", file], text=True)
    frames = sum(point.frames for point in captured.points)
    assert (str(frames), "True") == tuple(output.splitlines()[1].replace('"', "").split(",")[1:3])
    shown = [
        tuple(line.split("\t"))
        for line in subprocess.check_output(
            ["tshark", "-r", file, "-Y", "icmp.seq==2", "-T", "fields", *FIELDS], text=True, stderr=subprocess.DEVNULL
        ).splitlines()
    ]
    # The echo request, from point to point, and the way of its reply back.
    way = ["a.eth0", "first--middle", "middle.right--meoc", "meoc.jan", "b.eth0"]
    into, out = "0x00000001", "0x00000002"
    assert [(name, direction) for name, direction, kind in shown if kind == "8"] == list(
        zip(way, (out, out, out, into, into), strict=True)
    )
    assert [(name, direction) for name, direction, kind in shown if kind == "0"] == list(
        zip(way[::-1], (out, out, into, into, into), strict=True)
    )
    _see_it_live(chain)


def _see_it_live(lab: Lab) -> None:
    """A program that reads the pipe sees frames while they pass, and ends the capture by going."""
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "capture", "middle", "b", "--live", "--lab", lab.name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as live:
        shark = ["tshark", "-r", "-", "-c", "3", "-T", "fields", "-e", "frame.interface_name"]
        with subprocess.Popen(shark, stdin=live.stdout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as reader:
            assert live.stdout is not None
            live.stdout.close()
            until(lambda: lab.run("a", PING).returncode == 0 and (reader.poll() is not None), deadline_s=60.0)
            assert reader.stdout is not None
            seen = reader.stdout.read().split()
            assert len(seen) == 3 and set(seen) <= {"middle.left", "middle.right", "b.eth0"}
        assert live.wait(30) == 0


@pytest.fixture
def memory_pair(plan_pair: PlanPair) -> Plan:
    """Two nodes that only sleep, joined by memory."""
    plan = plan_pair("ring")
    return replace(plan, wires=tuple(replace(wire, kind="memory") for wire in plan.wires))


def test_a_node_sees_its_own_memory_wires_only(memory_pair: Plan) -> None:
    with Lab.up(memory_pair) as lab:
        for end in ("left", "right"):
            assert lab.run(end, ["ls", rootfs.WIRES_FOLDER]).stdout == "wire\n"
        assert lab.run("left", ["sh", "-c", "echo rang > /run/wires/wire/note"]).returncode == 0
        assert lab.run("right", ["cat", "/run/wires/wire/note"]).stdout == "rang\n"
        assert lab.run("right", ["rm", "/run/wires/wire/note"]).returncode == 0
        assert lab.run("left", ["ls", str(rings.FOLDER)]).returncode != 0


def test_a_memory_wire_of_somebody_else_is_neither_used_nor_removed(memory_pair: Plan) -> None:
    foreign = rings.create(memory_pair.lab, memory_pair.wires[0].name)
    try:
        with pytest.raises(MemoryWireFailed, match="is there already"):
            Lab.up(memory_pair)
        assert len(list(foreign.iterdir())) == 4
    finally:
        rings.delete(memory_pair.lab, memory_pair.wires[0].name)


def test_a_netboxit_killed_while_bringing_up_leaves_only_memory_that_down_removes(memory_pair: Plan, state_folder: Path) -> None:
    script = """
import json, sys
from testbed.labs.lab import Lab
from contracts.plan import Plan
Lab.up(Plan.from_json(json.load(sys.stdin)))
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, cwd=CHECKOUT, text=True)
    assert process.stdin is not None
    json.dump(memory_pair.to_json(), process.stdin)
    process.stdin.close()
    ledger = state_folder / "labs" / memory_pair.lab / "ledger.jsonl"
    until(lambda: ledger.exists() and '"rings"' in ledger.read_text())
    process.kill()
    process.wait()
    Lab.open(memory_pair.lab).down()
