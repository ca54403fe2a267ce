# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns in virtual time for real: by the command, with its processes killed, against one that was left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.campaign import INDEX_FILE, campaign_folder
from contracts.installation import CHECKOUT
from contracts.run_folder import FLOWS_TABLE, FRAMES_TABLE, REPORT_FILE
from system import processes
from tests.descendants import descendants
from tests.waiting import until

FILE: Final = f"""
campaign: killed
topology: {CHECKOUT}/topologies/link.yaml
virtual: true
duration: 3 s
parameters:
  delay: {{path: netboxes.access.delay, values: [5 ms, 10 ms]}}
repetitions: 3
keep: frames
"""
#: Until a run is over on a busy machine.
_DEADLINE_S: Final = 120.0


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("campaign") / "killed.yaml"
    file.write_text(FILE)
    return file


@pytest.fixture(scope="module")
def alone(file: Path) -> Path:
    """The folder of one that was left alone."""
    subprocess.run(command(file, file.parent / "alone"), check=True, capture_output=True)
    return campaign_folder(file.parent / "alone", "killed")


def command(file: Path, results: Path) -> list[str | Path]:
    return [sys.executable, CHECKOUT / "netboxit.py", "campaign", file, "--results", results, "--json"]


def rows(folder: Path) -> list[dict[str, Any]]:
    """Of the index, without what they took."""
    lines = [json.loads(line) for line in (folder / INDEX_FILE).read_text().splitlines()]
    return sorted(({**line, "took_s": None} for line in lines), key=lambda line: str(line["name"]))


def over(folder: Path) -> int:
    return len((folder / INDEX_FILE).read_text().splitlines()) if (folder / INDEX_FILE).exists() else 0


def same(one: Path, other: Path) -> None:
    assert rows(one) == rows(other)
    for row in rows(one):
        for table in (FLOWS_TABLE, FRAMES_TABLE):
            assert (one / "runs" / row["name"] / table).read_bytes() == (other / "runs" / row["name"] / table).read_bytes()


@pytest.mark.long
def test_killed_twice_it_has_the_same_runs_to_the_bit(file: Path, alone: Path) -> None:
    folder = campaign_folder(file.parent / "often", "killed")
    for least in (1, 3):
        process = subprocess.Popen(command(file, file.parent / "often"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: over(folder) >= least or process.poll() is not None, deadline_s=_DEADLINE_S)  # noqa: B023  # called at once
        workers = list(descendants(process.pid))
        process.kill()
        process.wait()
        # The kernel ends its processes with it, and what they started.
        until(lambda: not any(Path(f"/proc/{worker}/exe").exists() for worker in workers), deadline_s=_DEADLINE_S)  # noqa: B023
    done = subprocess.run(command(file, file.parent / "often"), check=True, capture_output=True, text=True)
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["runs"] == {"valid": 6, "degraded": 0, "invalid": 0}
    assert 0 < outcome["made"] < 6
    same(alone, folder)


def test_a_worker_that_is_killed_loses_nothing(file: Path, alone: Path) -> None:
    folder = campaign_folder(file.parent / "worker", "killed")
    process = subprocess.Popen(command(file, file.parent / "worker"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: over(folder) >= 1, deadline_s=_DEADLINE_S)
    for worker in list(descendants(process.pid)):
        if b"spawn_main" in processes.command_line(worker):
            os.kill(worker, signal.SIGKILL)
            break
    assert process.wait() == 0
    same(alone, folder)


def test_ctrl_c_ends_it_also_while_long_plans_wait_for_processes(tmp_path: Path) -> None:
    """A plan of the disaster network has more bytes than a pipe holds (64 KiB, pipe(7))."""
    text = FILE.replace("killed", "long").replace("link.yaml", "disaster.yaml").replace("duration: 3 s", "duration: 60 s")
    (file := tmp_path / "long.yaml").write_text(text.replace("netboxes.access.delay", "netboxes.satellite-a.delay"))
    process = subprocess.Popen(
        command(file, tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    new = campaign_folder(tmp_path, "long") / ".new"
    until(lambda: process.poll() is not None or any(new.glob("*/topology.yaml")), deadline_s=_DEADLINE_S)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=_DEADLINE_S)
    assert process.returncode == 1
    assert "the same command goes on" in said


def test_ctrl_c_ends_it_and_leaves_no_process(file: Path) -> None:
    folder = campaign_folder(file.parent / "ended", "killed")
    process = subprocess.Popen(
        command(file, file.parent / "ended"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: over(folder) >= 1, deadline_s=_DEADLINE_S)
    workers = list(descendants(process.pid))
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert not any(Path(f"/proc/{worker}/exe").exists() for worker in workers)
    assert not (folder / ".new").exists()


def test_it_ends_with_a_report_of_its_runs(alone: Path) -> None:
    text = (alone / REPORT_FILE).read_text()
    assert "<strong>6 runs</strong>" in text and "6 valid, at 2 points" in text
    # Each measure by the delay, and the distribution of the delay of each flow.
    assert text.count("call.return.delay_ms_mean by delay") == 1 and "one-way delay of call.voice, return" in text


def test_what_is_not_kept_is_not_there(alone: Path) -> None:
    run = alone / "runs" / "0000-00"
    assert not (run / "captures").exists()
    assert not (run / REPORT_FILE).exists()
    refused = subprocess.run(
        [sys.executable, CHECKOUT / "netboxit.py", "report", run], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "only frames were kept" in refused.stderr
