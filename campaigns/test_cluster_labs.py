# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign in real time on a cluster of Dask for real: its workers are root's, on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from campaigns.test_cluster_workers import LOOPBACK, begun
from campaigns.test_lab_runs import TOPOLOGY
from contracts.campaign import INDEX_FILE, RUNS_FOLDER, campaign_folder
from contracts.run_folder import PLAN_FILE
from tests.dask_cluster import IMPATIENT, scheduler, worker
from tests.waiting import until

pytestmark = [
    pytest.mark.lab,
    pytest.mark.patient,
    pytest.mark.long,
    pytest.mark.timeout(1200),
    pytest.mark.usefixtures("nothing_left"),
]

#: On a busy machine.
DEADLINE_S: Final = 400.0
FILE: Final = """
campaign: in-labs
topology: small.yaml
parameters: {delay: {path: netboxes.line.delay, values: [5 ms, 30 ms]}}
repetitions: 1
"""


def test_a_worker_that_is_killed_with_its_lab_up_costs_no_run(tmp_path: Path, state_folder: Path) -> None:
    (tmp_path / "small.yaml").write_text(TOPOLOGY)
    (file := tmp_path / "in-labs.yaml").write_text(FILE)
    folder, log = campaign_folder(tmp_path, "in-labs"), tmp_path / "dask.log"
    labs = state_folder / "labs"
    # Each worker has one core, and so its labs are late, which the topology allows.
    with (
        scheduler(tmp_path, *LOOPBACK, settings=IMPATIENT) as (address, _),
        worker(tmp_path, address, "first", *LOOPBACK, within=("taskset", "-c", "0")) as first,
        worker(tmp_path, address, "second", *LOOPBACK, within=("taskset", "-c", "1")),
    ):
        until(lambda: log.read_text().count("Registered to:") == 2, "two workers", DEADLINE_S)
        campaign = begun(file, address)
        until(lambda: campaign.poll() is not None or (labs / "worker-cpu0").is_dir(), "a lab", DEADLINE_S)
        assert campaign.poll() is None, campaign.communicate()
        first.kill()
        told, said = campaign.communicate()
    assert campaign.returncode == 0, said
    outcome = json.loads(told.splitlines()[-1])
    assert (outcome["runs"]["valid"], outcome["made"]) == (2, 2)
    rows = [json.loads(line) for line in (folder / INDEX_FILE).read_text().splitlines()]
    assert sorted(row["name"] for row in rows) == ["0000-00", "0001-00"]
    for row in rows:
        run = folder / RUNS_FOLDER / row["name"]
        plan, metrics = (json.loads((run / name).read_text()) for name in (PLAN_FILE, "metrics.json"))
        assert (row["clock"], plan["seed"], plan["topology"]) == ("real", row["seed"], str(tmp_path / "small.yaml"))
        assert len({core for node in plan["nodes"] for core in node["cores"]}) == 1
        (delay_ms,) = [flow["one_way_delay_ms"]["p50"] for flow in metrics["flows"] if flow["one_way_delay_ms"]]
        assert delay_ms == pytest.approx(float(row["parameters"]["delay"].removesuffix(" ms")), abs=3.0)
        assert any((run / "captures").iterdir()) and (run / "report.html").exists()
    assert not any(labs.iterdir())
