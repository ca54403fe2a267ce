# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox that gets no CPU time for a while: the run must say so. What takes it is a thread of a higher priority."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from system import cores
from system.realtime_support import realtime_support
from testbed.run import Outcome, run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: A WiMAX cell has something to do in each of its frames, also without traffic.
CELL = """\
name: starved
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  cell:
    technology: wimax
    distance: 1 km
    frame: 5 ms
    stations: {base: {role: base}, far: {role: subscriber}}
wires:
  - [a, cell.base]
  - [cell.far, b]
realtime: {limit: 100 ms, policy: %s}
"""

STARVED_S = 0.4
BURN = f"""
import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
end = time.monotonic() + {STARVED_S}
while time.monotonic() < end:
    pass
"""


@contextmanager
def burner(core: int) -> Iterator[Callable[[str], None]]:
    """Occupies a core once, when it is told that the traffic has begun."""
    started: list[subprocess.Popen[bytes]] = []

    def told(step: str) -> None:
        if step.startswith("traffic") and not started:
            started.append(subprocess.Popen([sys.executable, "-c", BURN, str(core)]))

    try:
        yield told
        assert [program.wait(10) for program in started] == [0]
    finally:
        for program in started:
            program.kill()
            program.wait()


def carried_out(folder: Path, policy: str, progress: Callable[[str], None]) -> Outcome:
    file = folder / "starved.yaml"
    file.write_text(CELL % policy)
    return run(file, lab=f"starved-{os.getpid()}", duration_s=2.0, progress=progress, results=folder / "results")


@pytest.fixture
def core_of_netboxes() -> int:
    support = realtime_support()
    if not support.fifo:
        pytest.skip(support.reason)
    if len(found := cores.available_cores()) < 2:
        pytest.skip("with one core there is none to starve the netbox on and still run the test")
    return found[1]


def test_a_netbox_that_is_let_alone_keeps_its_time(tmp_path: Path, core_of_netboxes: int) -> None:
    found = carried_out(tmp_path, "abort", lambda _: None).metrics
    assert found["verdict"]["status"] != "invalid"
    assert found["netboxes"]["cell"] | {"limit_us": 100e3, "policy": "abort", "missed": 0} == found["netboxes"]["cell"]
    assert found["lateness_us"]["cell"]["event"]["count"] > 100


def test_a_starved_netbox_makes_the_run_invalid_and_its_misses_have_their_times(tmp_path: Path, core_of_netboxes: int) -> None:
    with burner(core_of_netboxes) as progress:
        found: Any = carried_out(tmp_path, "mark", progress).metrics
    assert found["verdict"]["status"] == "invalid"
    assert "netbox cell: one in a hundred events" in found["verdict"]["reasons"][0]
    kept = found["netboxes"]["cell"]
    assert kept["missed"] >= 10
    assert all(0 <= miss["after_s"] < 4 and miss["lateness_us"] > 100e3 for miss in kept["misses"])
    assert found["lateness_us"]["cell"]["event"]["max"] > 0.5 * STARVED_S * 1e6
    page = (tmp_path / "results" / "latest" / "report.html").read_text()
    assert "What was later than the limit" in page


def test_with_policy_abort_a_starved_netbox_ends_the_run_and_says_why(tmp_path: Path, core_of_netboxes: int) -> None:
    with burner(core_of_netboxes) as progress:
        outcome = carried_out(tmp_path, "abort", progress)
    found = outcome.metrics
    assert found["verdict"]["status"] == "invalid"
    reason = found["verdict"]["reasons"][0]
    assert "node cell has ended" in reason
    assert "policy abort: an event due at" in reason
    assert "and the limit is 100000 us" in reason
    assert found["netboxes"]["cell"]["missed"] >= 1
