# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from experiments.carrying import RunFailed
from experiments.pink import LINES, UPLOADS, Run, Series, expectations, lacking, measured, table, topology
from testbed.description.topology_file import load

DSL = LINES[0]
RUN = Run("DSL", 0, 9.5, 105.0, 110.0, 0.94, 0, "valid", 0)


def metrics(goodput_kbps: float = 300.0, uploads: int = UPLOADS) -> dict[str, Any]:
    """Of a run whose uploads all have the same goodput, but those of second 30, of which the first has nothing."""
    seconds = [*range(62)]

    def of(number: int) -> list[float | None]:
        return [None if number == 0 and second == 30 else goodput_kbps for second in seconds]

    names = [f"uploads.{number}" for number in range(uploads)]
    flows = [
        {"name": name, "kind": "bulk", "direction": "return", "seconds": {"second": seconds, "goodput_kbps": of(number)}}
        for number, name in enumerate(names)
    ]
    control = {"flow": "tcp team eoc, small", "direction": "return", "rtt_ms": None}
    streams = [{"flow": name, "direction": "return", "rtt_ms": {"p50": 104.0, "p95": 109.0}} for name in names]
    return {
        "lab": "pink-0-0",
        "flows": flows,
        "tcp": [control, *streams],
        "queues": [{"station": "exchange", "dropped": {"full": 7}}, {"station": "gateway", "dropped": {"full": 0}}],
        "verdict": {"status": "valid"},
    }


def test_each_line_is_a_topology(tmp_path: Path) -> None:
    for line in LINES:
        with (file := tmp_path / "line.yaml").open("w") as opened:
            YAML(typ="safe").dump(topology(Series(line, 0)), opened)
        link = load(file).netboxes["line"].parameters
        # The queue holds what is on the way in one round trip (tables 2 and 3 of the paper).
        assert link.queue.bytes == line.rate_mbps * 1e6 / 8 * 2 * line.delay_ms / 1e3  # type: ignore[attr-defined]


def test_bounds_are_what_headers_leave_and_the_idle_round_trip() -> None:
    """1448 of 1500 bytes; 100 ms, a segment of 1.2 ms and an acknowledgement of 52 bytes. The paper's 9.5 Mbit/s: 6.1.4."""
    assert DSL.greatest_goodput_mbps == pytest.approx(9.653, abs=0.001)
    assert DSL.idle_round_trip_ms == pytest.approx(101.24, abs=0.01)
    assert LINES[1].greatest_goodput_mbps == pytest.approx(9.5, abs=0.001)


def test_a_run_is_measured_between_its_warm_up_and_the_end_of_its_uploads() -> None:
    run = measured(Series(DSL, 0), metrics(), 1)
    lost_second = 300.0 / (DSL.duration_s - DSL.warm_up_s)
    assert run.goodput_mbps == pytest.approx((UPLOADS * 300.0 - lost_second) / 1e3)
    assert run.fairness == pytest.approx((UPLOADS - 1) / UPLOADS)
    assert (run.round_trip_ms, run.round_trip_p95_ms, run.dropped, run.discarded) == (104.0, 109.0, 0, 1)
    with pytest.raises(RunFailed, match="31 uploads and 31 streams in place of 32"):
        measured(Series(DSL, 0), metrics(uploads=31), 0)


def test_each_run_has_to_meet_what_is_required() -> None:
    assert all(one.met for one in expectations("real", [RUN, replace(RUN, repetition=1)]))
    for wrong in ({"goodput_mbps": 9.45}, {"round_trip_ms": 106.4}, {"fairness": 0.89}, {"dropped": 1}):
        unmet = [one for one in expectations("real", [RUN, replace(RUN, repetition=1, **wrong)]) if not one.met]
        assert len(unmet) == 1, wrong


def test_both_times_are_side_by_side_and_runs_that_are_there_are_not_made_again() -> None:
    rows = table([RUN, replace(RUN, repetition=1, goodput_mbps=9.51)], [replace(RUN, goodput_mbps=9.57)]).rows
    assert rows[1] == ("DSL", "goodput, Mbit/s", "9.653", "at least 9.460", "9.570", "9.500 to 9.510")
    assert rows[-1][-2:] == ("–", "–")
    assert len(lacking("virtual", [RUN])) == len(LINES) - 1
    assert Series(DSL, 0) not in lacking("real", [RUN]) and Series(DSL, 1) in lacking("real", [RUN])
