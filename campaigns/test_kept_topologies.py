# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign that is brought to another machine in an archive, and goes on there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from campaigns import checking, kept_topologies, running
from campaigns.campaign import Campaign
from campaigns.conftest import TOPOLOGY
from campaigns.local_workers import LocalWorkers
from contracts.errors import BadTopology
from results.archives.reading import bring
from results.archives.writing import export
from testbed.documents.campaign import CampaignOutcome

FILE = """\
topologies: {one: there/x.yaml, other: there/y.yaml}
virtual: true
duration: 1 s
parameters: {loss: {path: netboxes.net.trace.file, values: [traces/none.csv, traces/half.csv]}}
repetitions: 1
keep: figures
"""
WITH_FILES = TOPOLOGY.replace("delay: 1 ms}", "trace: {file: traces/none.csv}}").replace(
    "a: {address: 10.0.0.1/24}", "a: {address: 10.0.0.1/24, files: {/srv/site: site}}"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of a campaign of two topologies beside it, each with a trace for each value and a folder for a host."""
    (there := tmp_path / "mine/there/traces").mkdir(parents=True)
    for name, loss in (("none", 0), ("half", 0.5), ("most", 0.9)):
        (there / f"{name}.csv").write_text(f"time_s,loss\n0,{loss}\n1,{loss}\n")
    (site := there.parent / "site").mkdir()
    (site / "run").write_text("#!/bin/sh\n")
    (site / "run").chmod(0o755)
    (site / "link").symlink_to("run")
    (there.parent / "x.yaml").write_text(WITH_FILES)
    (there.parent / "y.yaml").write_text(WITH_FILES.replace("10 Mbit/s", "20 Mbit/s"))
    (written := tmp_path / "mine/two.yaml").write_text(FILE)
    return written


def carried(file: Path, folder: Path) -> CampaignOutcome:
    checked = checking.check(Campaign.load(file), lambda _: None)
    return running.carry(checked.campaign, folder, LocalWorkers(1), lambda _: None, kept_topologies.of(checked))


def kept(file: Path, folder: Path) -> dict[str, bytes]:
    """What the folder has after a command with that file."""
    kept_topologies.keep(kept_topologies.of(checking.check(Campaign.load(file), lambda _: None)), folder)
    return {str(path): path.read_bytes() for path in (folder / "topology-files").rglob("*") if path.is_file()}


def test_a_campaign_goes_on_where_it_was_imported(file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace(", other: there/y.yaml", ""))
    made = carried(file, mine := tmp_path / "mine/results/two")
    assert (made["made"], made["runs"]["valid"]) == (2, 2)
    exported = export(mine, tmp_path / "two.zip", None, lambda _: None)
    assert exported.notes == []
    shutil.rmtree(tmp_path / "mine")
    folder = bring(tmp_path / "two.zip", tmp_path / "theirs", lambda _: None).folder
    assert Campaign.load(folder / "campaign.yaml").name == "two"
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    before = {path: path.read_bytes() for path in folder.rglob("topology-files/**/*") if path.is_file()}
    again = carried(folder / "campaign.yaml", folder)
    assert (again["made"], again["runs"]["valid"]) == (0, 2)
    assert before == {path: path.read_bytes() for path in folder.rglob("topology-files/**/*") if path.is_file()}


def test_each_topology_has_its_files_with_all_values_and_what_is_named_no_more_is_not_kept(file: Path, tmp_path: Path) -> None:
    before = kept(file, tmp_path / "folder")
    names = ["half.csv", "half.csv", "none.csv", "none.csv", "site.tar", "site.tar", "x.yaml", "y.yaml"]
    assert sorted(Path(path).name for path in before) == names
    file.write_text(FILE.replace(", other: there/y.yaml", "").replace("half", "most"))
    after = kept(file, tmp_path / "folder")
    assert sorted(Path(path).name for path in after) == ["most.csv", "none.csv", "site.tar", "x.yaml"]


def test_a_copy_that_leads_elsewhere_is_not_taken(file: Path, tmp_path: Path) -> None:
    kept(file, folder := tmp_path / "folder")
    shutil.copy(file, folder / "campaign.yaml")
    Campaign.load(folder / "campaign.yaml")
    elsewhere = (folder / "topology-files").rename(tmp_path / "elsewhere")
    (folder / "topology-files").symlink_to(elsewhere)
    with pytest.raises(BadTopology, match="there is no file"):
        Campaign.load(folder / "campaign.yaml")
