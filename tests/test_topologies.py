# SPDX-License-Identifier: GPL-2.0-or-later
"""The example topologies: all can be planned, and those of one technology carry their traffic in a lab."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from testbed.plans.planning import plan_file
from tests.traces import traces
from tests.waiting import until

FOLDER = CHECKOUT / "topologies"
EXAMPLES = sorted(file.name for file in FOLDER.glob("*.yaml") if not file.name.endswith(".reference.yaml"))
#: Run by tests of their own (`test_emergency.py`, `test_disaster.py`), or by `make e4`, `e5`, `e6`.
ELSEWHERE = {"emergency.yaml", "disaster.yaml", "e4.yaml", "e4-distance.yaml", "e5.yaml", "e6.yaml"}
RUN_HERE = [name for name in EXAMPLES if name not in ELSEWHERE]
#: In `make test`: technologies that no other run has, and routers in a row.
SHORT = {"chain.yaml", "lte.yaml", "pan.yaml", "pmr.yaml"}
#: What the examples' own times are cut to: they are for somebody who watches.
SECONDS = 4.0

#: A lab is planned with the real-time service that is left, and fails when another takes it before it does.
STARTING = Lock()

#: How `netboxit run` ended, and the folder of the run.
Run = tuple[subprocess.CompletedProcess[str], Path]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_can_be_planned(name: str) -> None:
    plan = plan_file(FOLDER / name, realtime=RealtimeSupport(True, 950_000, "SCHED_FIFO works"), cores=(0, 1))
    assert any(node.kind == "netbox" for node in plan.nodes)
    assert plan.traffic


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Run]]]:
    """Those that are asked for, two at a time: much of a run is waiting. Nothing of their labs is left when all are over."""
    asked = [name for name in RUN_HERE if any(item.name.endswith(f"traffic[{name}]") for item in request.session.items)]
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(FOLDER, folder / "topologies")
    (folder / "click").symlink_to(CHECKOUT / "click")
    (state := folder / "state").mkdir()
    before = traces(state)
    with ThreadPoolExecutor(2) as pool:
        yield {name: pool.submit(run, folder, name, number) for number, name in enumerate(asked)}
    assert traces(state) == before


def run(folder: Path, name: str, number: int) -> Run:
    file = folder / "topologies" / name
    file.write_text(shortened(file.read_text()))
    results = folder / "results" / name
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "run", str(file), "--json"]
    command += ["--name", lab := f"ex{number}-{os.getpid()}", "--duration", f"{SECONDS:g} s", "--results", str(results)]
    environment = {**os.environ, "NETBOXIT_STATE": str(state := folder / "state")}
    with STARTING:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        ledger = state / "labs" / lab / "ledger.jsonl"
        until(lambda: process.poll() is not None or (ledger.exists() and '"container"' in ledger.read_text()), deadline_s=60.0)
    output, errors = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, output, errors), results / "latest"


@pytest.mark.lab
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in SHORT else pytest.mark.long) for name in RUN_HERE])
def test_an_example_carries_its_traffic(name: str, runs: dict[str, Future[Run]]) -> None:
    ended, latest = runs[name].result()
    assert ended.returncode in (0, 3, 4), ended.stderr
    assert json.loads((latest / "run.json").read_text())["failure"] is None
    metrics = json.loads((latest / "metrics.json").read_text())
    assert {flow["name"]: flow["received"] > 0 for flow in metrics["flows"]} == {flow["name"]: True for flow in metrics["flows"]}
    assert metrics["flows"]


def in_virtual_time(file: Path, results: Path, duration: str) -> dict[str, dict[str, Any]]:
    """The flows of a run, by name and direction."""
    command = [sys.executable, CHECKOUT / "netboxit.py", "run", file, "--virtual", "--duration", duration, "--results", results]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    flows = json.loads((results / "latest/metrics.json").read_text())["flows"]
    return {f"{flow['name']} {flow['direction']}": flow for flow in flows}


def test_players_of_the_streaming_example_get_their_video_in_virtual_time(tmp_path: Path) -> None:
    flows = in_virtual_time(FOLDER / "streaming.yaml", tmp_path, "10 s")
    assert set(flows) == {"by-throughput return", "by-buffer return"}
    assert all(flow["received"] > 0 for flow in flows.values())


@pytest.mark.long
def test_speech_of_the_web_example_waits_for_pages_only_without_priority(tmp_path: Path) -> None:
    """At 1 Mbit/s a frame of 1500 bytes takes 12 ms. With priority speech waits for those being sent (regression: two)."""
    text = (FOLDER / "web.yaml").read_text()
    (tmp_path / "shared.yaml").write_text(text.replace("    queue: priority\n", ""))
    first = in_virtual_time(FOLDER / "web.yaml", tmp_path / "first", "30 s")
    shared = in_virtual_time(tmp_path / "shared.yaml", tmp_path / "shared", "30 s")
    delays = [flows["call.voice forward"]["one_way_delay_ms"] for flows in (first, shared)]
    waits = [delay["max"] - delay["min"] for delay in delays]
    assert waits[0] < 25 < 100 < waits[1]
    assert first["pages.pages forward"]["received"] > 0 < first["news.pages forward"]["received"]


def shortened(topology: str) -> str:
    """The same network, with traffic that begins at once and lasts SECONDS, and events within them. Waypoints stay."""
    for key, longest in ((r"\bstart", 0.5), (r"\bduration", SECONDS), (r"- {at", SECONDS / 2)):
        for found in sorted(set(re.findall(rf"{key}: [0-9.]+ s\b(?!, position)", topology))):
            words, seconds = found.rsplit(":", 1)
            topology = topology.replace(found, f"{words}: {min(float(seconds.removesuffix('s')), longest):g} s")
    return topology
