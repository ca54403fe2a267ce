# SPDX-License-Identifier: GPL-2.0-or-later
"""Stages of a topology, from the file to what the run measured: at a netbox's port and at an interface of a Click router."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT

#: Eight uploads from behind a Click router, which has PINK where they come in.
BEHIND_A_ROUTER = """\
name: behind-a-router
seed: 1
centre: eoc
hosts:
  team: {address: 10.20.0.11/24, gateway: 10.20.0.1}
  eoc: {address: 10.21.0.11/24, gateway: 10.21.0.1}
routers:
  gate:
    configuration: click/ip-router.click
    interfaces: {a: 10.20.0.1/24, b: 10.21.0.1/24}
    stages: {a: [{stage: pink, rate: 10 Mbit/s}]}
netboxes:
  dsl:
    technology: link
    stations: {gateway: {queue: {bytes: 125 kB}}, exchange: {}}
    rate: 10 Mbit/s
    delay: 50 ms
wires: [[team, gate.a], [gate.b, dsl.gateway], [dsl.exchange, eoc]]
# What is counted does not depend on how late a busy machine is.
realtime: {limit: 100 ms}
traffic:
  uploads: {application: bulk, from: team, to: eoc, parallel: 8, variant: linux-reno, duration: 8 s}
"""


def ran(file: Path, results: Path, *options: str) -> Path:
    """The run's folder."""
    command = [CHECKOUT / "netboxit.py", "run", file, "--results", results, *options]
    # With labs of its own: those of tests beside this one look for what is left.
    (state := results.with_name(f"{results.name}-state")).mkdir(exist_ok=True)
    environment = {**os.environ, "NETBOXIT_STATE": str(state)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return results / "latest"


def counted(run: Path, node: str) -> dict[str, Any]:
    statistics: dict[str, Any] = json.loads((run / "nodes" / node / "statistics.json").read_text())
    return statistics


def lost(run: Path, flow: str) -> float:
    """Share of its packets."""
    flows = json.loads((run / "metrics.json").read_text())["flows"]
    ratios = [one["loss_ratio"] for one in flows if one["name"].partition(".")[0] == flow]
    return sum(ratios) / len(ratios)


def test_pink_at_the_port_of_a_netbox_keeps_the_queue_from_losing_packets(tmp_path: Path) -> None:
    example = CHECKOUT / "topologies/dsl-pink.yaml"
    run = ran(example, tmp_path, "--virtual", "--duration", "4 s")
    assert lost(run, "uploads") == lost(run, "call") == 0
    (stage,) = counted(run, "backhaul")["stages"]["gateway"]
    assert stage["stage"] == "pink"
    assert stage["rewrites"] > 1000
    assert stage["unmanaged"] > 300  # the call's packets, 50 a second each way
    series = {one["name"] for one in json.loads((run / "metrics.json").read_text())["series"]}
    assert {"pink.flows", "pink.rewrites"} <= series
    without = ran(example, tmp_path, "--virtual", "--duration", "4 s", "--set", "netboxes.backhaul.stages={}")
    assert lost(without, "uploads") > 0.005
    assert counted(without, "backhaul")["stages"] == {}


def test_pink_at_an_interface_of_a_click_router_does_the_same(tmp_path: Path) -> None:
    (file := tmp_path / "topology.yaml").write_text(BEHIND_A_ROUTER)
    run = ran(file, tmp_path / "results", "--virtual")
    assert lost(run, "uploads") == 0
    (share,) = [one for one in json.loads((run / "metrics.json").read_text())["series"] if one["name"] == "pink.share"]
    assert (share["netbox"], share["station"], share["min"]) == ("gate", "a", 10e6 / 8)
    devices = counted(run, "gate")["devices"]
    assert devices["a"]["stages"][0]["rewrites"] > 1000
    assert devices["a"]["policed"] == 0
    assert "stages" not in devices["b"]


#: What changes while the uploads of BEHIND_A_ROUTER go on: at the router, and at the netbox, which has no stages at the start.
EVENTS = """\
events:
  - {at: 3 s, node: gate, set: {a.stages: [{stage: pink, rate: 10 Mbit/s}, {stage: police, rate: 2 Mbit/s}]}}
  - {at: 4 s, netbox: dsl, station: gateway, set: {stages: [{stage: pink, rate: 10 Mbit/s}]}}
  - {at: 6 s, netbox: dsl, station: gateway, set: {stages: []}}
  - {at: 6 s, node: gate, set: {a.stages: []}}
"""


def _check_changed(run: Path) -> None:
    metrics = json.loads((run / "metrics.json").read_text())
    made = [(event["kind"], event["netbox"], event["words"]) for event in metrics["events"] if event["by_run"]]
    changes = [change for change in made if change[0] in ("stages", "parameter")]
    assert [change[:2] for change in changes] == [
        ("stages", "gate"),
        ("parameter", "dsl"),
        ("parameter", "dsl"),
        ("stages", "gate"),
    ]
    assert changes[0][2] == "gate: a.stages [{stage: pink, rate: 10 Mbit/s}, {stage: police, rate: 2 Mbit/s}]"
    (first, *_) = [event for event in metrics["events"] if event["kind"] == "policing"]
    assert first["words"] == "gate.a: police drops packets of 10.20.0.11, 1 so far"
    assert 3 <= first["time_s"] < 6
    device = counted(run, "gate")["devices"]["a"]
    assert device["policed"] > 0
    assert "stages" not in device
    assert {"gate", "dsl"} == {one["netbox"] for one in metrics["series"] if one["name"] == "pink.flows"}
    assert (run / "report.html").exists()


def test_stages_come_and_go_in_a_run_and_its_report_tells_them(tmp_path: Path) -> None:
    (file := tmp_path / "topology.yaml").write_text(BEHIND_A_ROUTER + EVENTS)
    run = ran(file, tmp_path / "results", "--virtual")
    _check_changed(run)
    assert lost(run, "uploads") > 0.001


@pytest.mark.lab
def test_stages_come_and_go_in_a_run_of_a_lab(tmp_path: Path) -> None:
    (file := tmp_path / "topology.yaml").write_text(BEHIND_A_ROUTER + EVENTS)
    _check_changed(ran(file, tmp_path / "results"))


@pytest.mark.lab
@pytest.mark.long
def test_kernels_take_the_windows_that_pink_writes(tmp_path: Path) -> None:
    """In a lab: TCP of Linux, whose ACKs pass a Click router's interface."""
    (file := tmp_path / "topology.yaml").write_text(BEHIND_A_ROUTER)
    run = ran(file, tmp_path / "results")
    assert counted(run, "gate")["devices"]["a"]["stages"][0]["rewrites"] > 500
    assert counted(run, "dsl")["frames"]["lost"]["queue_full"] == 0
    if shutil.which("tshark"):
        wrong = "tcp.checksum.status == 0 && ip.src == 10.21.0.11"
        command = ["tshark", "-r", run / "captures/team.pcapng", "-o", "tcp.check_checksum:TRUE", "-Y", wrong]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""
