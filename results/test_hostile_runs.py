# SPDX-License-Identifier: GPL-2.0-or-later
"""What hostile nodes leave in a run folder spoils what is told of themselves, and neither the page nor the rest of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from applications.registry import analyses
from results.analyse import analyse
from results.conftest import START_NS, SyntheticRun, netbox_statistics
from results.test_metrics_document import held

#: A formula for matplotlib that is none, an element of HTML, colours of a terminal, text from right to left.
NAME = "$\\frac{ <script> \x1b[31m \u202e"
#: Lines that no netbox writes.
LINES = (
    '{"at_s": 1e999, "event": "x"}',
    '{"at_s": NaN, "statistics": {"queued": 1}}',
    '{"at_s": "soon", "event": "x"}',
    '{"at_s": 1.0, "event": 7}',
    '{"at_s": 1.0, "event": "x", "station": 7}',
    '{"at_s": 1.0, "event": "set", "station": ["x"]}',
    '{"at_s": 1.0, "event": "x", "size": 1e999}',
    '{"at_s": 1.0, "event": "x", "size": ' + "9" * 400 + "}",
    '{"at_s": 1.0, "statistics": [1]}',
    '{"at_s": 1.0, "statistics": ' + '{"a": ' * 2_000 + "1" + "}" * 2_001,
    '{"at_s": 1e300, "event": "x"}',
    '{"at_s": 1e20, "statistics": {"a": 1}}',
    '{"at_s": 1.5, "statistics": {"a": 1e200}}',
    '{"began_ns": "later"}',
    "[]",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = SyntheticRun(tmp_path_factory.mktemp("hostile") / "run")
    run.calls(100)
    folder = run.write()
    # The last one is there twice.
    samples = [{"at_s": float(at), "statistics": {NAME: at, "stations": {NAME: {NAME: at}}}} for at in (0, 1, 2, 3, 3)]
    named = {"at_s": 1.0, "event": NAME, "station": NAME, NAME: NAME}
    events = [named, {"at_s": 2.0, "event": "route", "paths": 7}, {"at_s": 3.0, "event": "freeze"}]
    lines = [json.dumps(one) for one in ({"began_ns": START_NS}, *samples, *events)]
    (folder / "nodes/cell/journal.jsonl").write_text("\n".join([lines[0], *LINES, *lines[1:]]) + "\n")
    stations = {"x": 7, "y": {"behind": "all"}, "z": {"behind": 7}}
    (folder / "nodes/cell/statistics.json").write_text(json.dumps(netbox_statistics(segment={"stations": stations})))
    (folder / "nodes/sky/statistics.json").write_text(json.dumps(netbox_statistics() | {"missed": NAME}))
    (folder / "run.json").write_text(json.dumps({"started": "2026-01-01T00:00:00", "ended": None, "failure": NAME}))
    return folder


def test_the_rest_of_the_run_is_analysed(folder: Path) -> None:
    document = held(analyse(folder, analyses()))
    assert [flow["received"] for flow in document["flows"]] == [100, 100]
    assert [time_series["name"] for time_series in document["series"]] == [NAME, NAME]
    assert set(document["netboxes"]) == {"cell"}
    assert [event["kind"] for event in document["events"]] == [NAME, "route", "freeze"]


def test_its_words_are_text_in_the_report(folder: Path) -> None:
    analyse(folder, analyses())
    page = (folder / "report.html").read_text()
    assert "\\x1b[31m" in page
    assert "<script>" not in page and not set(page) & set("\x1b\u202e")
