# SPDX-License-Identifier: GPL-2.0-or-later
"""What each machine has one of, and a run over several only one."""

from __future__ import annotations

import json
from pathlib import Path

from contracts.run_records import CaptureCount, LabRecord
from results.conftest import node_status
from testbed.several_hosts.measured_labs import merge


def lab_json(node: str, began_ns: int) -> LabRecord:
    return {
        "nodes": [node_status(node, "host")],
        "offloads": {f"{node} eth0": []},
        "steal_ratio": 0.5,
        "steal_by_core": {"0": 0.5},
        "began_ns": began_ns,
        "ended_ns": began_ns + 9,
        "began_s": {node: 1.0},
    }


def captured(node: str) -> CaptureCount:
    return {"file": f"{node}.pcapng", "node": node, "interface": "eth0", "received": 7, "dropped": 0, "ended": None}


def test_each_machines_part_is_in_the_runs_files(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    (tmp_path / "events.jsonl").write_text('{"at_s": 1.0, "words": "one"}\n{"at_s": 3.0, "words": "three"}\n')
    (tmp_path / "lab.json").write_text(json.dumps(lab_json("a", 10)))
    (tmp_path / "captures/captures.json").write_text(json.dumps([captured("a")]))
    texts = {
        "events.jsonl": '{"at_s": 2.0, "words": "two"}\n',
        "lab.json": json.dumps(lab_json("b", 20)),
        "captures/captures.json": json.dumps([captured("b")]),
    }
    merge(tmp_path, {file: {"beta": text} for file, text in texts.items()})
    events = [json.loads(line)["words"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert events == ["one", "two", "three"]
    lab = json.loads((tmp_path / "lab.json").read_text())
    assert lab == {
        **lab_json("a", 10),
        "nodes": [node_status("a", "host"), node_status("b", "host")],
        "offloads": {"a eth0": [], "b eth0": []},
        "began_s": {"a": 1.0, "b": 1.0},
        "hosts": {"beta": {"steal_ratio": 0.5, "steal_by_core": {"0": 0.5}, "began_ns": 20, "ended_ns": 29}},
    }
    assert json.loads((tmp_path / "captures/captures.json").read_text()) == [captured("a"), captured("b")]


def test_what_happened_only_on_another_machine_is_told(tmp_path: Path) -> None:
    merge(tmp_path, {"events.jsonl": {"beta": '{"at_s": 2.0}\n'}})
    assert (tmp_path / "events.jsonl").read_text() == '{"at_s": 2.0}\n'


def test_a_machine_of_which_nothing_came_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text("{}")
    merge(tmp_path, {"lab.json": {}})
    assert (tmp_path / "lab.json").read_text() == "{}"
