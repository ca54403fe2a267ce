# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic whose path OSPF chooses, by cost and not by the fewest wires, and which it moves when that path fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from tests.detour import network
from tests.traces import traces

pytestmark = pytest.mark.lab

LAB = f"""{network("technology: link, delay: 5 ms", "technology: link, delay: 20 ms")}\
traffic:
  readings: {{application: udp-flow, from: a, to: b, rate: 40 kbit/s, payload: 72 B, duration: 10 s}}
events:
  - {{at: 4 s, wire: [west.up, first.x], state: down}}
realtime: {{limit: 50 ms}}
"""


@pytest.fixture(scope="module")
def planned_and_measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], dict[str, Any], Path]]:
    """The load that `plan` reckons, the metrics of one run, and its folder."""
    folder = tmp_path_factory.mktemp("paths")
    (folder / "detour.yaml").write_text(LAB)
    (state := folder / "state").mkdir()
    before = traces(state)
    environment = {**os.environ, "NETBOXIT_STATE": str(state)}
    command = [sys.executable, str(CHECKOUT / "netboxit.py")]
    name = ["--name", f"det{os.getpid()}", "--json"]
    plan = subprocess.run(
        [*command, "plan", str(folder / "detour.yaml"), *name], capture_output=True, check=True, env=environment
    )
    options = [*name, "--results", str(folder / "results")]
    run = subprocess.run(
        [*command, "run", str(folder / "detour.yaml"), *options], capture_output=True, text=True, timeout=240, env=environment
    )
    assert run.returncode in (0, 3, 4), run.stderr
    latest = folder / "results" / "latest"
    assert json.loads((latest / "run.json").read_text())["failure"] is None
    assert traces(state) == before
    yield json.loads(plan.stdout)["load"], json.loads((latest / "metrics.json").read_text()), latest


Measured = tuple[dict[str, Any], dict[str, Any], Path]


def test_frames_take_the_path_that_is_planned_and_after_the_failure_the_other_one(planned_and_measured: Measured) -> None:
    load, metrics, _ = planned_and_measured
    (flow,) = metrics["flows"]
    (planned,) = load["paths"]
    failures = {part: failure for failure in load["failures"] for part in failure["parts"]}
    (then,) = failures["wire west.up--first.x"]["moved"]
    assert (
        [path["netboxes"] for path in flow["paths"]] == [*planned["paths"], *then["paths"]] == [["first", "second"], ["direct"]]
    )
    (change,) = flow["path_changes"]["list"]
    assert (change["from"], change["to"]) == (["first", "second"], ["direct"])
    assert change["time_s"] >= 4.0
    cheap, dear = flow["paths"]
    assert cheap["last_s"] <= 4.5 and dear["first_s"] == change["time_s"]
    assert cheap["one_way_delay_ms"]["min"] >= 40.0
    assert 5.0 <= dear["one_way_delay_ms"]["min"] < 40.0


def test_segments_gaps_and_overhead_are_measured_on_both_paths(planned_and_measured: Measured) -> None:
    _, metrics, _ = planned_and_measured
    (flow,) = metrics["flows"]
    received = {path["netboxes"][-1]: path["received"] for path in flow["paths"]}
    segments = {one["netbox"]: one for one in metrics["segments"]}
    assert set(segments) == {"first", "second", "direct"}
    for netbox, frames in received.items():
        assert segments[netbox]["one_way_delay_ms"]["count"] >= frames
    assert segments["first"]["one_way_delay_ms"]["min"] >= 20.0
    gaps = {(one["from"], one["to"]): one for one in metrics["gaps"]}
    assert {pair: one["routers"] for pair, one in gaps.items()} == {
        ("a", "first"): ["west"],
        ("first", "second"): ["relay"],
        ("second", "b"): ["east"],
        ("a", "direct"): ["west"],
        ("direct", "b"): ["east"],
    }
    assert all(one["us"]["count"] >= 1 for one in gaps.values())
    assert metrics["overhead_us"]["count"] == flow["received"]


def test_the_report_tells_both_paths(planned_and_measured: Measured) -> None:
    page = (planned_and_measured[2] / "report.html").read_text()
    assert "The paths of frames" in page and "from first, second to direct" in page
