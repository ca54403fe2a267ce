# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign would take, as `campaign --dry-run` tells it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from campaigns import checking, lab_runs, trial
from campaigns.campaign import Campaign
from campaigns.conftest import Write
from campaigns.estimate import estimate
from contracts.campaign import INDEX_FILE, RUNS_FOLDER, CampaignRun
from contracts.installation import CHECKOUT
from testbed.documents import kinds
from testbed.documents.campaign import CampaignDryRun
from testbed.documents.schemas import schema

TEXT = """\
campaign: c
topology: x.yaml
virtual: true
duration: 10 s
parameters: {p: {path: netboxes.net.delay, values: [1 ms, 2 ms]}}
repetitions: 3
"""


def estimated(write: Write, text: str = TEXT) -> CampaignDryRun:
    file = write(text)
    return estimate(checking.check(Campaign.load(file), lambda step: None), file.parent, lambda step: None)


def finished(folder: Path, *delays: str, took_s: float = 4.0, size: int = 1000) -> None:
    for number, delay in enumerate(delays):
        run: CampaignRun = {
            "name": f"0000-{number:02}",
            "point": 0,
            "repetition": number,
            "seed": 1,
            "topology": "x",
            "parameters": {"p": delay},
            "clock": "virtual",
            "status": "valid",
            "attempt": 1,
            "digest": "",
            "took_s": took_s,
            "failure": None,
        }
        (own := folder / "campaigns/c" / RUNS_FOLDER / run["name"]).mkdir(parents=True)
        (own / "frames.parquet").write_bytes(bytes(size))
        with (folder / "campaigns/c" / INDEX_FILE).open("a") as index:
            index.write(json.dumps(run) + "\n")


def test_before_the_first_run_some_are_computed_to_know_what_they_take(campaign_file: Write) -> None:
    told = estimated(campaign_file)
    assert (told["runs"], told["length_s"]) == ({"least": 6, "most": 6}, {"least": 10, "most": 10})
    assert told["workers"] == len(os.sched_getaffinity(0))
    assert told["takes_s"]["least"] == told["takes_s"]["most"] and 0 < (told["takes_s"]["least"] or 0) < 60
    assert told["disk_bytes"]["least"] == told["disk_bytes"]["most"] and (told["disk_bytes"]["least"] or 0) > 6 * 1000
    assert any("were computed here for this" in note for note in told["notes"])
    assert [file.name for file in campaign_file(TEXT).parent.iterdir() if file.is_dir()] == []


def test_computed_runs_that_take_longer_than_somebody_waits_take_that_at_least(
    campaign_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "PATIENCE_S", 0.2)
    told = estimated(campaign_file)
    assert (told["takes_s"]["least"] or 0) >= 6 * 0.2 / told["workers"] and told["takes_s"]["most"] is None
    assert told["disk_bytes"] == {"least": None, "most": None} and told["ends"]["most"] is None
    assert any("none was over" in note for note in told["notes"])


REAL = TEXT.replace("virtual: true", "virtual: false")


def with_cores(monkeypatch: pytest.MonkeyPatch, cores: range, isolated: tuple[int, ...] = ()) -> None:
    monkeypatch.setattr(lab_runs, "available_cores", lambda: tuple(cores))
    monkeypatch.setattr(lab_runs, "isolated_cores", lambda: isolated)


def test_runs_in_real_time_take_their_traffics_time_at_least_one_after_another(
    campaign_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_cores(monkeypatch, range(2))
    told = estimated(campaign_file, REAL)
    assert (told["workers"], told["takes_s"]) == (1, {"least": 60, "most": None})
    assert told["ends"]["least"] is not None and told["ends"]["most"] is None


def test_on_a_machine_with_many_cores_several_labs_run_at_a_time(campaign_file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, range(8))
    told = estimated(campaign_file, REAL)
    # A netbox, and hosts: two cores each.
    assert (told["workers"], told["takes_s"]["least"]) == (4, 15)
    # The largest lab counts, and what it asks for.
    second = REAL.replace("[1 ms, 2 ms]}", "[1 ms, 2 ms]}, cores: {path: netboxes.net.cores, values: [1, 2]}")
    assert estimated(campaign_file, second)["workers"] == 2
    with_cores(monkeypatch, range(8), isolated=(6, 7))
    assert estimated(campaign_file, REAL)["workers"] == 1


def test_a_stop_rule_makes_it_a_span(campaign_file: Write) -> None:
    finished(campaign_file(TEXT).parent, "1 ms")
    until = "{until: {measure: flow.loss_ratio, half_width: 0.1}, at_least: 2, at_most: 10}"
    assert estimated(campaign_file, TEXT.replace("repetitions: 3", f"repetitions: {until}"))["runs"] == {"least": 4, "most": 20}


def test_runs_that_are_over_tell_what_the_others_will_take(campaign_file: Write) -> None:
    finished(campaign_file(TEXT).parent, "1 ms", "1 ms")
    told = estimated(campaign_file)
    assert told["finished"] == 2
    assert told["takes_s"]["least"] == told["takes_s"]["most"] == pytest.approx(4 * 4.0 / told["workers"])
    assert told["disk_bytes"] == {"least": 4000, "most": 4000}


def test_a_disk_that_is_too_small_is_told(campaign_file: Write) -> None:
    finished(campaign_file(TEXT).parent, "1 ms", size=3000)
    assert not any("not that much free" in note for note in estimated(campaign_file)["notes"])
    many = TEXT.replace("repetitions: 3", "repetitions: 100000")
    with (campaign_file(TEXT).parent / "campaigns/c/runs/0000-00/sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert any("not that much free" in note for note in estimated(campaign_file, many)["notes"])


def test_runs_of_values_that_the_file_has_no_more_are_not_counted(campaign_file: Write) -> None:
    finished(campaign_file(TEXT).parent, "1 ms", "9 ms")
    assert estimated(campaign_file)["finished"] == 1


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_says_it(campaign_file: Write, tmp_path: Path, options: list[str]) -> None:
    finished((file := campaign_file(TEXT)).parent, "1 ms")
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "campaign", str(file), "--dry-run", *options]
    done = subprocess.run([*command, "--results", str(tmp_path)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if options:
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        assert Draft202012Validator(schema(kinds.CAMPAIGN_DRY_RUN)).is_valid(told)
        assert told["points"] == [{"point": 0, "parameters": {"p": "1 ms"}}, {"point": 1, "parameters": {"p": "2 ms"}}]
    else:
        assert "2 points, 3 repetitions of each: 6 runs in virtual time, 1 of them over" in done.stdout
    assert not (tmp_path / "results").exists()


def test_check_knows_a_campaign_file(campaign_file: Write) -> None:
    def check(text: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(CHECKOUT / "netboxit.py"), "check", str(campaign_file(text)), *options]
        return subprocess.run(command, capture_output=True, text=True)

    assert "is sound: a campaign of 2 points" in check(TEXT).stdout
    wrong = check(TEXT.replace("2 ms", "2 m"), "--json")
    (error,) = json.loads(wrong.stdout.splitlines()[-1])["errors"]
    assert (wrong.returncode, error["line"], error["column"]) == (2, 5, 59)
    assert check(TEXT, "--set", "seed=1").returncode == 2
