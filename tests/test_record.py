# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit record` in a lab: a known link is recorded, played and recorded again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from system.realtime_support import realtime_support
from testbed.labs.lab import Lab
from testbed.observation.record import Probing, of_lab, write
from testbed.observation.record_trace import PathTrace
from testbed.plans.planning import plan_file

pytestmark = pytest.mark.lab

NETWORK = """
hosts:
  a: {{address: 10.41.0.1/24}}
  b: {{address: 10.41.0.2/24}}
netboxes:
  path:
    technology: link
    stations: {{left: {left}, right: {right}}}
wires:
  - [a, path.left]
  - [path.right, b]
"""
#: Rate (bit/s), delay (s), share lost of what each end sends.
KNOWN = {"a": (4e6, 0.03, 0.0), "b": (1e6, 0.05, 0.1)}
PROBING = Probing(duration_s=6.0, step_s=1.0, packets_per_s=100.0, most_rate=2e6)


def record(folder: Path, number: int, left: str, right: str) -> list[PathTrace]:
    file = folder / f"lab{number}.yaml"
    file.write_text(f"name: link-r{number}\n" + NETWORK.format(left=left, right=right))
    with Lab.up_and_ready(plan_file(file, realtime=realtime_support(), lab=f"link-r{number}-{os.getpid() % 1000}")) as lab:
        return of_lab(lab, ("a", "b"), PROBING)


def means(trace: PathTrace) -> dict[str, float]:
    return {name: sorted(values)[len(values) // 2] for name, values in trace.columns().items()}


@pytest.mark.long
def test_a_known_link_is_recorded_and_played_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    first = record(tmp_path, 1, "{rate: 4 Mbit/s, delay: 30 ms}", "{rate: 1 Mbit/s, delay: 50 ms, loss: 0.1}")
    files = [one.file.name for one in write(first, tmp_path / "path", mahimahi=False)]
    again = record(tmp_path, 2, f"{{trace: {files[0]}}}", f"{{trace: {files[1]}}}")
    for trace in (*first, *again):
        rate, delay, loss = KNOWN[trace.source]
        measured = means(trace)
        # The machine's own jitter is in what is measured: half a frame of the rate, some milliseconds of the delay.
        assert measured["rate_bit_s"] == pytest.approx(rate, rel=0.12)
        assert measured["delay_s"] == pytest.approx(delay, abs=0.005)
        # 500 packets: four standard deviations of the share, and again as much for the one that was recorded.
        lost = trace.columns()["loss"]
        assert sum(lost) / len(lost) == pytest.approx(loss, abs=0.08)
