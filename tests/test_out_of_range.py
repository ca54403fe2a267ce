# SPDX-License-Identifier: GPL-2.0-or-later
"""A responder who is out of range at first keeps nobody else's lab from coming up, and may walk into range."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from system.realtime_support import realtime_support
from testbed.labs import lab_status
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file
from testbed.run import run
from testbed.views import lab_view

pytestmark = pytest.mark.lab

#: By free space 9 km are 20 dB and more below what the most robust rate takes; 50 m are 25 dB above.
NETWORK = """\
name: walk
centre: ap
hosts:
  ap: {address: 10.0.0.1/24}
  near: {address: 10.0.0.2/24}
  walker: {address: 10.0.0.3/24}
netboxes:
  cell:
    technology: wifi
    standard: 802.11a
    tx_power: 16 dBm
    stations:
      ap: {role: access-point, position: [0 m, 0 m]}
      near: {role: station, position: [20 m, 0 m]}
      walker: {role: station, position: [9 km, 0 m]}
wires:
  - [ap, cell.ap]
  - [near, cell.near]
  - [walker, cell.walker]
traffic:
  readings: {application: udp-flow, from: near, to: ap, rate: 40 kbit/s, payload: 72 B, duration: 5 s}
  steps: {application: udp-flow, from: walker, to: ap, port: 7000, rate: 40 kbit/s, payload: 72 B, duration: 8 s}
events:
  - {at: 5 s, netbox: cell, station: walker, set: {position: [50 m, 0 m]}}
realtime: {limit: 50 ms}
"""


def test_the_lab_comes_up_and_status_says_who_has_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (file := tmp_path / "walk.yaml").write_text(NETWORK)
    with Lab.up_and_ready(plan_file(file, lab=f"walk{os.getpid()}", realtime=realtime_support())) as lab:
        done = lab.run("near", ["ping", "-c", "1", "-W", "5", "ap"])
        status = lab_status.of(lab)
    assert done.returncode == 0, done.stdout
    (netbox,) = (node["netbox"] for node in status["nodes"] if node["netbox"])
    assert netbox["ready"] and netbox["unlinked"] == {"walker": "not associated"}
    lab_view.show_status([{**status, "events": [], "began_ns": 0}], as_json=False)
    assert "no link: walker (not associated)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_a_run_begins_and_the_verdict_says_when_it_got_its_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (file := tmp_path / "walk.yaml").write_text(NETWORK)
    outcome = run(file, lab=f"walk{os.getpid()}", duration_s=None, progress=lambda _: None, results=tmp_path / "results")
    metrics = json.loads((outcome.folder / "metrics.json").read_text())
    (note,) = (note for note in metrics["verdict"]["notes"] if "no link" in note)
    assert note.startswith("netbox cell: station walker had no link when the run began (not associated), and got one after ")
    readings, steps = sorted(metrics["flows"], key=lambda flow: str(flow["name"]))
    assert readings["received"] == readings["packets"] == 250
    # Before, the walker's host does not even learn the address to send to: of 400 datagrams it keeps some hundred for then.
    (path,) = steps["paths"]
    assert path["first_s"] > 5 and 0 < steps["received"] <= steps["packets"] < 400
