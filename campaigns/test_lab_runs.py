# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns in real time: killed with a lab up, interrupted, and left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from campaigns.lab_runs import lab_of
from contracts.campaign import INDEX_FILE, campaign_folder
from contracts.installation import CHECKOUT
from system.cores import available_cores

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.usefixtures("nothing_left")]

TOPOLOGY: Final = """
name: small
centre: b
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
netboxes: {line: {technology: link, stations: {a: {}, b: {}}, delay: 5 ms}}
wires: [[a, line.a], [line.b, b]]
traffic: {probe: {application: udp-flow, from: a, to: b, rate: 80 kbit/s, payload: 100 B, duration: 2 s}}
realtime: {limit: 1 s}
"""
FILE: Final = """
campaign: in-labs
topology: small.yaml
parameters: {delay: {path: netboxes.line.delay, values: [5 ms, 10 ms]}}
repetitions: 2
keep: figures
"""
_DEADLINE_S: Final = 120.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(TOPOLOGY)
    (tmp_path / "in-labs.yaml").write_text(FILE)
    return tmp_path / "in-labs.yaml"


def begun(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, CHECKOUT / "netboxit.py", "campaign", file, "--results", file.parent, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def rows(file: Path) -> list[dict[str, Any]]:
    index = campaign_folder(file.parent, "in-labs") / INDEX_FILE
    return [json.loads(line) for line in index.read_text().splitlines()] if index.exists() else []


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + _DEADLINE_S
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def test_killed_with_its_lab_up_it_has_each_run_once_in_the_end(file: Path, state_folder: Path) -> None:
    first = begun(file)
    wait_until(
        lambda: len(rows(file)) == 1 and (state_folder / "labs" / lab_of(campaign_folder(file.parent, "in-labs"))).is_dir(), first
    )
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    second = begun(file)
    told, said = second.communicate()
    assert second.returncode == 0, said
    outcome = json.loads(told.splitlines()[-1])
    assert (outcome["runs"]["valid"], outcome["made"]) == (4, 3)
    # On a busy machine one may be degraded, and is made again after the next one.
    assert sorted(row["name"] for row in rows(file)) == ["0000-00", "0000-01", "0001-00", "0001-01"]
    delays = {row["name"]: _delay_ms(file, row["name"]) for row in rows(file)}
    for name, delay_ms in delays.items():
        assert delay_ms == pytest.approx(5.0 if name.startswith("0000") else 10.0, abs=3.0)


#: Two labs at a time on a machine of two cores: each has one, and so is late, which the topology allows.
TWO: Final = """
import sys
from pathlib import Path
from campaigns.campaign import Campaign
from campaigns.lab_runs import LabRuns
from campaigns.running import carry
from contracts.campaign import campaign_folder
from system.cores import available_cores

file = Path(sys.argv[1])
folder = campaign_folder(file.parent, "in-labs")
print(carry(Campaign.load(file), folder, LabRuns(folder, [[core] for core in available_cores()[:2]]), lambda _: None)["made"])
"""


@pytest.mark.parametrize("kill", [os.kill, os.killpg])
def test_two_labs_at_a_time_have_cores_of_their_own_and_are_gone_after_a_kill(
    file: Path, state_folder: Path, kill: Callable[[int, int], None]
) -> None:
    if len(available_cores()) < 2:
        pytest.skip("two labs at a time need two cores")
    folder = campaign_folder(file.parent, "in-labs")
    plans = [state_folder / "labs" / lab_of(folder, slot) / "plan.json" for slot in range(2)]

    def begun() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", TWO, file],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    first = begun()
    wait_until(lambda: len(rows(file)) > 0 and all(plan.exists() for plan in plans), first)
    cores = [{core for node in json.loads(plan.read_text())["nodes"] for core in node["cores"]} for plan in plans]
    assert cores == [{core} for core in available_cores()[:2]]
    kill(first.pid, signal.SIGKILL)
    first.communicate()
    before = len(rows(file))
    second = begun()
    made, said = second.communicate()
    assert second.returncode == 0, said
    assert int(made) == 4 - before
    assert sorted(row["name"] for row in rows(file)) == ["0000-00", "0000-01", "0001-00", "0001-01"]
    assert not (state_folder / "labs").exists() or not any((state_folder / "labs").iterdir())
    assert not any(folder.glob(".lab-*"))


def test_ctrl_c_takes_its_lab_down(file: Path, state_folder: Path) -> None:
    process = begun(file)
    wait_until(lambda: (state_folder / "labs" / lab_of(campaign_folder(file.parent, "in-labs"))).is_dir(), process)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert rows(file) == []


def _delay_ms(file: Path, name: str) -> float:
    metrics = json.loads((campaign_folder(file.parent, "in-labs") / "runs" / name / "metrics.json").read_text())
    (flow,) = [flow for flow in metrics["flows"] if flow["one_way_delay_ms"]]
    return float(flow["one_way_delay_ms"]["p50"])
