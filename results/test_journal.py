# SPDX-License-Identifier: GPL-2.0-or-later
"""Journals of netboxes on the clock of a run, and what is made of their statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from results import journal
from results.counters import Series, all_series
from results.events import read_events
from results.journal import Journal

#: When a run began, ns, and how much earlier its netbox `cell`.
BEGAN_NS = 1_700_000_000_000_000_000
EARLIER_NS = 2_000_000


def station(sent: int, queued: int, snr: float, **lost: int) -> dict[str, Any]:
    return {"stations": {"fr1": {"transmissions": sent, "queued": queued, "snr": snr, "standard": "802.11a", "lost": lost}}}


@pytest.fixture
def cell(tmp_path: Path) -> Journal:
    lines = [
        {"began_ns": BEGAN_NS - EARLIER_NS},
        {"at_s": 0.0, "statistics": station(0, 0, 30.0)},
        {"at_s": 1.0, "statistics": station(50, 4, 30.0)},
        {"at_s": 1.5, "event": "set", "parameter": "distance", "value": 90.0},
        {"at_s": 1.75, "event": "link_down", "station": "fr1", "reason": "out of range"},
        {"at_s": 2.0, "statistics": station(150, 5, 30.0, queue_full=3)},
    ]
    file = tmp_path / "journal.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"at_s": 3.0, "stat')
    netbox_journal = journal.read(file)
    assert netbox_journal is not None
    return netbox_journal


def of(cell: Journal) -> dict[str, Series]:
    return {one.name: one for one in all_series(journal.series({"cell": cell}, BEGAN_NS))}


def test_a_table_has_a_row_for_each_number_of_each_station_at_each_time_of_the_run(cell: Journal) -> None:
    table = journal.series({"cell": cell}, BEGAN_NS)
    assert table.columns == ["netbox", "station", "time_s", "name", "value"]
    assert table.filter(name="transmissions").rows() == [
        ("cell", "fr1", pytest.approx(at - 0.002), "transmissions", value)
        for at, value in ((0.0, 0.0), (1.0, 50.0), (2.0, 150.0))
    ]
    assert table.filter(name="lost.queue_full").height == 1
    assert "standard" not in table["name"].to_list()


def test_what_only_grows_is_a_counter_unless_its_name_is_that_of_a_state(cell: Journal) -> None:
    found = of(cell)
    assert {name: one.kind for name, one in found.items()} == {
        "transmissions": "counter",
        "queued": "gauge",
        "snr": "constant",
        "lost.queue_full": "counter",
    }
    assert found["transmissions"].shown()[1].tolist() == pytest.approx([50.0, 100.0])
    sent: Any = found["transmissions"].summary()
    assert sent["total"] == 150.0
    assert found["queued"].summary() == {
        **{"netbox": "cell", "station": "fr1", "name": "queued", "kind": "gauge"},
        **{"min": 0.0, "mean": 3.0, "max": 5.0},
    }


def test_a_counter_that_appears_late_was_zero_before(cell: Journal) -> None:
    assert of(cell)["lost.queue_full"].values.tolist() == [0.0, 0.0, 3.0]


def test_a_node_that_was_rebooted_goes_on_in_its_journal(tmp_path: Path) -> None:
    lines = [
        {"began_ns": BEGAN_NS},
        {"at_s": 1.0, "event": "route"},
        {"began_ns": BEGAN_NS + 5 * 10**9},
        {"at_s": 2.0, "event": "route"},
    ]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    netbox_journal = journal.read(tmp_path / "journal.jsonl")
    assert netbox_journal is not None
    assert [event["at_s"] for event in netbox_journal.events] == [1.0, 7.0]


def test_a_missing_journal_is_none(tmp_path: Path) -> None:
    assert journal.read(tmp_path / "journal.jsonl") is None


def test_a_change_that_the_run_made_is_told_once_with_the_time_of_its_effect(cell: Journal, tmp_path: Path) -> None:
    change = {"kind": "parameter", "netbox": "cell", "parameter": "distance", "value": 90.0, "words": "cell: distance 90 m"}
    wire = {"kind": "wire", "wire": "a--b", "state": "down", "words": "wire a--b down"}
    lines = [{"at_s": 1.49, "late_ms": 0.5, "took_ms": 2.0, "error": None, **change}]
    lines += [{"at_s": 1.6, "late_ms": 1.0, "took_ms": 2.0, "error": None, **wire}]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = read_events(file, {"cell": cell}, BEGAN_NS)
    assert [one["time_s"] for one in events] == pytest.approx([1.498, 1.601, 1.748])
    assert [(one["words"], one["by_run"]) for one in events] == [
        ("cell: distance 90 m", True),
        ("wire a--b down", True),
        ("cell.fr1: link down (reason out of range)", False),
    ]


def test_what_happens_after_the_run_is_not_told(cell: Journal, tmp_path: Path) -> None:
    everything = read_events(tmp_path / "events.jsonl", {"cell": cell}, BEGAN_NS)
    last = everything[-1]["time_s"]
    events = read_events(tmp_path / "events.jsonl", {"cell": cell}, BEGAN_NS, BEGAN_NS + int((last - 0.1) * 1e9))
    assert events == everything[:-1]


def test_a_change_by_hand_is_the_netboxs_word(cell: Journal, tmp_path: Path) -> None:
    events = read_events(tmp_path / "events.jsonl", {"cell": cell}, BEGAN_NS)
    assert (events[0]["words"], events[0]["by_run"]) == ("cell: distance 90", False)
