# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs as tables, also where some of them are damaged, missing, of another version, or a stranger's."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from applications.registry import analyses
from results.analyse import analyse
from results.conftest import Campaign, SyntheticRun
from results.retention import reduce
from results.runs import NotSelected, Runs
from results.stored_runs import NoRuns


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A call of 20 packets each way, which take 255.035 ms."""
    run = SyntheticRun(tmp_path_factory.mktemp("runs") / "run")
    run.calls(20)
    folder = run.write()
    analyse(folder, analyses(), page=False)
    return folder


@pytest.fixture
def campaign(tmp_path: Path, analysed: Path) -> Campaign:
    return Campaign(tmp_path / "x", analysed)


@pytest.fixture
def sweep(campaign: Campaign) -> Campaign:
    """Two distances, each twice."""
    for point, distance in ((1, "5 km"), (0, "2 km")):
        for repetition in range(2):
            campaign.add(f"{point:04}-{repetition:02}", distance=distance, cameras=point + 1)
    return campaign


def test_a_campaign_is_one_table_with_its_parameters(sweep: Campaign) -> None:
    runs = Runs.open(sweep.folder)
    assert len(runs) == 4 and not runs.problems
    assert runs.parameters == {"distance": ["2 km", "5 km"], "cameras": [1, 2]}
    table = runs.table()
    assert table.select("run", "distance", "cameras", "repetition", "direction", "delay_ms_p50").rows() == [
        (f"{point:04}-{repetition:02}", distance, point + 1, repetition, direction, pytest.approx(255.035))
        for point, distance in enumerate(("2 km", "5 km"))
        for repetition in range(2)
        for direction in ("return", "forward")
    ]
    assert [*runs] == [sweep.folder / "runs" / name for name in runs.runs["run"]]


def test_a_selection_has_what_was_asked_for(sweep: Campaign) -> None:
    runs = Runs.open(sweep.folder)
    far = runs.select(distance="5 km")
    assert far.runs["run"].to_list() == ["0001-00", "0001-01"] and far.parameters == {"distance": ["5 km"], "cameras": [2]}
    assert set(far.measures.collect()["run"]) == set(far.frames.collect()["run"]) == {"0001-00", "0001-01"}
    one = runs.select(cameras=[1, 2], repetition=1).select(direction="return")
    assert one.table().select("run", "direction").rows() == [("0000-01", "return"), ("0001-01", "return")]
    assert set(one.frames.collect()["direction"]) == {"return"} and one.frames.collect().height == 40
    assert len(runs.select(status="invalid")) == 0 and runs.select(status="invalid").table().height == 0


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"distance": "5km"}, "no run has distance = '5km'; did you mean '5 km'?"),
        ({"cameras": True}, "no run has cameras = True; there are 1, 2"),
        ({"distanc": "5 km"}, 'runs have no column "distanc" to select by; did you mean "distance"?'),
        ({"flow": "call.vois"}, "no run has flow = 'call.vois'; did you mean 'call.voice'?"),
        ({"status": "good"}, "no run has status = 'good'; there are 'valid', 'degraded', 'invalid'"),
    ],
)
def test_what_no_run_has_cannot_be_selected(wanted: dict[str, Any], told: str, sweep: Campaign) -> None:
    with pytest.raises(NotSelected) as raised:
        Runs.open(sweep.folder).select(**wanted)
    assert str(raised.value) == told


def test_frames_are_those_of_all_runs_whatever_netboxes_they_crossed(sweep: Campaign) -> None:
    odd = sweep.folder / "runs/0000-00/frames.parquet"
    pl.read_parquet(odd).rename({"in_ns.sky": "in_ns.moon"}).write_parquet(odd)
    rows = Runs.open(sweep.folder).frames
    counted = rows.group_by("run").agg(pl.len(), pl.col("in_ns.sky", "in_ns.moon").count()).sort("run").collect()
    assert counted.rows() == [("0000-00", 40, 0, 40), *((name, 40, 40, 0) for name in ("0000-01", "0001-00", "0001-01"))]
    # Lazily: what is asked for of a run is read when the frame is collected.
    odd.unlink()
    with pytest.raises(FileNotFoundError):
        rows.collect()


def test_pandas_has_the_same_table(sweep: Campaign) -> None:
    runs = Runs.open(sweep.folder)
    frame, table = runs.pandas(), runs.table()
    assert list(frame.columns) == table.columns and len(frame) == 8
    assert frame.groupby("distance")["delay_ms_mean"].mean().to_dict() == {
        "2 km": pytest.approx(255.035),
        "5 km": pytest.approx(255.035),
    }
    assert frame["pesq"].isna().all() and frame["dscp"].isna().all()


def test_duckdb_reads_a_campaign_as_it_is(sweep: Campaign) -> None:
    asked = f"""
        SELECT index.parameters.distance, count(DISTINCT index.name), avg(delay_ms_mean)
        FROM read_parquet('{sweep.folder}/runs/*/flows.parquet', filename = true) AS flows
        JOIN read_json('{sweep.folder}/runs.jsonl') AS index ON index.name = parse_path(flows.filename)[-2]
        GROUP BY ALL ORDER BY ALL
    """
    with duckdb.connect() as database:
        told = database.execute(asked).fetchall()
    assert told == [("2 km", 2, pytest.approx(255.035)), ("5 km", 2, pytest.approx(255.035))]


def test_parameters_keep_their_types_and_do_not_hide_other_columns(campaign: Campaign) -> None:
    values: tuple[dict[str, Any], ...] = (
        {"parameter_flow": 0, "flow": "a", "rate": 1, "mixed": "x", "on": True},
        {"parameter_flow": 0, "flow": "b", "rate": 2.5, "mixed": [1], "on": False, "huge": 2**70, "endless": 10**400},
    )
    for repetition, parameters in enumerate(values):
        campaign.add(f"0000-{repetition:02}", **parameters)
    runs = Runs.open(campaign.folder)
    table = runs.select(direction="return").table()
    own = ("parameter_flow", "parameter_parameter_flow", "rate", "mixed", "on", "huge", "endless")
    assert table.select(*own, "flow").rows() == [
        (0, "a", 1.0, "x", True, None, None, "call.voice"),
        (0, "b", 2.5, "[1]", False, 2.0**70, f"1{'0' * 400}", "call.voice"),
    ]
    assert len(runs.select(mixed=[[1]])) == 1 and len(runs.select(parameter_parameter_flow="a")) == 1


def test_several_topologies_have_the_names_that_the_campaign_gives_them(campaign: Campaign) -> None:
    campaign.add("0000-00", topology="lte")
    campaign.add("0001-00", topology="wifi")
    runs = Runs.open(campaign.folder)
    assert runs.parameters == {"topology": ["lte", "wifi"]}
    assert runs.select(topology="wifi", direction="return").table().select("run", "topology").rows() == [("0001-00", "wifi")]
    other = Campaign(campaign.folder.parent / "other", campaign.folder / "runs/0000-00")
    other.add("0002-00")
    assert Runs.open(campaign.folder, other.folder).runs["topology"].to_list() == ["lte", "wifi", "synthetic"]


def test_a_run_of_which_only_figures_were_kept_has_no_frames(sweep: Campaign) -> None:
    reduce(sweep.folder / "runs/0000-01", "figures")
    runs = Runs.open(sweep.folder)
    assert len(runs) == 4 and not runs.problems
    assert set(runs.frames.collect()["run"]) == {"0000-00", "0001-00", "0001-01"}
    (problem,) = runs.problems
    assert problem.place == sweep.folder / "runs/0000-01"
    assert problem.cause.startswith(
        "frames.parquet is missing: not all of the run was kept; remove its folder, and run its campaign"
    )


def test_the_last_line_of_a_name_counts_and_an_incomplete_one_does_not(campaign: Campaign) -> None:
    campaign.add("0000-00", distance="2 km")
    campaign.tell(json.dumps(campaign.line("0000-00", distance="9 km")) + "\n" + '{"name": "0000-01", ')
    runs = Runs.open(campaign.folder)
    assert runs.parameters == {"distance": ["9 km"]} and not runs.problems


def test_lines_of_the_index_that_are_damaged_are_told(campaign: Campaign) -> None:
    campaign.add("0000-00", distance="2 km")
    outside: Any = campaign.line("0000-01")
    for line in (
        *("no JSON", json.dumps({"name": "0000-01"}), "[" * 100_000),
        *(json.dumps(outside | {"name": "../../0000-00"}), json.dumps(outside | {"seed": 2**63})),
        *(json.dumps(outside | {"parameters": {"distance": "\ud800"}}), '"\\ud800"'),
    ):
        campaign.tell(line + "\n")
    runs = Runs.open(campaign.folder)
    assert len(runs) == 1
    told = campaign.problems()
    assert [problem.partition(" is damaged")[0] for problem in told] == [f"runs.jsonl: line {number}" for number in range(2, 9)]
    assert "name: '../../0000-00' is not the name of a folder" in told[3]
    assert all(problem.isprintable() for problem in told)


def no_table(folder: Path) -> None:
    (folder / "flows.parquet").unlink()


def not_analysed(folder: Path) -> None:
    no_table(folder)
    (folder / "metrics.json").unlink()


def cut(folder: Path) -> None:
    content = (folder / "flows.parquet").read_bytes()
    (folder / "flows.parquet").write_bytes(content[: len(content) // 2])


def rewritten(folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame], **said: Any) -> None:
    file = folder / "flows.parquet"
    identity = {"format": "netboxit flows", "version": 1, **said}
    change(pl.read_parquet(file)).write_parquet(file, metadata={"netboxit": json.dumps(identity)})


def newer(folder: Path) -> None:
    rewritten(folder, lambda table: table, version=2)


def other_columns(folder: Path) -> None:
    rewritten(folder, lambda table: table.drop("direction"))


def words_for_numbers(folder: Path) -> None:
    rewritten(folder, lambda table: table.with_columns(pl.lit("many").alias("loss_ratio")))


def another_table(folder: Path) -> None:
    shutil.copy(folder / "measures.parquet", folder / "flows.parquet")


def gone(folder: Path) -> None:
    shutil.rmtree(folder)


def linked_file(folder: Path) -> None:
    (folder / "flows.parquet").rename(folder.parent.parent / "elsewhere")
    (folder / "flows.parquet").symlink_to("../../elsewhere")


def linked_folder(folder: Path) -> None:
    folder.rename(folder.parent.parent / "elsewhere")
    folder.symlink_to("../elsewhere")


def pipe(folder: Path) -> None:
    (folder / "flows.parquet").unlink()
    os.mkfifo(folder / "flows.parquet")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (no_table, "flows.parquet is missing, as in a run that an earlier NetBoxIT analysed: netboxit report "),
        (not_analysed, "it has not been analysed: it goes on, or was cut short; when it is over: netboxit report "),
        (cut, "flows.parquet is damaged: "),
        (newer, "flows.parquet is of version 2, and this NetBoxIT reads 1: netboxit report "),
        (other_columns, "flows.parquet is damaged: its columns are not lab, "),
        (words_for_numbers, "flows.parquet is damaged: loss_ratio is no measure"),
        (another_table, "flows.parquet is damaged: it does not say that it is netboxit flows"),
        (gone, "runs.jsonl has this run, and its folder is gone"),
        (linked_file, "flows.parquet is a link, and links of a run are not followed"),
        (linked_folder, "this is a link, and links are not followed"),
        (pipe, "flows.parquet is no ordinary file"),
    ],
)
def test_a_run_that_cannot_be_read_is_told_and_the_others_are_there(
    damage: Callable[[Path], None], told: str, sweep: Campaign
) -> None:
    damage(sweep.folder / "runs/0000-01")
    runs = Runs.open(sweep.folder)
    assert runs.runs["run"].to_list() == ["0000-00", "0001-00", "0001-01"] and runs.table().height == 6
    (problem,) = sweep.problems()
    assert problem.startswith(f"runs/0000-01: {told}"), problem


def test_a_run_that_goes_on_is_told(sweep: Campaign) -> None:
    sweep.add("0002-00", to_index=False)
    assert sweep.problems() == ["runs/0002-00: runs.jsonl has no line of this run: it goes on, or was cut short"]


def test_whatever_is_in_a_table_is_read_or_told(campaign: Campaign) -> None:
    """Bits of a table are flipped, as a failing disk does."""
    chance = random.Random(1)
    for number in range(40):
        file = campaign.add(f"0000-{number:02}") / "flows.parquet"
        content = bytearray(file.read_bytes())
        for _ in range(chance.choice((1, 10, 100))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        file.write_bytes(content)
    runs = Runs.open(campaign.folder)
    assert len(runs) + len(runs.problems) == 40
    assert runs.table().height == 2 * len(runs)


def test_other_tables_that_are_damaged_are_told_when_they_are_asked_for(sweep: Campaign) -> None:
    damaged, linked, lacking = (sweep.folder / "runs" / name for name in ("0000-00", "0000-01", "0001-00"))
    for file in ("measures.parquet", "frames.parquet"):
        (damaged / file).write_bytes(b"PAR1")
        (linked / file).unlink()
        (linked / file).symlink_to(lacking / "flows.parquet")
        (lacking / file).unlink()
    runs = Runs.open(sweep.folder)
    assert not runs.problems
    for table in ("frames", "measures"):
        assert getattr(runs, table).select("run").unique().collect()["run"].to_list() == ["0001-01"]
        told = [str(problem) for problem in runs.problems if table in problem.cause]
        for problem, (folder, cause) in zip(
            told, ((damaged, "is damaged: "), (linked, "is a link, "), (lacking, "is missing: netboxit report ")), strict=True
        ):
            assert problem.startswith(f"{folder}: {table}.parquet {cause}"), problem


def test_results_and_single_runs_are_opened_too(campaign: Campaign, tmp_path: Path) -> None:
    folder = campaign.add("0000-00", distance="2 km")
    results = tmp_path / "results"
    (results / "runs" / os.fsdecode(b"\xff")).mkdir(parents=True)
    for name in ("20260101T000000Z-a", "20260102T000000Z-b"):
        shutil.copytree(folder, results / "runs" / name)
        (results / "runs" / name / "plan.json").write_text("{}")
    (results / "latest").symlink_to("runs/20260102T000000Z-b")
    runs = Runs.open(results)
    assert runs.runs["run"].to_list() == ["20260101T000000Z-a", "20260102T000000Z-b"] and runs.parameters == {}
    assert runs.runs["status"].to_list() == ["valid", "valid"]
    assert [problem.cause for problem in runs.problems] == ["its name is not UTF-8: rename it"]
    assert Runs.open(results / "latest").runs["run"].to_list() == ["20260102T000000Z-b"]
    together = Runs.open(campaign.folder, results)
    assert len(together) == 3 and together.table()["distance"].to_list() == ["2 km"] * 2 + [None] * 4
    # A name that several have would not tell them apart.
    shutil.copytree(campaign.folder, tmp_path / "y")
    assert Runs.open(campaign.folder, tmp_path / "y").runs["run"].to_list() == [
        str(place / "runs/0000-00") for place in (campaign.folder, tmp_path / "y")
    ]


def test_a_campaign_that_has_just_begun_is_empty(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").touch()
    runs = Runs.open(tmp_path)
    assert len(runs) == 0 and runs.table().is_empty() and runs.frames.collect().is_empty() and runs.measures.collect().is_empty()


@pytest.mark.parametrize(("place", "told"), [("", "has neither runs.jsonl"), ("x", "is not there"), ("file", "is no folder")])
def test_what_is_no_folder_of_runs_is_told(place: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoRuns, match=told):
        Runs.open(tmp_path / place)


def test_neither_pandas_nor_duckdb_is_needed_to_run(sweep: Campaign) -> None:
    """As where only what netboxit needs is installed: it says what is missing."""
    asked = (
        "import sys; sys.modules['pandas'] = sys.modules['pyarrow'] = sys.modules['duckdb'] = None\n"
        "from results.runs import NoPandas, Runs\n"
        f"runs = Runs.open({str(sweep.folder)!r}); print(runs.table().height)\n"
        "try: runs.pandas()\nexcept NoPandas as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[0] == "8" and "pip install pandas" in told.stdout
