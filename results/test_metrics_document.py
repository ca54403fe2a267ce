# SPDX-License-Identifier: GPL-2.0-or-later
"""What an analysis finds has the shape that users are told (docs/json/run.schema.json), whatever there was to be found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from applications.registry import analyses
from results.analyse import analyse
from results.conftest import MS, START_NS, US, SyntheticRun
from results.records import Fate
from results.test_conversations import talk
from testbed.documents import kinds
from tests.documents import documents
from tests.two_machines import TwoMachines

if TYPE_CHECKING:
    from results.metrics_document import Metrics


def held(metrics: Metrics) -> Any:
    """As a program reads it, held against the schema."""
    (run,) = documents(json.dumps(kinds.RUN.of({"folder": "x", "metrics": metrics}), allow_nan=False))
    return run["metrics"]


def test_a_call_with_losses_an_outage_and_other_traffic(synthetic: SyntheticRun) -> None:
    synthetic.missed = 2
    synthetic.calls(100)
    for journey in synthetic.journeys["return"][40:60]:
        journey.lost = ("sky", Fate.QUEUE_FULL)
    talk(synthetic, 160, port=5201, back=40, tos=0x20)
    talk(synthetic, 5, port=53)
    folder = synthetic.write()
    lines = [
        {"began_ns": START_NS},
        {"at_s": 0.1, "event": "link_down", "station": "x", "reason": "faded"},
        *({"at_s": second, "statistics": {"queued": second % 2, "transmissions": second, "snr": 3.0}} for second in range(4)),
    ]
    (folder / "nodes/cell/journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    made = {"at_s": 0.5, "late_ms": 1.0, "took_ms": 2.0, "words": "what was done", "error": None}
    events = [
        made | {"kind": "freeze", "netbox": "cell", "for_s": 0.3},
        made | {"at_s": 0.6, "kind": "wire", "wire": "fr1-cell", "state": "down", "error": "there is none"},
    ]
    (folder / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    (folder / "lab.json").write_text(json.dumps({"began_ns": START_NS, "ended_ns": START_NS + 5_000 * MS, "nodes": []}))
    document = held(analyse(folder, analyses(), page=False))
    assert {flow["direction"]: flow["losses"] for flow in document["flows"]} == {
        "return": [{"at": "sky", "why": "queue full", "frames": 20}],
        "forward": [],
    }
    assert next(flow for flow in document["flows"] if flow["direction"] == "return")["outages"]["count"] == 1
    assert {conversation["dscp"] for conversation in document["conversations"]} == {8, None}
    assert {time_series["kind"] for time_series in document["series"]} == {"gauge", "counter", "constant"}
    assert [event["by_run"] for event in document["events"]] == [False, True, True]
    assert document["netboxes"]["cell"]["freezes"][0]["for_s"] == 0.3
    assert document["voice"][0]["heard"]["reason"].endswith("is missing")


def test_a_run_that_left_nothing(tmp_path: Path) -> None:
    run = SyntheticRun(tmp_path / "run")
    document = held(analyse(run.write(), analyses(), page=False))
    assert {flow["one_way_delay_ms"] for flow in document["flows"]} == {None}
    assert document["overhead_us"] is None


def test_a_run_over_two_machines(tmp_path: Path) -> None:
    run = TwoMachines(tmp_path / "run")
    run.calls(50, gaps=(2 * US, 30 * US, 3 * US))
    document = held(analyse(run.write(), analyses(), page=False))
    assert set(document["machines"]["hosts"]) == {"alpha", "beta"}
    assert len(document["tunnels"][0]["directions"]) == 2
    assert "tunnels" in {key for gap in document["gaps"] for key in gap}
