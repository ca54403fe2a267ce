# SPDX-License-Identifier: GPL-2.0-or-later
"""The emergency network from YAML to report, and what becomes of it when something goes wrong on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from ownership import state
from system import cores
from testbed.labs.lab import Lab
from tests.traces import traces

pytestmark = pytest.mark.lab

EMERGENCY = CHECKOUT / "topologies" / "emergency.yaml"
SECONDS = 8.0
NAME = f"em{os.getpid()}"
STATISTICS = {"mean", "min", "max", "p50", "p99"}

#: One way through the satellite (topologies/emergency.yaml), and a frame of the WiMAX cell, in ms.
SATELLITE_MS, WIMAX_FRAME_MS = 254.0, 10.0


@pytest.fixture(scope="module")
def labs_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("state")
    kept = os.environ.get("NETBOXIT_STATE")
    os.environ["NETBOXIT_STATE"] = str(folder)
    yield folder
    del os.environ["NETBOXIT_STATE"]
    if kept is not None:
        os.environ["NETBOXIT_STATE"] = kept


@pytest.fixture
def nothing_left(labs_of_their_own: Path) -> Iterator[None]:
    before = traces(labs_of_their_own)
    yield
    assert traces(labs_of_their_own) == before


def start(results: Path, duration: str = f"{SECONDS:g} s") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, CHECKOUT / "netboxit.py", "run", EMERGENCY, "--json"),
            *("--name", NAME, "--duration", duration, "--results", results),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def metrics_of(results: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((results / "latest" / "metrics.json").read_text())
    return found


def wait_for_traffic(run: subprocess.Popen[str], results: Path) -> None:
    """Until the call is on: then both agents have logged that it is established."""
    deadline = time.monotonic() + 60.0
    logs = [results / "latest" / "traffic" / "call" / f"{host}-baresip.log" for host in ("fr1", "eoc")]
    while not all(log.exists() and "stablished" in log.read_text(errors="replace") for log in logs):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def carried(labs_of_their_own: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of the whole network: its results folder."""
    results = tmp_path_factory.mktemp("results")
    before = traces(labs_of_their_own)
    run = start(results)
    output, errors = run.communicate(timeout=180)
    metrics = metrics_of(results)
    assert {"valid": 0, "degraded": 3, "invalid": 4}[metrics["verdict"]["status"]] == run.returncode, (output, errors)
    assert (metrics["verdict"]["reasons"] == []) == (run.returncode == 0)
    assert json.loads((results / "latest" / "run.json").read_text())["failure"] is None
    assert traces(labs_of_their_own) == before
    return results


def test_metrics_hold_what_programs_look_for(carried: Path) -> None:
    metrics = metrics_of(carried)
    flows = {(flow["name"], flow["direction"]): flow for flow in metrics["flows"]}
    assert set(flows) == {("call.voice", "return"), ("call.voice", "forward"), ("camera.video", "return")}
    for flow in flows.values():
        assert flow["one_way_delay_ms"].keys() >= STATISTICS
        assert flow["jitter_ms"].keys() >= STATISTICS
        assert flow["packets"] > 0
        assert flow["goodput_kbps"] > 0
    netboxes = {"field", "longhaul", "backhaul"}
    assert {segment["netbox"] for segment in metrics["segments"]} == netboxes
    assert metrics["lateness_us"].keys() == netboxes
    for lateness in metrics["lateness_us"].values():
        assert lateness.keys() >= {"p50", "p99", "p99_9", "max"}
    assert metrics["overhead_us"].keys() >= STATISTICS
    assert {voice["direction"] for voice in metrics["voice"]} == {"return", "forward"}
    assert all(1.0 <= voice["mos_e_model"] <= 4.5 for voice in metrics["voice"])


def test_the_call_takes_the_satellite_and_a_wimax_grant(carried: Path) -> None:
    """Lower bounds only: what is more may be the emulator's lateness, which the verdict judges."""
    flows = {(flow["name"], flow["direction"]): flow["one_way_delay_ms"] for flow in metrics_of(carried)["flows"]}
    assert flows["call.voice", "forward"]["min"] > SATELLITE_MS
    # Polled in one frame, granted in a later one: not all of a call's packets can do with less than half a frame.
    assert flows["call.voice", "return"]["mean"] > SATELLITE_MS + WIMAX_FRAME_MS / 2


def test_each_end_hears_the_other_one(carried: Path) -> None:
    for voice in metrics_of(carried)["voice"]:
        assert voice["heard"]["intelligible"], voice
        assert (carried / "latest" / voice["heard_file"]).stat().st_size > 8000 * 2 * SECONDS / 2


def test_the_video_decodes(carried: Path) -> None:
    (video,) = metrics_of(carried)["video"]
    assert video["decoded"]["frames_decoded"] > 0.5 * video["decoded"]["frames_sent"] > 0


def test_the_report_opens_without_a_network(carried: Path) -> None:
    report = (carried / "latest" / "report.html").read_text()
    assert "Table 6.4" in report
    assert 'src="http' not in report
    assert "<audio" in report


def test_a_report_can_be_made_again_from_the_run_folder(carried: Path) -> None:
    before = metrics_of(carried)
    subprocess.run([sys.executable, CHECKOUT / "netboxit.py", "report", carried / "latest"], check=False, capture_output=True)
    assert metrics_of(carried) == before


def test_a_netbox_that_dies_makes_the_run_invalid_and_leaves_nothing(tmp_path: Path, nothing_left: None) -> None:
    run = start(tmp_path, "60 s")
    wait_for_traffic(run, tmp_path)
    inside = cores.processes(Lab.open(NAME).node("longhaul").container)
    (netbox,) = (pid for pid in inside if Path(f"/proc/{pid}/comm").read_text().strip() == "netbox-wimax")
    os.kill(netbox, signal.SIGKILL)
    assert run.wait(60) == 4
    reasons = metrics_of(tmp_path)["verdict"]["reasons"]
    assert any("longhaul" in reason and "ended" in reason for reason in reasons), reasons
    assert (tmp_path / "latest" / "captures" / "fr1.pcapng").exists()
    assert (tmp_path / "latest" / "nodes" / "field" / "frames.bin").exists()


def test_an_interrupted_run_is_taken_down_and_says_so(tmp_path: Path, nothing_left: None) -> None:
    run = start(tmp_path, "60 s")
    wait_for_traffic(run, tmp_path)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    kept = (tmp_path / "latest").resolve()
    end = f"netboxit: interrupted; lab {NAME} was removed; what was measured until then is in {kept}"
    assert (run.returncode, told.splitlines()[-1]) == (1, end)
    assert "interrupted" in json.loads((tmp_path / "latest" / "run.json").read_text())["failure"]


def test_a_killed_run_is_removed_by_down(tmp_path: Path, nothing_left: None) -> None:
    run = start(tmp_path, "60 s")
    wait_for_traffic(run, tmp_path)
    run.kill()
    run.wait(10)
    assert NAME in state.lab_names()
    subprocess.run([sys.executable, CHECKOUT / "netboxit.py", "down", NAME], check=True, capture_output=True)
