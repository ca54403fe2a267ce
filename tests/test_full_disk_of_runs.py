# SPDX-License-Identifier: GPL-2.0-or-later
"""A run whose results are on a disk that becomes full: it says so, keeps what it can, and takes its lab down."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from tests.full_disks import Kind, Unit, mounted
from tests.host_state import ALL, HostState
from tests.own_commands import FILE, Running, lasting_changes, prepare
from tests.own_host import run_in_own_host

pytestmark = pytest.mark.lab

_RESULTS = Path("/run/results")
#: It takes about 120 kB for each capture, 70 kB for what nodes leave, 40 kB for what the analysis finds, 190 kB for the report.
_TOPOLOGY = """\
name: x
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  net: {technology: link, stations: {a: {rate: 10 Mbit/s}, b: {rate: 10 Mbit/s}}}
wires:
  - [a, net.a]
  - [b, net.b]
traffic:
  flow: {application: udp-flow, from: a, to: b, rate: 4 Mbit/s, payload: 1200 B, duration: 1 s}
"""
#: A client of each records what it does, and nginx each request.
_PAGES_AND_VIDEO = """\
  pages: {application: web, from: a, to: b, pages: [{objects: [20 kB, 5 kB]}], duration: 2 s, variant: newreno}
  film: {application: dash, from: a, to: b, ladder: [500 kbit/s], port: 8081, duration: 2 s, variant: newreno}
"""
#: Left in a run's folder by a run that came to its end.
_TABLES = {"frames.parquet", "series.parquet", "flows.parquet", "measures.parquet"}
_WHOLE = {*_TABLES, "metrics.json", "report.html", "run.json", "lab.json"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "unit", "rooms"),
    [
        # None, some while it captures, while it collects and while it makes the report, and enough.
        ("tmpfs", "KiB", (*range(0, 600, 75), 24000)),
        ("tmpfs", "inodes", (*range(0, 40, 8), 200)),
        ("ext4", "KiB", (*range(0, 600, 120), 24000)),
    ],
)
def test_a_run_tells_what_it_could_not_keep_and_leaves_nothing(kind: Kind, unit: Unit, rooms: Sequence[int]) -> None:
    told = run_in_own_host(_run_with, _TOPOLOGY, kind, unit, rooms)
    assert "No space left on device" in told[0]
    assert "No space left on device" not in told[-1], "there was enough room"


@pytest.mark.long
def test_a_run_with_pages_and_a_video_tells_the_same() -> None:
    told = run_in_own_host(_run_with, _TOPOLOGY + _PAGES_AND_VIDEO, "tmpfs", "KiB", (700,))
    assert "No space left on device" in told[0]


def _run_with(topology: str, kind: Kind, unit: Unit, rooms: Sequence[int]) -> list[str]:
    """What `run` said with so much room, where its status was none of 0; anything that is wrong is raised."""
    prepare()
    FILE.write_text(topology)
    _RESULTS.mkdir()
    before = HostState.now(ALL)
    told = []
    for room in rooms:
        # Also what is left of the run goes before the host is looked at.
        with mounted(kind, _RESULTS) as disk, disk.room(room, unit):
            told.append(said := _run())
            wrong = _wrong(said)
            shutil.rmtree(_RESULTS / "runs", ignore_errors=True)
        wrong += Running("down", "--all").complaint() + lasting_changes(before)
        assert not wrong, f"{room} {unit}: {wrong}{said}"
    return told


def _run() -> str:
    """What `run` said, if it failed. In a program of its own, since polars does not work in a fork of what has used it."""
    argv = [sys.executable, str(CHECKOUT / "netboxit.py"), "run", str(FILE), "--results", str(_RESULTS)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    return f"run ended with {done.returncode}:\n{done.stdout}\n" if done.returncode else ""


def _wrong(said: str) -> str:
    """What the run should have said, or kept, and did not; empty as it should be."""
    wrong = []
    found = {file.name for file in _RESULTS.glob("runs/*/*")}
    status = int(said.partition(" ended with ")[2].partition(":")[0] or 0)
    if "defect" in said or "Traceback" in said:
        wrong.append("it took that for a defect")
    if "No space left on device" not in said and not found >= _WHOLE:
        wrong.append(f"it does not say why {sorted(_WHOLE - found)} are missing")
    if "No space left on device" in said and (status not in (1, 2) or not ("free some" in said or "--results" in said)):
        wrong.append(f"it ended with {status}, or without the remedy")
    if "run.json" in found and status == 1 and "netboxit report" not in said:
        wrong.append("it does not say that the results are kept")
    if list(Path("/run/state/labs").glob("*")):
        wrong.append("it left its lab")
    if "frames.parquet" in found and "run.json" not in found:
        wrong.append("it analysed what is not whole")
    return "".join(f"{one}\n" for one in wrong)
