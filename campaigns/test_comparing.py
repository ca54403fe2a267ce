# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of many runs: what counts, what is told, and what of a stranger's folder comes into them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from applications.registry import analyses
from campaigns import comparing
from campaigns.comparing import Compared, NoPlace, NothingToCompare
from contracts.campaign import CAMPAIGN_FILE
from contracts.installation import CHECKOUT
from contracts.run_folder import FLOWS_TABLE, FRAMES_TABLE, KEPT_FILE, PLAN_FILE, REPORT_FILE
from results import comparison_plots, delay_distributions
from results.analyse import analyse
from results.comparison import compare
from results.conftest import MS, Campaign, SyntheticRun
from results.measure import Measure
from results.parameter_axis import Axis
from results.runs import Runs
from tests import documents

#: One-way delay of the run whose copies these are.
_DELAY_MS: Final = 255.035
_FILE: Final = """\
topology: ../topologies/emergency.yaml
virtual: true
description: "How far, & <how> sure?"
parameters:
  distance: {path: netboxes.longhaul.distance, values: [2 km, 10 km, 500 m]}
repetitions: 2
measures: [call.delay_ms_mean, call.return.mos_e_model]
"""


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A call of 20 packets each way, which take 255.035 ms."""
    run = SyntheticRun(tmp_path_factory.mktemp("runs") / "run")
    run.calls(20)
    folder = run.write()
    analyse(folder, analyses())
    return folder


@pytest.fixture
def campaign(tmp_path: Path, analysed: Path) -> Campaign:
    return Campaign(tmp_path / "sweep", analysed)


def add(campaign: Campaign, name: str, more_ms: float | None = 0.0, status: str = "valid", /, **parameters: Any) -> Path:
    """A run with so much more mean delay, whose repetition is its seed."""
    folder = campaign.add(name, to_index=False)
    (folder / PLAN_FILE).write_text("{}")
    line = campaign.line(name, **parameters)
    line["seed"] = line["repetition"]
    campaign.tell(json.dumps(line) + "\n")
    table = pl.read_parquet(folder / FLOWS_TABLE)
    metadata = {key: value for key, value in pl.read_parquet_metadata(folder / FLOWS_TABLE).items() if key == "netboxit"}
    delay = pl.col("delay_ms_mean") + more_ms if more_ms is not None else pl.lit(None, pl.Float64)
    table.with_columns(delay.alias("delay_ms_mean"), status=pl.lit(status)).write_parquet(folder / FLOWS_TABLE, metadata=metadata)
    return folder


def sweep(campaign: Campaign) -> None:
    """Three distances, twice each; each kilometre is a millisecond, the seed is another one."""
    (campaign.folder / CAMPAIGN_FILE).write_text(_FILE)
    for point, distance in enumerate((2.0, 10.0, 0.5)):
        for repetition in range(2):
            text = f"{distance:g} km" if distance >= 1 else "500 m"
            add(campaign, f"{point:04}-{repetition:02}", distance + repetition, distance=text)


def compared(*folders: Path, into: Path, names: tuple[str, ...] = (), files: bool = False) -> Compared:
    return comparing.write(folders, names, into, files=files)


class _Page(HTMLParser):
    """The elements, what is shown as text, and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href" and value and not value.startswith("#")]

    def handle_data(self, data: str) -> None:
        self.text += data


def page(into: Path) -> _Page:
    return _Page((into / REPORT_FILE).read_text())


def test_a_campaign_says_what_its_runs_say(campaign: Campaign) -> None:
    sweep(campaign)
    found = compared(campaign.folder, into=campaign.folder, files=False)
    document = found.document()
    assert (document["runs"], document["notes"]) == ({"valid": 6, "degraded": 0, "invalid": 0, "unreadable": 0}, [])
    assert document["parameters"] == [
        {"name": "distance", "values": ["500 m", "2 km", "10 km"], "unit": "km", "numbers": [0.5, 2.0, 10.0]}
    ]
    means = [mean for mean in document["means"] if mean["measure"] == "call.return.delay_ms_mean"]
    assert [mean["mean"] for mean in means] == [pytest.approx(_DELAY_MS + more) for more in (1.0, 2.5, 10.5)]
    # Student's quantile with one degree of freedom is 12.706, the error of the mean of x and x + 1 a half.
    assert [mean["high"] - mean["mean"] for mean in means if mean["high"]] == [pytest.approx(12.706 / 2, abs=1e-3)] * 3
    # The means' intervals hold each other, and the differences of pairs are exact.
    differences = [one for one in document["differences"] if one["measure"] == "call.return.delay_ms_mean"]
    assert [one["difference"] for one in differences] == pytest.approx([1.5, 9.5])
    assert [(one["pairs"], one["verdict"]) for one in differences] == [(2, "higher"), (2, "higher")]
    assert {one["verdict"] for one in document["differences"] if one["measure"] == "call.return.mos_e_model"} == {"no difference"}
    shown = page(campaign.folder)
    assert "6 runs" in shown.text and "How far, & <how> sure?" in shown.text and "netboxes.longhaul.distance" in shown.text
    assert "no difference" in shown.text and not {"script", "link", "img"} & {*shown.tags}
    # Two measures, of which one is of two flows; the delays of both flows.
    assert shown.tags.count("svg") == 3 + 2


