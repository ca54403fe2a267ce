# SPDX-License-Identifier: GPL-2.0-or-later
"""flows.parquet and measures.parquet of runs whose delays and losses the test made, as others read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from typing_extensions import TypedDict

from applications.registry import analyses, measures
from results.analyse import analyse
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, MeasuredValues
from results.conftest import MS, US, SyntheticRun
from results.measure import Measure
from results.records import Fate
from results.test_conversations import talk


class Talk(TypedDict):
    flow: str


def analysis_that_gives(name: str, value: float | None, of_flow: bool = True) -> ApplicationAnalysis:
    def judge(evidence: Evidence) -> Findings:
        flow = evidence.flows[0].measured.flow
        where = {"flow": flow.name, "direction": flow.direction} if of_flow else {}
        return Findings([], measured=[MeasuredValues({name: value}, "call", **where)])  # type: ignore[arg-type]

    return ApplicationAnalysis(
        "talks",
        Talk,
        judge,
        measures=[Measure("words", "", "words that were said"), Measure("talk_s", "s", "its length", of="traffic")],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50 packets each way; towards the centre 10 are lost, and every packet takes 255.035 ms. Somebody talks besides."""
    run = SyntheticRun(tmp_path_factory.mktemp("tables") / "run")
    run.calls(50, gaps=(2 * US, 30 * US, 3 * US), inside=(5 * MS, 250 * MS))
    for journey in run.journeys["return"][20:30]:
        journey.lost = ("sky", Fate.QUEUE_FULL)
    talk(run, 160, port=5201, back=40, tos=0x20)
    run.write()
    analyse(run.folder, analyses(), page=False)
    return run.folder


def test_there_is_a_row_for_each_flow_and_direction_with_what_was_made(folder: Path) -> None:
    rows = {row["direction"]: row for row in pl.read_parquet(folder / "flows.parquet").filter(flow="call.voice").to_dicts()}
    assert set(rows) == {"return", "forward"}
    there = rows["return"]
    assert (there["packets"], there["received"], there["loss_ratio"]) == (50, 40, pytest.approx(0.2))
    assert [there[f"delay_ms_{name}"] for name in ("mean", "p50", "p99_9", "max")] == [pytest.approx(255.035)] * 4
    # Constant delays have no jitter. From the last packet before the loss to the first one after it are 11 x 20 ms.
    assert there["jitter_ms_max"] == pytest.approx(0.0, abs=1e-9)
    assert (there["outages"], there["outage_ms_longest"]) == (1, pytest.approx(220.0))
    assert (rows["forward"]["loss_ratio"], rows["forward"]["outages"]) == (0.0, 0)
    assert (there["traffic"], there["application"], there["source"], there["destination"]) == ("call", "call", "fr1", "eoc")
    # UDP has no figures of TCP, and no other application's.
    assert [there[name] for name in ("tcp_bytes", "tcp_rtt_ms_p50", "stalls", "page_load_s_mean")] == [None] * 4


def test_what_an_application_measures_stands_beside_its_flow(folder: Path) -> None:
    rows = pl.read_parquet(folder / "flows.parquet").filter(flow="call.voice").sort("loss_ratio")
    # By the E-model a fifth lost is worse than nothing lost; nobody spoke.
    assert rows["mos_e_model"][0] > rows["mos_e_model"][1] >= 1.0
    assert rows["pesq"].null_count() == 2


def test_conversations_are_rows_without_traffic(folder: Path) -> None:
    rows = pl.read_parquet(folder / "flows.parquet").filter(pl.col("traffic").is_null())
    assert rows.select("direction", "dscp", "conversations", "packets").rows() == [
        ("return", 8, 1, 160),
        ("forward", 8, 1, 40),
    ]
    assert rows["mos_e_model"].null_count() == 2


def test_measures_that_are_no_flow_s_have_a_row_each(folder: Path) -> None:
    rows = pl.read_parquet(folder / "measures.parquet")
    known = measures()
    assert {(row["measure"], row["of"], row["unit"]) for row in rows.to_dicts()} <= {
        (measure.name, measure.of, measure.unit) for measure in known.values()
    }
    inside = rows.filter(of="segment", netbox="sky", direction="return", measure="segment_delay_ms_max")
    assert inside["value"].to_list() == [pytest.approx(250.0)]
    lost = rows.filter(of="segment", netbox="sky", direction="return", measure="segment_loss_ratio")
    assert lost["value"].to_list() == [pytest.approx(10 / 210)]
    # 2, 30 and 3 us in the gaps.
    assert rows.filter(measure="overhead_us_p50")["value"].to_list() == [pytest.approx(35.0)]


def test_every_column_of_a_flow_is_a_measure_with_unit_and_meaning(folder: Path) -> None:
    columns = pl.read_parquet(folder / "flows.parquet").columns
    of_flows = [measure for measure in measures().values() if measure.of == "flow"]
    assert columns[columns.index("packets") :] == [measure.name for measure in of_flows]
    for measure in of_flows:
        assert measure.meaning and not measure.meaning.endswith(".")
        # A name of a time, a rate or an amount says its unit.
        said = {"ms": "_ms", "s": "_s", "kbit/s": "_kbps", "B": "_bytes", "dB": "_db"}.get(measure.unit, "")
        assert f"{said}_" in f"{measure.name}_", measure


def test_duckdb_reads_them_as_they_are(folder: Path) -> None:
    with duckdb.connect() as database:
        asked = f"""
            SELECT direction, loss_ratio, delay_ms_p50, value
            FROM '{folder}/flows.parquet' AS flows JOIN '{folder}/measures.parquet' AS measures USING (direction)
            WHERE flow = 'call.voice' AND netbox = 'sky' AND measure = 'segment_loss_ratio' ORDER BY direction
        """
        told = database.execute(asked).fetchall()
    assert told == [
        ("forward", 0.0, pytest.approx(255.035), 0.0),
        ("return", pytest.approx(0.2), pytest.approx(255.035), pytest.approx(10 / 210)),
    ]


def test_a_run_in_which_nothing_was_sent_has_tables_all_the_same(synthetic: SyntheticRun) -> None:
    folder = synthetic.write()
    analyse(folder, analyses(), page=False)
    rows = pl.read_parquet(folder / "flows.parquet")
    assert rows["packets"].to_list() == [0, 0] and rows["delay_ms_mean"].null_count() == 2


def test_an_application_s_values_are_those_of_its_measures(synthetic: SyntheticRun) -> None:
    synthetic.calls(5)
    folder = synthetic.write()
    analyse(folder, {"call": analysis_that_gives("words", 7)})
    assert pl.read_parquet(folder / "flows.parquet")["words"].to_list() == [7.0, None]
    analyse(folder, {"call": analysis_that_gives("talk_s", 1.5, of_flow=False)})
    rows = pl.read_parquet(folder / "measures.parquet").filter(of="traffic")
    assert rows.select("name", "measure", "value", "unit").rows() == [("call", "talk_s", 1.5, "s")]


@pytest.mark.parametrize(
    ("name", "value", "of_flow", "told"),
    [
        ("syllables", 7, True, "gives syllables, which is none of its measures of flow"),
        ("words", 7, False, "gives words, which is none of its measures of traffic"),
        ("words", float("nan"), True, "gives nan as words of call, which is no number"),
    ],
)
def test_any_other_value_is_a_fault_of_the_application(
    name: str, value: Any, of_flow: bool, told: str, synthetic: SyntheticRun
) -> None:
    synthetic.calls(5)
    folder = synthetic.write()
    with pytest.raises(ValueError, match=told):
        analyse(folder, {"call": analysis_that_gives(name, value, of_flow)})
