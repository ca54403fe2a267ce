# SPDX-License-Identifier: GPL-2.0-or-later
"""The course of a campaign, with an engine that makes runs at once: what is kept, what is made again, when it ends."""

from __future__ import annotations

import errno
import os
import random
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import polars as pl
import pytest

from campaigns.campaign import Campaign
from campaigns.engine import Done, WorkerLost
from campaigns.index import Index
from campaigns.order import Order
from campaigns.running import DiskFull, RunsElsewhere, carry
from contracts.campaign import CAMPAIGN_FILE, CampaignRun
from contracts.campaign_lock import CampaignBusy
from contracts.durable import NotWritten
from contracts.run_folder import FLOWS_TABLE
from results.archives.writing import export
from results.metrics_document import Status
from testbed.documents.campaign import CampaignOutcome, CampaignStanding

FILE = """
campaign: trial
topology: link.yaml
virtual: true
parameters:
  rate: {path: netboxes.line.rate, values: [1 Mbit/s, 2 Mbit/s, 4 Mbit/s]}
repetitions: 4
"""
#: Until the interval of a measure is narrow enough.
UNTIL = FILE.replace(
    "repetitions: 4", "repetitions: {until: {measure: voice.delay_ms_mean, half_width: 0.5}, at_least: 3, at_most: 40}"
)


class Interruption(BaseException):
    """As Ctrl-C, or what else ends the command."""


class Instant:
    """An engine whose runs are over when they are submitted, in an order that `chance` says; runs have delays by their seeds."""

    slots = 2

    def __init__(self, clock: Literal["real", "virtual"] = "virtual", chance: int = 0) -> None:
        self.clock: Literal["real", "virtual"] = clock
        self.made: list[str] = []
        self._chance = random.Random(chance)

    def __enter__(self) -> Instant:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def digest(self, order: Order) -> str:
        return order.topology.read_text() + ";".join(setting.text for setting in order.settings[:-1])

    def submit(self, order: Order, folder: Path) -> Future[Done]:
        future: Future[Done] = Future()
        try:
            future.set_result(self.make(order, folder))
        except Exception as error:
            future.set_exception(error)
        return future

    def make(self, order: Order, folder: Path) -> Done:
        self.made.append(order.name)
        seed = int(order.settings[-1].value)
        delay_ms = random.Random(f"{seed} {order.settings[0].text}").gauss(20.0, 1.0)
        rows = {"traffic": ["voice"], "direction": ["forward"], "delay_ms_mean": [delay_ms]}
        pl.DataFrame(rows).write_parquet(folder / FLOWS_TABLE)
        return Done(self.status(order), 1.0, None)

    def status(self, order: Order) -> Status:
        return "valid"

    def remarks(self) -> Sequence[str]:
        return ()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "link.yaml").write_text("netboxes: {line: {rate: 1 Mbit/s}}\n")
    (tmp_path / "trial.yaml").write_text(FILE)
    return tmp_path / "trial.yaml"


def carried(file: Path, engine: Instant, told: list[CampaignStanding] | None = None, *, retry: bool = False) -> CampaignOutcome:
    tell = (told if told is not None else []).append
    return carry(Campaign.load(file), file.with_name("runs of it"), engine, tell, retry=retry)


def rows(file: Path) -> list[CampaignRun]:
    return sorted(Index(file.with_name("runs of it")).runs.values(), key=lambda run: run["name"])


def test_each_point_has_its_repetitions_with_the_same_seeds(file: Path) -> None:
    told: list[CampaignStanding] = []
    outcome = carried(file, Instant(), told)
    assert outcome["runs"] == {"valid": 12, "degraded": 0, "invalid": 0}
    assert outcome["made"] == 12
    seeds: dict[int, list[int]] = {}
    for run in rows(file):
        seeds.setdefault(run["point"], []).append(run["seed"])
    assert len(seeds) == 3
    assert seeds[0] == seeds[1] == seeds[2]
    assert len(set(seeds[0])) == 4
    assert [standing["over"] for standing in told] == list(range(13))
    assert told[0]["left_s"] == {"least": None, "most": None}
    # Twelve runs of a second, two at a time: half of the eleven that are left.
    assert told[1]["left_s"] == {"least": 5.5, "most": 5.5}