def test_the_same_runs_have_the_same_report(campaign: Campaign, tmp_path: Path) -> None:
    sweep(campaign)
    pages = []
    for _ in range(2):
        compared(campaign.folder, into=tmp_path)
        pages.append((tmp_path / REPORT_FILE).read_bytes())
    assert pages[0] == pages[1]


def test_invalid_runs_are_left_out_and_degraded_ones_are_counted_and_told(campaign: Campaign) -> None:
    (campaign.folder / CAMPAIGN_FILE).write_text(_FILE)
    for number, (status, more_ms) in enumerate((("valid", 0.0), ("degraded", 4.0), ("invalid", 1000.0))):
        add(campaign, f"0000-{number:02}", more_ms, status, distance="2 km")
    found = compared(campaign.folder, into=campaign.folder)
    document = found.document()
    assert document["runs"] == {"valid": 1, "degraded": 1, "invalid": 1, "unreadable": 0}
    assert document["means"][0]["mean"] == pytest.approx(_DELAY_MS + 2.0)
    shown = page(campaign.folder).text
    assert "2 runs" in shown and "1 invalid: what these measured is not the network, so they are left out" in shown
    assert "Degraded: 0000-01" in shown and "Invalid: 0000-02" in shown
    # One of three points.
    assert any("is not complete: 1 of 3 points have their 2 runs" in note for note in document["notes"])


def test_a_report_says_where_intervals_decided_how_often_points_were_run(campaign: Campaign) -> None:
    until = "repetitions: {until: {measure: call.return.loss_ratio, half_width: 5 %}, at_least: 2, at_most: 9}"
    (campaign.folder / CAMPAIGN_FILE).write_text(_FILE.replace("repetitions: 2", until))
    add(campaign, "0000-00", distance="2 km")
    compared(campaign.folder, into=campaign.folder)
    shown = page(campaign.folder).text
    assert (
        "until the interval of call.return.loss_ratio was narrow enough" in shown and "0 of 3 points have their 2 runs" in shown
    )


def test_where_no_run_counts_the_report_says_so(campaign: Campaign) -> None:
    add(campaign, "0000-00", 0.0, "invalid", distance="2 km")
    compared(campaign.folder, into=campaign.folder)
    shown = page(campaign.folder).text
    assert "no run counts" in shown and "No run has a value of these measures" in shown


def test_single_runs_are_points_of_their_own(campaign: Campaign, tmp_path: Path) -> None:
    folders = [add(campaign, f"0000-0{number}", 10.0 * number) for number in range(3)]
    names = ("call.return.delay_ms_mean",)
    document = compared(*folders, into=tmp_path, names=names).document()
    assert document["parameters"][0]["values"] == ["0000-00", "0000-01", "0000-02"]
    assert [one["difference"] for one in document["differences"]] == pytest.approx([10.0, 20.0])
    assert {(one["low"], one["high"], one["verdict"]) for one in document["differences"]} == {(None, None, None)}
    assert "differences have no interval" in document["notes"][0] and "not known" in page(tmp_path).text


def test_without_a_campaign_that_asks_the_usual_measures_of_the_traffic_are_told(campaign: Campaign, tmp_path: Path) -> None:
    document = compared(add(campaign, "0000-00"), into=tmp_path).document()
    measures = dict.fromkeys(mean["measure"].rpartition(".")[2] for mean in document["means"])
    assert list(measures) == ["mos_e_model", "r_factor", "goodput_kbps", "loss_ratio", "delay_ms_mean", "delay_ms_p99"]
    assert document["points"] == [{"point": 0, "parameters": {}, "runs": 1}] and document["differences"] == []


