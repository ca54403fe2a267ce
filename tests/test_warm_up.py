# SPDX-License-Identifier: GPL-2.0-or-later
"""A run and a campaign whose beginning is cut off, by commands, of a network whose figures are known before and after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.campaign import campaign_folder
from contracts.installation import CHECKOUT

#: For 4 s the path takes 5 ms, then 25 ms. `burst` fills the queue at the beginning: 250 kbit/s more than the line carries.
NETWORK: Final = """
name: warming
seed: 1
centre: b
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
netboxes:
  line:
    technology: link
    stations: {a: {rate: 1 Mbit/s, queue: {packets: 1000}}, b: {rate: 1 Gbit/s}}
    delay: 5 ms
wires: [[a, line.a], [line.b, b]]
traffic:
  probe: {application: udp-flow, from: b, to: a, rate: 80 kbit/s, payload: 100 B, duration: 8 s}
  back: {application: udp-flow, from: a, to: b, rate: 8 kbit/s, payload: 100 B, duration: 8 s, port: 6001}
  burst: {application: udp-flow, from: a, to: b, rate: 1250 kbit/s, payload: 1000 B, duration: 2 s, port: 6002}
events:
  - {at: 4 s, netbox: line, set: {delay: 25 ms}}
"""
CAMPAIGN: Final = """
campaign: warm
topology: network.yaml
virtual: true
warm_up: 4 s
parameters: {rate: {path: netboxes.line.stations.b.rate, values: [1 Gbit/s, 2 Gbit/s]}}
repetitions: 1
measures: [probe.delay_ms_max]
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("warm") / "network.yaml"
    file.write_text(NETWORK)
    return file


@pytest.fixture(scope="module")
def results(network: Path) -> Path:
    """Of a run with a warm-up of 4 s."""
    into = network.parent / "results"
    done = netboxit("run", network, "--virtual", "--warm-up", "4 s", "--results", into)
    assert done.returncode == 0, done.stdout + done.stderr
    return into


def netboxit(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, CHECKOUT / "netboxit.py", *words], capture_output=True, text=True)


def metrics(run: Path) -> Any:
    return json.loads((run / "metrics.json").read_text())


def flow(told: Any, name: str) -> Any:
    return next(one for one in told["flows"] if one["name"] == name)


def test_after_the_warm_up_the_delay_is_that_of_the_changed_network(results: Path) -> None:
    told = metrics(results / "latest")
    probe = flow(told, "probe")
    # 142 bytes at 1 Gbit/s are 1.1 us.
    assert probe["one_way_delay_ms"]["min"] == probe["one_way_delay_ms"]["max"] == pytest.approx(25.0, abs=0.01)
    assert (told["warm_up_s"], probe["packets"], probe["warm_up_packets"]) == (4.0, *[pytest.approx(312, abs=2)] * 2)
    assert told["verdict"]["status"] == "valid"
    burst = flow(told, "burst")
    assert (burst["packets"], burst["reason"]) == (0, "no frame of this flow was sent after the warm-up")
    # Both delays are there in the course of the run.
    assert {round(one) for one in probe["seconds"]["delay_ms"] if one} == {5, 25}


def test_a_queue_that_filled_in_the_warm_up_is_empty_in_the_figures(results: Path) -> None:
    (queue,) = [one for one in metrics(results / "latest")["queues"] if one["station"] == "a"]
    assert queue["mean"] == pytest.approx(0, abs=1e-6) and queue["empty"] == pytest.approx(1, abs=1e-6)
    assert (queue["p99"], queue["max"]) == (None, None)
    counted = json.loads((results / "latest/nodes/line/statistics.json").read_text())
    assert counted["segment"]["stations"]["a"]["queue"]["length"]["mean"] > 1


@pytest.mark.long
def test_a_report_and_a_repetition_cut_the_same(results: Path) -> None:
    run = (results / "latest").resolve()
    before = metrics(run)
    assert netboxit("report", run).returncode == 0
    assert metrics(run) == before
    repeated = netboxit("run", "--again", run, "--results", results.parent / "again")
    assert repeated.returncode == 0, repeated.stdout + repeated.stderr
    assert metrics(results.parent / "again/latest")["flows"] == before["flows"]


@pytest.mark.parametrize(("warm_up", "cause"), [("8 s", "leaves nothing of a run of 8 s"), ("-1 s", "--warm-up")])
def test_a_warm_up_that_leaves_nothing_is_refused_before_anything_is_written(
    network: Path, tmp_path: Path, warm_up: str, cause: str
) -> None:
    done = netboxit("run", network, "--virtual", "--results", tmp_path / "results", "--warm-up", warm_up)
    assert done.returncode == 2 and cause in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.long
def test_a_campaign_cuts_it_off_each_run_and_says_so(network: Path) -> None:
    file = network.with_name("campaign.yaml")
    file.write_text(CAMPAIGN)
    into = network.parent / "campaigns"

    def made() -> int:
        done = netboxit("campaign", file, "--results", into, "--json")
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout.splitlines()[-1])["made"])

    assert (made(), made()) == (2, 0)
    folder = campaign_folder(into, "warm")
    assert "the first 4 s of each run, its warm-up, is in no figure" in (folder / "report.html").read_text()
    delays = [flow(metrics(run), "probe")["one_way_delay_ms"]["max"] for run in (folder / "runs").iterdir()]
    assert delays == [pytest.approx(25.0, abs=0.01)] * 2
    file.write_text(CAMPAIGN.replace("warm_up: 4 s", "warm_up: 1 s"))
    assert made() == 2
    assert all(metrics(run)["warm_up_s"] == 1.0 for run in (folder / "runs").iterdir())