def test_the_same_command_again_makes_nothing(file: Path) -> None:
    carried(file, Instant())
    again = Instant()
    assert carried(file, again)["made"] == 0
    assert again.made == []


@pytest.mark.parametrize("text", [FILE, UNTIL])
def test_whatever_ends_the_command_the_rows_are_those_of_one_that_was_left_alone(file: Path, text: str) -> None:
    file.write_text(text)
    alone = file.parent / "alone"
    alone.mkdir()
    for name in ("link.yaml", "trial.yaml"):
        (alone / name).write_text((file.parent / name).read_text())
    carried(alone / "trial.yaml", Instant())

    class Interrupted(Instant):
        last = 0

        def make(self, order: Order, folder: Path) -> Done:
            done = super().make(order, folder)
            if len(self.made) == self.last:
                raise Interruption
            return done

    for last in range(1, 200):
        engine = Interrupted()
        engine.last = last
        try:
            carried(file, engine)
            break
        except Interruption as interruption:
            assert "the same command goes on" in interruption.__notes__[0]
    assert rows(file) == rows(alone / "trial.yaml")
    assert sorted(path.name for path in file.with_name("runs of it").iterdir()) == [
        CAMPAIGN_FILE,
        "runs",
        "runs.jsonl",
    ]


def test_a_stopping_rule_does_not_depend_on_which_run_is_over_first(file: Path) -> None:
    file.write_text(UNTIL)
    outcomes = []
    for chance in range(3):
        with ThreadPoolExecutor(4) as threads:

            class Shuffled(Instant):
                """Runs end in another order than they began."""

                slots = 4

                def submit(self, order: Order, folder: Path) -> Future[Done]:
                    return threads.submit(self.later, order, folder)

                def later(self, order: Order, folder: Path) -> Done:
                    time.sleep(self._chance.uniform(0, 0.004))
                    return self.make(order, folder)

            carried(file, Shuffled(chance=chance))
        outcomes.append(rows(file))
        for path in sorted(file.with_name("runs of it").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    assert outcomes[0] == outcomes[1] == outcomes[2]
    counts = [sum(run["point"] == point for run in outcomes[0]) for point in range(3)]
    # Of a standard deviation of 1 the half-width is below 0.5 from about 18 repetitions on (2.1 / sqrt(18)).
    assert all(8 < count < 35 for count in counts)


def test_a_changed_topology_is_run_again_and_a_value_added_keeps_what_is_there(file: Path) -> None:
    carried(file, Instant())
    file.write_text(FILE.replace("[1 Mbit/s,", "[8 Mbit/s, 1 Mbit/s,"))
    more = Instant()
    outcome = carried(file, more)
    assert outcome["made"] == 4
    assert {name.partition("-")[0] for name in more.made} == {"0003"}
    assert any("has changed" in note for note in outcome["notes"])
    (file.parent / "link.yaml").write_text("netboxes: {line: {rate: 1 Mbit/s, delay: 1 ms}}\n")
    assert carried(file, Instant())["made"] == 16


def test_runs_of_values_that_were_taken_out_stay_and_are_told(file: Path) -> None:
    carried(file, Instant())
    file.write_text(FILE.replace(", 4 Mbit/s]", "]"))
    outcome = carried(file, Instant())
    assert outcome["runs"]["valid"] == 8
    assert any("4 runs of an earlier file" in note for note in outcome["notes"])
    assert len(rows(file)) == 12


def test_a_run_whose_folder_was_removed_is_made_again(file: Path) -> None:
    carried(file, Instant())
    folder = file.with_name("runs of it") / "runs" / "0001-02"
    (folder / FLOWS_TABLE).unlink()
    folder.rmdir()
    again = Instant()
    carried(file, again)
    assert again.made == ["0001-02"]


def test_a_run_whose_worker_was_lost_is_made_again(file: Path) -> None:
    class Losing(Instant):
        def make(self, order: Order, folder: Path) -> Done:
            if len(self.made) == 5:
                self.made.append("lost")
                (folder / "half").write_text("")
                raise WorkerLost("killed")
            return super().make(order, folder)

    assert carried(file, Losing())["runs"]["valid"] == 12
    assert not list(file.parent.rglob("half"))


def test_a_run_that_ends_each_worker_ends_the_campaign_in_the_end(file: Path) -> None:
    class Deadly(Instant):
        def make(self, order: Order, folder: Path) -> Done:
            if order.name == "0001-00":
                raise WorkerLost("a process that made a run was killed")
            return super().make(order, folder)

    with pytest.raises(WorkerLost, match="was killed"):
        carried(file, Deadly())
    assert "0001-00" not in [run["name"] for run in rows(file)]


@pytest.mark.parametrize("told", [True, False])
def test_a_full_disk_ends_it_and_with_room_it_goes_on(file: Path, told: bool) -> None:
    words = f"frames.bin: {os.strerror(errno.ENOSPC)}"

    class Full(Instant):
        def make(self, order: Order, folder: Path) -> Done:
            done = super().make(order, folder)
            if len(self.made) > 5 and told:
                raise NotWritten(words)
            return Done("invalid", 1.0, words) if len(self.made) > 5 else done

    with pytest.raises(DiskFull, match="the same command goes on"):
        carried(file, Full())
    assert 0 < len(rows(file)) <= 5
    assert all(run["status"] == "valid" for run in rows(file))
    assert carried(file, Instant())["runs"]["valid"] == 12


def test_labs_are_run_again_when_they_are_degraded_and_then_told(file: Path) -> None:
    file.write_text(FILE.replace("virtual: true", "retry: 2"))

    class Late(Instant):
        def status(self, order: Order) -> Status:
            times = self.made.count(order.name)
            if order.name == "0000-00":
                return "degraded"
            return "invalid" if order.name == "0001-01" and times < 2 else "valid"

    outcome = carried(file, late := Late("real"))
    assert outcome["runs"] == {"valid": 11, "degraded": 1, "invalid": 0}
    assert late.made.count("0000-00") == 3
    attempts = {run["name"]: run["attempt"] for run in rows(file)}
    assert (attempts["0000-00"], attempts["0001-01"], attempts["0002-00"]) == (3, 2, 1)


def test_in_virtual_time_the_same_run_would_only_be_invalid_again(file: Path) -> None:
    class Invalid(Instant):
        def status(self, order: Order) -> Status:
            return "invalid" if order.name == "0002-03" else "valid"

    assert carried(file, invalid := Invalid())["runs"]["invalid"] == 1
    assert invalid.made.count("0002-03") == 1
    # The same command keeps it; whoever has mended what was wrong asks for it.
    assert carried(file, kept := Instant())["runs"]["invalid"] == 1
    assert kept.made == []
    outcome = carried(file, again := Instant(), retry=True)
    assert (again.made, outcome["made"], outcome["runs"]["valid"]) == (["0002-03"], 1, 12)
    assert [run["status"] for run in rows(file)] == ["valid"] * 12


def test_no_archive_is_made_of_a_campaign_while_its_runs_are_made(file: Path, tmp_path: Path) -> None:
    refused = list[str]()

    class Exporting(Instant):
        def status(self, order: Order) -> Status:
            with pytest.raises(CampaignBusy) as error:
                export(file.with_name("runs of it"), tmp_path / "x.zip", None, lambda _: None)
            refused.append(str(error.value))
            return "valid"

    carried(file, Exporting())
    assert len(refused) == 12
    assert all("another command works at the campaign" in words and "wait for its end" in words for words in refused)
    assert not [*tmp_path.glob("*x.zip*")]


def test_runs_behind_a_link_are_refused_before_any_is_made(file: Path, tmp_path: Path) -> None:
    (folder := file.with_name("runs of it")).mkdir()
    (folder / "runs").symlink_to(tmp_path)
    with pytest.raises(RunsElsewhere, match="make a link of it"):
        carried(file, engine := Instant())
    assert engine.made == []
    (real := tmp_path / "other disk").mkdir()
    shutil.rmtree(folder)
    folder.symlink_to(real)
    assert carried(file, Instant())["made"] == 12
    assert len([*(real / "runs").iterdir()]) == 12
