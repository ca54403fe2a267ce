# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns on a cluster of Dask for real, on the loopback; over several machines: tests/test_campaign_on_cluster.py."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from campaigns.campaign import Campaign
from campaigns.cluster import Cluster
from campaigns.cluster_workers import ClusterWorkers
from campaigns.design import numbered
from campaigns.engine import WorkerLost
from campaigns.order import Order
from campaigns.parcel import InVirtualTime
from contracts.campaign import INDEX_FILE, campaign_folder
from contracts.installation import CHECKOUT
from tests.dask_cluster import IMPATIENT, computing, scheduler, worker
from tests.waiting import until

pytestmark = pytest.mark.long

FILE: Final = f"""
campaign: far
topology: {CHECKOUT}/topologies/link.yaml
virtual: true
duration: DURATION
repetitions: 2
keep: figures
"""
LOOPBACK: Final = ("--host", "127.0.0.1")
#: A run that ends its worker is not made again by another one.
SETTINGS: Final = {**IMPATIENT, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
#: On a busy machine.
DEADLINE_S: Final = 120.0


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scheduler(tmp_path_factory.mktemp("scheduler"), *LOOPBACK, settings=SETTINGS) as (address, _):
        yield address


def file(folder: Path, duration: str = "1 s") -> Path:
    (written := folder / "far.yaml").write_text(FILE.replace("DURATION", duration))
    return written


def begun(file: Path, address: str, *more: str) -> subprocess.Popen[str]:
    words: list[str | Path] = [
        CHECKOUT / "netboxit.py",
        "campaign",
        file,
        "--results",
        file.parent,
        "--json",
        "--scheduler",
        address,
        *more,
    ]
    return subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def test_workers_of_another_version_have_no_runs(address: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for package in ("campaigns", "contracts", "testbed"):
        shutil.copytree(CHECKOUT / package, other / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "pyproject.toml", other)
    with (
        worker(tmp_path, address, "other", *LOOPBACK, checkout=other),
        worker(tmp_path, address, "without", *LOOPBACK, checkout=None),
    ):
        until(lambda: (tmp_path / "dask.log").read_text().count("Registered to:") == 2, "two workers", DEADLINE_S)
        refused = begun(file(tmp_path), address)
        _, said = refused.communicate()
        assert refused.returncode == 1
        assert "has no worker that may make the runs" in said
        assert "it has no NetBoxIT" in said
        assert "it has NetBoxIT 0.1.0 of sources" in said
        assert "ansible/workers.yml" in said
        with worker(tmp_path, address, "ours", *LOOPBACK):
            until(lambda: (tmp_path / "dask.log").read_text().count("Registered to:") == 3, "a third worker", DEADLINE_S)
            told, said = (asking := begun(file(tmp_path), address, "--dry-run")).communicate()
            assert asking.returncode == 0, said
            assert not (campaign_folder(tmp_path, "far") / INDEX_FILE).exists()
            done, said = (campaign := begun(file(tmp_path), address)).communicate()
            assert campaign.returncode == 0, said
    dry_run = json.loads(told.splitlines()[-1])
    assert (dry_run["workers"], dry_run["cluster"]["scheduler"]) == (1, address)
    reasons = [worker["refused"] for worker in dry_run["cluster"]["workers"]]
    assert sorted("its own" if why is None else " ".join(why.split()[:3]) for why in reasons) == [
        "it has NetBoxIT",
        "it has no",
        "its own",
    ]
    outcome = json.loads(done.splitlines()[-1])
    assert outcome["runs"] == {"valid": 2, "degraded": 0, "invalid": 0}
    assert sorted(note.partition("refused: it has ")[2].split()[0] for note in outcome["notes"]) == ["NetBoxIT", "no"]


def test_a_run_that_ends_its_workers_is_told_as_lost(address: str, tmp_path: Path) -> None:
    campaign = Campaign.load(file(tmp_path, "24 h"))
    (point,) = numbered(campaign.points(), ())
    with worker(tmp_path, address, "ours", *LOOPBACK) as process:
        until(lambda: "Registered to:" in (tmp_path / "dask.log").read_text(), "a worker", DEADLINE_S)
        with ClusterWorkers(Cluster(address), InVirtualTime()) as engine:
            assert engine.slots == 1
            future = engine.submit(Order.of(campaign, point, 0), tmp_path)
            until(lambda: computing(process.pid), "a run", DEADLINE_S)
            process.send_signal(signal.SIGKILL)
            with pytest.raises(WorkerLost, match="workers ended while they made the same run"):
                future.result(DEADLINE_S)


def test_ctrl_c_ends_the_runs_on_the_cluster(address: str, tmp_path: Path) -> None:
    with worker(tmp_path, address, "ours", *LOOPBACK) as process:
        until(lambda: "Registered to:" in (tmp_path / "dask.log").read_text(), "a worker", DEADLINE_S)
        campaign = begun(file(tmp_path, "24 h"), address)
        until(lambda: computing(process.pid) or campaign.poll() is not None, "a run", DEADLINE_S)
        os.killpg(campaign.pid, signal.SIGINT)
        _, said = campaign.communicate()
        assert campaign.returncode == 1
        assert "the same command goes on" in said
        assert "Traceback" not in said
        # Left alone it computes for minutes.
        until(lambda: not computing(process.pid), "the run's end")
        assert process.poll() is None


def test_a_scheduler_that_is_lost_ends_the_campaign_and_what_is_over_is_kept(tmp_path: Path) -> None:
    with (
        scheduler(tmp_path, *LOOPBACK, settings=SETTINGS) as (address, process),
        worker(tmp_path, address, "ours", *LOOPBACK),
    ):
        until(lambda: "Registered to:" in (tmp_path / "dask.log").read_text(), "a worker", DEADLINE_S)
        campaign = begun(file(tmp_path), address)
        index = campaign_folder(tmp_path, "far") / INDEX_FILE
        until(lambda: index.exists() or campaign.poll() is not None, "a run that is over", DEADLINE_S)
        process.kill()
        _, said = campaign.communicate()
    assert campaign.returncode == 1
    assert f"scheduler {address} is lost" in said
    assert "what is over is kept: start it, and the same command goes on" in said
    assert len(index.read_text().splitlines()) == 1