def test_campaigns_with_other_parameters_are_compared_by_what_they_have_in_common(tmp_path: Path, analysed: Path) -> None:
    near, far = Campaign(tmp_path / "near", analysed), Campaign(tmp_path / "far", analysed)
    for repetition in range(3):
        add(near, f"0000-0{repetition}", float(repetition), codec="opus")
        add(far, f"0000-0{repetition}", repetition + 7.0, codec="opus")
        add(far, f"0001-0{repetition}", repetition + 9.0, codec="opus", queue="codel")
    names = ("call.return.delay_ms_mean",)
    document = compared(near.folder, far.folder, into=tmp_path, names=names).document()
    assert [(axis["name"], axis["values"]) for axis in document["parameters"]] == [
        ("campaign", ["near", "far"]),
        ("queue", [None, "codel"]),
    ]
    # From near to far, and in far from no queue to one; from near to far with a queue two are different.
    assert [(one["parameter"], one["pairs"]) for one in document["differences"]] == [("campaign", 3), ("queue", 3)]
    assert [one["difference"] for one in document["differences"]] == pytest.approx([7.0, 2.0])


def test_parameters_of_one_name_and_values_that_are_no_numbers_are_kept_apart(tmp_path: Path, analysed: Path) -> None:
    one, other = Campaign(tmp_path / "one", analysed), Campaign(tmp_path / "other", analysed)
    for number, value in enumerate((float("nan"), float("inf"), 2.0)):
        add(one, f"{number:04}-00", float(number), campaign="x", value=value)
        add(other, f"{number:04}-00", float(number), campaign="y", value=value)
    found = compared(one.folder, other.folder, into=tmp_path, names=("call.return.delay_ms_mean",))
    document = found.document()
    json.dumps(document, allow_nan=False)
    names = [axis["name"] for axis in document["parameters"]]
    assert names == ["campaign'", "campaign", "parameter_value"]
    assert document["parameters"][2]["values"] == [None, 2.0] and len(document["points"]) == 4


