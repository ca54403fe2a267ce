# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the user's own in a run, by the topology and by hand: what they sent is measured as flows are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from ruamel.yaml import YAML

from contracts.installation import CHECKOUT
from tests.traces import traces
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient]

#: What is fetched; the link lets through 2 Mbit/s, so that it takes 0.8 s at least.
_FILE_BYTES, _RATE = 200_000, 2e6
_NETWORK = f"""\
name: own
centre: office
hosts:
  office: {{address: 10.0.0.1/24}}
  field: {{address: 10.0.0.2/24}}
netboxes:
  net: {{technology: link, stations: {{office: {{rate: 2 Mbit/s}}, field: {{rate: 2 Mbit/s}}}}, delay: 10 ms}}
wires:
  - [office, net.office]
  - [field, net.field]
traffic:
  fetch:
    application: command
    from: field
    to: office
    run: python3 -c "import urllib.request as r; open('got', 'wb').write(r.urlopen('http://office:8080/file').read())"
    server: head -c {_FILE_BYTES} /dev/zero > file; exec python3 -m http.server 8080
    listens: 8080
    files: [got]
    duration: 30 s
  steady: {{application: udp-flow, from: field, to: office, rate: 40 kbit/s, payload: 72 B, duration: 6 s}}
realtime: {{limit: 50 ms}}
"""
#: A datagram each 10 ms, 100 bytes each.
_BY_HAND = """\
import socket, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("", 7001))
for _ in range(200):
    to.sendto(bytes(100), ("office", 7000))
    time.sleep(0.01)
"""


def test_what_they_send_is_measured_whoever_started_them(tmp_path: Path) -> None:
    (file := tmp_path / "own.yaml").write_text(_NETWORK)
    state, results, name = tmp_path / "state", tmp_path / "results", f"own{os.getpid()}"
    state.mkdir()
    before = traces(state)
    program = [sys.executable, str(CHECKOUT / "netboxit.py")]
    environment = {**os.environ, "NETBOXIT_STATE": str(state)}
    argv = [*program, "run", str(file), "--name", name, "--results", str(results), "--set", "traffic.steady.duration=5 s"]
    run = subprocess.Popen(argv, env=environment)
    events = results / "latest/events.jsonl"
    until(lambda: run.poll() is not None or (events.exists() and "steady starts" in events.read_text()), deadline_s=60.0)
    subprocess.run([*program, "exec", "--lab", name, "field", "python3", "-c", _BY_HAND], env=environment, check=True)
    assert run.wait(120) in (0, 3, 4)
    assert traces(state) == before
    latest = results / "latest"
    metrics = json.loads((latest / "metrics.json").read_text())
    assert json.loads((latest / "run.json").read_text())["failure"] is None

    # What the command line said is what ran, and is in what the run keeps of the file.
    assert "#   --set traffic.steady.duration=5 s\n" in (kept := (latest / "topology.yaml").read_text())
    assert YAML(typ="safe").load(kept)["traffic"]["steady"]["duration"] == "5 s"
    assert {one["name"]: one["packets"] for one in metrics["flows"]} == {"steady": pytest.approx(250, abs=2)}

    (told,) = metrics["programs"]
    assert (told["traffic"], told["from"], told["to"]) == ("fetch", "field", "office")
    assert told["absent"] == [] and told["took_s"] > _FILE_BYTES * 8 / _RATE
    assert (latest / "traffic/fetch/got").stat().st_size == _FILE_BYTES
    assert "GET /file" in (latest / "traffic/fetch/office-server.log").read_text()

    own = {(one["name"], one["direction"]): one for one in metrics["conversations"]}
    by_hand = own["udp field:7001 office:7000", "return"]
    assert (by_hand["packets"], by_hand["received"]) == (200, 200)
    assert by_hand["paths"][0]["netboxes"] == ["net"]
    # 142 bytes on Ethernet take 0.6 ms at 2 Mbit/s, and 10 ms are the link's delay.
    assert by_hand["one_way_delay_ms"]["min"] >= 10.0 + 142 * 8 / _RATE * 1e3

    (fetched,) = (one for (name, direction), one in own.items() if name.startswith("tcp") and direction == "forward")
    assert (fetched["source"], fetched["destination"]) == ("office", "field")
    assert fetched["goodput_kbps"] < _RATE / 1e3
    frames = pl.read_parquet(latest / "frames.parquet").filter(
        pl.col("flow") == fetched["name"], pl.col("direction") == "forward"
    )
    assert frames["payload_bytes"].sum() >= _FILE_BYTES
    # Both answered each other over the same netbox, which the segment tells.
    (segment,) = (one for one in metrics["segments"] if one["direction"] == "return")
    assert {"steady", "udp field:7001 office:7000"} <= segment["flows"].keys()
    assert "What else went between hosts" in (latest / "report.html").read_text()


def test_one_that_fails_makes_the_run_invalid_and_says_why(tmp_path: Path) -> None:
    text = _NETWORK.replace("office:8080/file", "office:8080/nothing")
    (file := tmp_path / "own.yaml").write_text(text)
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "run", str(file), "--name", f"own{os.getpid()}"]
    environment = {**os.environ, "NETBOXIT_STATE": str(tmp_path / "state")}
    (work := tmp_path / "work").mkdir()
    done = subprocess.run(command, env=environment, cwd=work, capture_output=True, text=True, timeout=120)
    assert done.returncode == 4
    assert "traffic fetch: run on field ended with status 1" in done.stdout and "HTTP Error 404" in done.stdout
    # Where nobody says, results are below the folder that one works in.
    assert json.loads((work / "results/latest/metrics.json").read_text())["verdict"]["status"] == "invalid"
