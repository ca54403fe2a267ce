# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of the bench's results."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from contracts.installation import CHECKOUT
from netboxes.queueing.tempest.plot import Measure, NotDrawn, app, plot, read

TEMPEST = CHECKOUT / "build/bin/tempest"


def result(command: str, **told: Any) -> str:
    weights = [{"weight": 1, "flows": 60, "t_wfi_ms": 9.0}, {"weight": 20, "flows": 20, "t_wfi_ms": 2.0}]
    return json.dumps({"format": "netboxit tempest", "version": 1, "command": command.split(), "weights": weights, **told})


DOUBLE = "-qos qfq+ -mac drr"
RESULTS = "\n".join(
    [
        result(f"{DOUBLE} -qmac 100 -seed 1", throughput=0.9),
        result(f"{DOUBLE} -qmac 100 -seed 2", throughput=0.7),
        result(f"{DOUBLE} -qmac 1k", throughput=0.5),
        result("-alg w2f2q", throughput=0.95),
        result("-alg drr", throughput=None),
    ]
)


def test_trials_of_several_seeds_are_a_mean_with_its_interval() -> None:
    drawn = plot(read(RESULTS, "f"), "qmac", Measure.THROUGHPUT)
    double, integrated = drawn.panels[0].lines
    assert (double.label, integrated.label) == ("qfq+ over drr", "w2f2q")
    assert double.x.tolist() == [100, 1000]
    assert double.y.tolist() == pytest.approx([0.8, 0.5])
    # Student's t of one degree of freedom is 12.706; the standard error of 0.9 and 0.7 is 0.1.
    assert double.low[0] == pytest.approx(0.8 - 1.2706, abs=1e-3)
    assert math.isnan(double.low[1])


def test_a_scheduler_without_the_option_is_a_line_across() -> None:
    drawn = plot(read(RESULTS, "f"), "qmac", Measure.THROUGHPUT)
    across = drawn.panels[0].lines[1]
    assert across.x.tolist() == [100, 1000]
    assert across.y.tolist() == [0.95, 0.95]


def test_measures_of_flows_are_those_of_the_greatest_weight() -> None:
    (line, *_) = plot(read(RESULTS, "f"), "flows", Measure.T_WFI).panels[0].lines
    assert line.x.tolist() == [80]
    assert line.y.tolist() == [2.0]


@pytest.mark.parametrize(
    ("text", "by", "message"),
    [
        ("{", "qmac", "f, line 1: no JSON"),
        ("{}", "qmac", "f, line 1: no result of tempest of version 1"),
        (RESULTS, "qos", '-qos "qfq+" is no number to draw by; take another option'),
        (RESULTS, "qsing", "no trial has both -qsing and throughput; take another option or measure"),
    ],
)
def test_bad_input_is_told_with_its_place(text: str, by: str, message: str) -> None:
    with pytest.raises(NotDrawn) as error:
        plot(read(text, "f"), by, Measure.THROUGHPUT)
    assert str(error.value).startswith(message)


def test_what_the_bench_prints_is_drawn(tmp_path: Path) -> None:
    common = ["-n", "2k", "-qmin", "0", "-qmax", "30n", "-flows", "20", "-mode", "single"]
    printed = "".join(
        subprocess.run([TEMPEST, *common, "-alg", one], capture_output=True, text=True, check=True).stdout
        for one in ("drr", "wf2q+")
    )
    results, out = tmp_path / "trials.jsonl", tmp_path / "delays.svg"
    results.write_text(printed)
    done = CliRunner().invoke(app, [str(results), "--by", "flows", "--of", "delay_ms_max", "--out", str(out)])
    assert done.exit_code == 0, done.output
    svg = out.read_text()
    assert svg.startswith("<svg")
    assert all(word in svg for word in ("wf2q+", "drr", "longest delay, ms"))


def test_the_command_says_what_cannot_be_drawn(tmp_path: Path) -> None:
    results = tmp_path / "trials.jsonl"
    results.write_text("no JSON\n")
    done = CliRunner().invoke(app, [str(results), "--by", "qmac", "--of", "rfi", "--out", str(tmp_path / "x.svg")])
    assert done.exit_code == 2
    assert "line 1: no JSON" in done.output
    assert not (tmp_path / "x.svg").exists()