def test_parameters_may_be_called_as_columns_of_the_tables_are(campaign: Campaign, tmp_path: Path) -> None:
    columns = ("mean", "count", "point", "name", "value", "low", "bin", "frames", "base", "axis", "seed", "run", "compared")
    for number in range(4):
        add(campaign, f"{number // 2:04}-{number % 2:02}", float(number // 2), **dict.fromkeys(columns, f"v{number // 2}"))
    document = compared(campaign.folder, into=tmp_path, names=("call.return.delay_ms_mean",)).document()
    assert [mean["mean"] for mean in document["means"]] == [pytest.approx(_DELAY_MS), pytest.approx(_DELAY_MS + 1.0)]


_HOSTILE: Final = {
    "<script>alert(1)</script>": ["<img src=x onerror=alert(1)>", "</svg><b>"],
    "\x1b[31m$red_{}$": ["\x1b]0;owned\x07", "$\\frac{1}{0}$"],
    "‮txt": ["‮evil", "%&#_{}~^\\<>|"],
    "long" * 40: ["x" * 300, "ü日本"],
}


def test_what_a_stranger_calls_things_is_text(campaign: Campaign, tmp_path: Path) -> None:
    (campaign.folder / CAMPAIGN_FILE).write_text("campaign: [")
    for number in range(4):
        values = {name: pair[number // 2] for name, pair in _HOSTILE.items()}
        add(campaign, f"{number // 2:04}-{number % 2:02}", float(number // 2), **values)
    found = compared(campaign.folder, into=tmp_path / "out", names=("call.return.delay_ms_mean",), files=True)
    text = (tmp_path / "out" / REPORT_FILE).read_text()
    shown = _Page(text)
    assert not {"script", "img", "b"} & {*shown.tags}
    for file in found.files:
        content = file.read_bytes()
        if file.suffix != ".pdf":
            assert not set(content.decode()) & {"\x1b", "\x07", "‮"}, file
        if file.suffix == ".svg":
            ElementTree.fromstring(content)
        if file.suffix == ".pdf":
            assert content.startswith(b"%PDF")
    tex = (tmp_path / "out/tables/means.tex").read_text()
    # Every character that LaTeX takes for something else is written as the letter that it is.
    assert r"\%\&\#\_\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}\textgreater{}\textbar{}" in tex
    assert any("is not the file of a campaign" in note for note in found.document()["notes"])
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)


def test_values_that_are_no_numbers_and_measures_without_any_are_told(campaign: Campaign, tmp_path: Path) -> None:
    (campaign.folder / CAMPAIGN_FILE).write_text(_FILE.replace("[call.delay_ms_mean", "[call.ssim_mean, call.delay_ms_mean"))
    for number, more_ms in enumerate((float("nan"), float("inf"), 1e300, None, 0.0)):
        add(campaign, f"0000-{number:02}", more_ms, distance="2 km")
    found = compared(campaign.folder, into=tmp_path)
    document = found.document()
    json.dumps(document, allow_nan=False)
    assert [mean["count"] for mean in document["means"] if mean["measure"] == "call.return.delay_ms_mean"] == [1]
    assert any(note == "no run has a value of call.ssim_mean" for note in document["notes"])


def test_a_file_of_a_campaign_that_leads_elsewhere_is_not_read(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(_FILE)
    (campaign.folder / CAMPAIGN_FILE).symlink_to(tmp_path / "other.yaml")
    add(campaign, "0000-00", distance="2 km")
    found = compared(campaign.folder, into=tmp_path / "out")
    assert "is missing" in found.warnings[0] and "How far" not in page(tmp_path / "out").text


@pytest.mark.parametrize("name", ["call.nothing", "\x1b[31m", "", "....", "call.delay_ms_mean.", "a" * 1000])
def test_a_measure_that_is_none_is_refused(name: str, campaign: Campaign, tmp_path: Path) -> None:
    add(campaign, "0000-00")
    with pytest.raises(NothingToCompare, match="there is no measure") as error:
        compared(campaign.folder, into=tmp_path, names=(name,))
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("place", ["file", "file/below", "folder"])
def test_a_place_that_takes_no_report_is_told(place: str, campaign: Campaign, tmp_path: Path) -> None:
    add(campaign, "0000-00")
    (tmp_path / "file").touch()
    (tmp_path / "folder" / REPORT_FILE).mkdir(parents=True)
    with pytest.raises(NoPlace, match=r"cannot be written: .*; name a folder of yours by --out"):
        compared(campaign.folder, into=tmp_path / place)


def test_outliers_lead_to_their_report_or_say_what_makes_it(campaign: Campaign, tmp_path: Path) -> None:
    for point in range(3):
        for number in range(6):
            # The median of a point is less than 2.5 ms from all others but the last one.
            own = add(campaign, f"{point:04}-{number:02}", 500.0 if number == 5 else float(number), distance=f"{point + 1} km")
            if point == 0:
                (own / REPORT_FILE).write_text("<p>a report")
            elif point == 1:
                (own / KEPT_FILE).write_text('{"keep": "figures"}')
    into = tmp_path / "out & about"
    document = compared(campaign.folder, into=into, names=("call.return.delay_ms_mean",)).document()
    assert [one["run"] for one in document["outliers"]] == ["0000-05", "0001-05", "0002-05"]
    shown = page(into)
    assert shown.links == ["../sweep/runs/0000-05/report.html"]
    assert (into / shown.links[0]).read_text() == "<p>a report"
    assert "netboxit run --again ../sweep/runs/0001-05" in shown.text
    assert "netboxit report ../sweep/runs/0002-05" in shown.text


def test_distributions_of_delay_count_every_frame(campaign: Campaign) -> None:
    """At one point frames take 1 to 20 ms, at the other ten times as long."""
    for point in range(2):
        folder = add(campaign, f"{point:04}-00", queue=f"q{point}")
        table, factor = pl.read_parquet(folder / FRAMES_TABLE), 10**point
        late = pl.col("sent_ns") + (pl.col("number") + 1) * MS * factor
        table.with_columns(received_ns=pl.when(pl.col("number") < 10).then(late)).write_parquet(folder / FRAMES_TABLE)
        flows = pl.read_parquet(folder / FLOWS_TABLE)
        own = flows.with_columns(delay_ms_min=pl.lit(1.0 * factor), delay_ms_p99_9=pl.lit(10.0 * factor))
        own.write_parquet(folder / FLOWS_TABLE, metadata={"netboxit": pl.read_parquet_metadata(folder / FLOWS_TABLE)["netboxit"]})
    runs = Runs.open(campaign.folder)
    index = runs.runs.rename({"queue": "at.queue"}).select("run", "at.queue", "seed")
    comparison = compare(
        index,
        pl.DataFrame(schema={"run": pl.String, "name": pl.String, "value": pl.Float64}),
        [Axis.of("at.queue", "queue", index["at.queue"])],
        {},
    )
    plots, notes = delay_distributions.plots(runs, comparison, ["call"])
    assert not notes and len(plots) == 2
    for plot in plots:
        lines = {line.label: line for line in plot.panels[0].lines}
        assert list(lines) == ["q0", "q1"]
        for label, factor in (("q0", 1.0), ("q1", 10.0)):
            # Half of those that arrived, ten of twenty, took 5 ms at most, or 50; bins are of 1.5 %.
            line = lines[label]
            assert np.interp(0.501, line.y, line.x) == pytest.approx(6.0 * factor, rel=0.02)
            assert line.y[-1] == 1.0 and np.all(np.diff(line.y) >= 0.0)


def test_runs_whose_frames_were_not_kept_have_no_distribution(campaign: Campaign, tmp_path: Path) -> None:
    (add(campaign, "0000-00") / FRAMES_TABLE).unlink()
    compared(campaign.folder, into=tmp_path)
    assert "distributions of delay need keep: frames" in page(tmp_path).text


def test_points_of_a_hypercube_are_all_shown_as_dots() -> None:
    chance = np.random.default_rng(5)
    distances, powers = chance.uniform(10.0, 1000.0, 40), chance.uniform(10.0, 30.0, 40)
    columns = {"at.topology": ["wifi", "lte"] * 40, "at.distance": np.repeat(distances, 2), "at.power": np.repeat(powers, 2)}
    runs = pl.DataFrame(columns).with_columns(run=pl.int_range(80).cast(pl.String), seed=pl.lit(1, pl.Int64))
    values = runs.select("run", name=pl.lit("x"), value=pl.col("at.distance"))
    axes = [Axis.of(column, column.removeprefix("at."), runs[column]) for column in columns]
    comparison = compare(runs, values, axes, {"x": Measure("delay_ms_mean", "ms", "delay")})
    ((_, by_axis),), _ = comparison_plots.plots(comparison, 72)
    for plot in by_axis:
        (panel,) = plot.panels
        assert plot.kind == "points" and sum(line.x.size for line in panel.lines) == 80
    by_topology, by_distance, _ = by_axis
    assert list(by_distance.colours) == ["wifi", "lte"] and by_topology.x_names == ["wifi", "lte"]
    # Distance is drawn against itself.
    assert all(np.allclose(line.x, line.y) for line in by_distance.panels[0].lines)


def test_the_plots_of_a_thousand_points_and_twenty_measures_are_no_more_than_a_page_has_room_for() -> None:
    chance = np.random.default_rng(0)
    for columns in ({"a": 10, "b": 10, "c": 10}, {"a": 1000, "b": 1000}):
        count = 1000
        points = pl.DataFrame({f"at.{name}": chance.integers(0, most, count) for name, most in columns.items()})
        runs = points.with_columns(run=pl.int_range(count).cast(pl.String), seed=pl.int_range(count))
        names = [f"x{number}.delay_ms_mean" for number in range(20)]
        values = pl.DataFrame(
            {
                "run": [str(run) for run in range(count)] * 20,
                "name": np.repeat(names, count),
                "value": chance.normal(size=20 * count),
            }
        )
        axes = [Axis.of(f"at.{name}", name, runs[f"at.{name}"]) for name in columns]
        comparison = compare(runs, values, axes, dict.fromkeys(names, Measure("delay_ms_mean", "ms", "delay")))
        shown, left_out = comparison_plots.plots(comparison, 30)
        assert 20 <= sum(len(plot.panels) for _, own in shown for plot in own) <= 30
        assert [name for name, _ in shown] + left_out == names


def test_the_command_writes_figures_and_tables_and_prints_what_its_schema_says(campaign: Campaign, tmp_path: Path) -> None:
    sweep(campaign)
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "compare", str(campaign.folder)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True, cwd=tmp_path)
    document = documents.result(done.stdout, "compare")
    assert document["files"] == [str(campaign.folder / REPORT_FILE)]
    done = subprocess.run([*command, "--out", "paper"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "6 runs at 3 points" in done.stdout and "no difference" in done.stdout
    written = sorted(str(file.relative_to(tmp_path / "paper")) for file in (tmp_path / "paper").rglob("*.*"))
    assert [name for name in written if name.startswith("tables")] == [
        f"tables/{name}.{ending}" for name in ("differences", "means", "outliers") for ending in ("csv", "tex")
    ]
    assert {"figures/call.return.mos_e_model-by-distance.pdf", "figures/delay-of-call.voice-return.svg"} <= {*written}
    table = pl.read_csv(tmp_path / "paper/tables/means.csv")
    assert table.columns[:4] == ["distance", "measure", "runs", "mean"] and table.height == 9
