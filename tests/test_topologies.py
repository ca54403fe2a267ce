# SPDX-License-Identifier: GPL-2.0-or-later
"""The example topologies: all can be planned, and those of one technology carry their traffic in a lab."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.plan import RealtimeSupport
from testbed.planning import plan_file
from testbed.rootfs import CHECKOUT
from tests.traces import traces

FOLDER = CHECKOUT / "topologies"
EXAMPLES = sorted(file.name for file in FOLDER.glob("*.yaml") if not file.name.endswith(".reference.yaml"))
#: Run by tests of their own (`test_emergency.py`, `test_disaster.py`), or by `make e4`, `e5`, `e6`.
ELSEWHERE = {"emergency.yaml", "disaster.yaml", "e4.yaml", "e4-distance.yaml", "e5.yaml", "e6.yaml"}
#: What the examples' own times are cut to: they are for somebody who watches.
SECONDS = 4.0


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_can_be_planned(name: str) -> None:
    plan = plan_file(FOLDER / name, realtime=RealtimeSupport(True, 950_000, "SCHED_FIFO works"), cores=(0, 1))
    assert any(node.kind == "netbox" for node in plan.nodes)
    assert plan.traffic


@pytest.mark.lab
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ELSEWHERE])
def test_an_example_carries_its_traffic(name: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "topologies")
    (tmp_path / "click").symlink_to(CHECKOUT / "click")
    file = tmp_path / "topologies" / name
    file.write_text(shortened(file.read_text()))
    (state := tmp_path / "state").mkdir()
    before = traces(state)
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "run", str(file), "--json"]
    command += ["--name", f"example{os.getpid()}", "--duration", f"{SECONDS:g} s", "--results", str(tmp_path / "results")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "NETBOXIT_STATE": str(state)})
    assert run.returncode in (0, 3, 4), run.stderr
    latest = tmp_path / "results" / "latest"
    assert json.loads((latest / "run.json").read_text())["failure"] is None
    metrics = json.loads((latest / "metrics.json").read_text())
    assert {flow["name"]: flow["received"] > 0 for flow in metrics["flows"]} == {flow["name"]: True for flow in metrics["flows"]}
    assert metrics["flows"]
    assert traces(state) == before


def shortened(topology: str) -> str:
    """The same network, with traffic that begins at once and lasts SECONDS, and events within them. Waypoints stay."""
    for key, longest in ((r"\bstart", 0.5), (r"\bduration", SECONDS), (r"- {at", SECONDS / 2)):
        for found in sorted(set(re.findall(rf"{key}: [0-9.]+ s\b(?!, position)", topology))):
            words, seconds = found.rsplit(":", 1)
            topology = topology.replace(found, f"{words}: {min(float(seconds.removesuffix('s')), longest):g} s")
    return topology
