# SPDX-License-Identifier: GPL-2.0-or-later
"""A run folder in which files hold anything: there is a report, or it is said which file is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from applications.registry import analyses
from contracts.environment import Environment
from contracts.errors import NetBoxITError
from contracts.run_files import DamagedRun
from contracts.run_folder import VERSION
from contracts.run_records import LabRecord
from results.analyse import analyse
from results.conftest import MS, START_NS, node_status
from results.run_folder import RunFolder
from tests.two_machines import TwoMachines

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda _: b"",
    "no text": lambda _: bytes(range(128, 256)) * 3,
    "another thing": lambda _: b'[{"a": [1]}]',
    "nothing": lambda _: b"null",
    "nested": lambda _: b"[" * 50_000,
    "text for all": lambda content: content.replace(b": 1", b': "x"').replace(b': "', b": [").replace(b'",', b"],"),
}


#: Without these nothing can be told.
NEEDED = ("plan.json", "traffic/call/flows.json")
#: What they tell is not known when they are damaged; the rest is.
OTHERS = (
    *("run.json", "lab.json", "environment.json", "hosts.json"),
    *("captures/captures.json", "nodes/cell/statistics.json"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All files that a run writes, of a lab over two machines."""
    run = TwoMachines(tmp_path / "run")
    run.calls(20)
    folder = run.write()
    lab: LabRecord = {
        "nodes": [node_status("fr1", "host")],
        "offloads": {"fr1 cell": ["tx-checksum"]},
        "steal_ratio": 0.0,
        "steal_by_core": {"0": 0.0},
        "began_ns": START_NS,
        "ended_ns": START_NS + 60_000 * MS,
        "began_s": {"cell": 1.0},
    }
    made_on: Environment = {"run_folder": VERSION, "netboxit": {"commit": "abc"}, "system": "Debian"}
    (folder / "lab.json").write_text(json.dumps(lab))
    (folder / "environment.json").write_text(json.dumps(made_on))
    return folder


def damage_file(file: Path, damage: str) -> None:
    file.write_bytes(DAMAGES[damage](file.read_bytes()))


def test_what_a_run_writes_is_not_damaged(folder: Path) -> None:
    assert analyse(folder, analyses())["verdict"]["status"] == "valid"


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", NEEDED)
def test_without_a_plan_or_flows_there_is_no_report_and_the_damaged_file_is_told(folder: Path, name: str, damage: str) -> None:
    damage_file(folder / name, damage)
    with pytest.raises(DamagedRun) as raised:
        analyse(folder, analyses())
    assert str(raised.value).startswith(f"{folder / name} is damaged: ") and str(raised.value).isprintable()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_configuration_of_a_netbox_inside_the_plan_is_told(folder: Path, damage: str) -> None:
    plan = json.loads((folder / "plan.json").read_text())
    cell = next(node for node in plan["nodes"] if node["name"] == "cell")
    cell["files"]["netbox.json"] = DAMAGES[damage](cell["files"]["netbox.json"].encode()).decode(errors="replace")
    (folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(DamagedRun, match=r"plan\.json is damaged: node cell: netbox\.json: ") as raised:
        analyse(folder, analyses())
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", OTHERS)
def test_any_other_damaged_file_is_taken_as_missing_and_told(folder: Path, name: str, damage: str) -> None:
    damage_file(folder / name, damage)
    run = RunFolder(folder)
    told = [run.failure or "", *run.absent]
    assert any(f"{name} is damaged: {run.damaged[name]}" in words and words.isprintable() for words in told)


def test_an_environment_that_says_its_version_may_be_damaged_all_the_same(folder: Path) -> None:
    (folder / "environment.json").write_text(json.dumps({"run_folder": VERSION, "processor": {"cores": "many"}}))
    reasons = RunFolder(folder).absent
    assert [reason.partition(":")[0] for reason in reasons] == ["environment.json is damaged"]
    assert "processor.cores: Input should be a valid integer" in reasons[0]


@pytest.mark.parametrize("name", OTHERS)
def test_the_rest_of_a_run_is_analysed(folder: Path, name: str) -> None:
    damage_file(folder / name, "another thing")
    document = analyse(folder, analyses())
    assert document["verdict"]["status"] == "invalid"
    assert any(f"{name} is damaged: " in reason for reason in document["verdict"]["reasons"])
    if name != "captures/captures.json":
        assert [flow["packets"] for flow in document["flows"]] == [20, 20]


def test_the_frames_before_the_damage_of_a_capture_are_analysed(folder: Path) -> None:
    capture = folder / "captures/eoc.pcapng"
    content = capture.read_bytes()
    capture.write_bytes(content[: len(content) // 2] + content[len(content) // 2 + 4 :])
    document = analyse(folder, analyses())
    assert document["verdict"]["status"] == "invalid"
    assert any(reason.startswith("captures/eoc.pcapng is damaged: a block ") for reason in document["verdict"]["reasons"])
    assert all(0 < flow["received"] < 20 for flow in document["flows"])


def test_statistics_of_a_rebooted_netbox_are_damaged_with_those_of_any_of_its_lives(folder: Path) -> None:
    (folder / "nodes/cell/statistics.1.json").write_text("{}")
    reasons = analyse(folder, analyses())["verdict"]["reasons"]
    assert any(reason.startswith("nodes/cell/statistics.1.json is damaged: ") for reason in reasons)


def test_a_number_beyond_all_measures_is_damage(folder: Path) -> None:
    file = folder / "nodes/cell/statistics.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"scheduler": {"cpu_s": 1e308, "spin_s": 0.0, "stepped_back": 0}}))
    reasons = analyse(folder, analyses())["verdict"]["reasons"]
    assert any(reason.startswith("nodes/cell/statistics.json is damaged: scheduler.cpu_s: ") for reason in reasons)


def test_a_line_of_another_shape_among_the_events_is_told_and_one_that_was_cut_short_is_not(folder: Path) -> None:
    made = {"at_s": 0.5, "late_ms": 1.0, "took_ms": 2.0, "words": "what was done", "error": None}
    line = json.dumps(made | {"kind": "freeze", "netbox": "cell", "for_s": 0.3})
    (events := folder / "events.jsonl").write_text(f"{line}\n{line[:20]}")
    assert len(analyse(folder, analyses())["events"]) == 1
    events.write_text(f"{line}\n[1]\n")
    with pytest.raises(DamagedRun, match=r"events\.jsonl is damaged: line 2: all of it"):
        analyse(folder, analyses())


def test_a_folder_where_a_file_should_be_is_told(folder: Path) -> None:
    (folder / "plan.json").unlink()
    (folder / "plan.json").mkdir()
    with pytest.raises(NetBoxITError, match=r"plan\.json"):
        analyse(folder, analyses())


@pytest.mark.parametrize("place", [Path("/dev/null"), Path("/dev/zero"), Path("/nowhere")])
def test_what_is_no_folder_is_no_run(place: Path) -> None:
    with pytest.raises(NetBoxITError, match="not the folder of a run"):
        analyse(place, analyses())
