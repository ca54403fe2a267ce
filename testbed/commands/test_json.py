# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs get from commands that need no lab: one document a line, whatever goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from contracts.run_records import RunRecord
from testbed.views import console
from tests.documents import documents, result

PAIR = """\
name: pair
centre: right
hosts:
  left: {address: 10.98.0.1/24}
  right: {address: 10.98.0.2/24}
netboxes:
  line: {technology: link, rate: 10 Mbit/s, delay: 20 ms, stations: {a: {}, b: {}}}
wires:
  - [left, line.a]
  - [line.b, right]
traffic:
  flow: {application: udp-flow, from: left, to: right, rate: 100 kbit/s, duration: 1 s}
events:
  - {at: 1 s, netbox: line, set: {delay: 30 ms}}
  - {at: 1.5 s, netbox: line, freeze: 100 ms}
"""


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (file := tmp_path / "pair.yaml").write_text(PAIR)
    return file


def netboxit(*words: str | Path, status: int = 0) -> str:
    argv = [sys.executable, CHECKOUT / "netboxit.py", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout


def test_a_file_and_its_plan_are_documents(pair: Path) -> None:
    assert result(netboxit("check", pair, "--json"), "check")["sound"] is True
    plan = result(netboxit("plan", pair, "--json"), "plan")
    assert [node["name"] for node in plan["nodes"]] == ["left", "right", "line"]
    assert [event["change"]["kind"] for event in plan["events"]] == ["parameter", "freeze"]
    assert plan["difference"] is None and plan["load"]["netboxes"][0]["netbox"] == "line"


def test_drills_and_nothing_that_is_up_are_documents(pair: Path) -> None:
    assert len(result(netboxit("drill", "--list", "--json"), "drills")["drills"]) > 3
    assert result(netboxit("status", "--json"), "status")["labs"] == []
    assert result(netboxit("down", "--json"), "down")["removed"] == []


def test_what_is_wrong_in_a_file_has_its_place_and_a_remedy(pair: Path) -> None:
    pair.write_text(PAIR.replace("hosts:", "hostes:"))
    first = result(netboxit("check", pair, "--json", status=2), "errors")["errors"][0]
    assert (first["kind"], first["path"], first["line"], first["column"]) == ("BadInput", str(pair), 3, 1)
    assert 'did you mean "hosts"' in f"{first['cause']} {first['remedy']}"
    missing = result(netboxit("check", pair.with_name("none.yaml"), "--json", status=2), "errors")["errors"]
    assert len(missing) == 1 and "none.yaml" in f"{missing[0]['path']} {missing[0]['cause']}"


@pytest.mark.parametrize(
    ("words", "cause", "remedy"),
    [
        (["up", "--json"], "Missing argument 'FILE'", "`netboxit up --help`"),
        (["frobnicate", "--json"], "No such command 'frobnicate'", "`netboxit --help`"),
        (["--json"], "No such option: --json", "`netboxit --help`"),
        (["status", "--json", "--frobnicate"], "No such option: --frobnicate", "`netboxit status --help`"),
        (["status", "--json", "--interval"], "requires an argument", "`netboxit --help`"),
        (["bench", "--pairs", "many", "--json"], "'many' is not a valid", "`netboxit bench --help`"),
        (["report", "nowhere", "--json"], "'nowhere' does not exist", "`netboxit report --help`"),
    ],
)
def test_a_wrong_command_line_is_an_error_as_any_other(words: list[str], cause: str, remedy: str) -> None:
    (error,) = result(netboxit(*words, status=2), "errors")["errors"]
    assert (error["kind"], error["path"], error["line"]) == ("UsageError", None, None)
    assert cause in error["cause"] and remedy in error["remedy"]


def test_people_are_told_on_standard_error_alone() -> None:
    assert netboxit("status", "--frobnicate", status=2) == ""


def test_help_is_for_people_also_beside_json() -> None:
    assert "Usage: " in netboxit("status", "--json", "--help")


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["status", "--json"], True),
        (["drill", "--json", "--", "fade", "depth=3 dB"], True),
        (["status"], False),
        (["exec", "fr1", "ip", "--json", "link"], False),
        (["exec", "--lab", "x", "fr1", "--", "iperf3", "--json"], False),
        (["handler", "meoc", "x.value", "--", "--json"], False),
    ],
)
def test_what_is_said_to_another_program_is_not_asked_of_this_one(
    words: list[str], asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["netboxit", *words])
    assert console.for_programs() is asked


def fails(error: BaseException) -> object:
    raise error


def test_a_defect_an_interruption_and_a_failure_are_documents_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["netboxit", "status", "--json"])
    interrupted = console.Interrupted()
    interrupted.add_note("lab x was removed")
    for error, kind, cause in (
        (ZeroDivisionError("none \x1b[2J"), "Defect", "ZeroDivisionError: none \x1b[2J"),
        (interrupted, "Interrupted", "interrupted; lab x was removed"),
        (NetBoxITError("no"), "NetBoxITError", "no"),
    ):
        assert console.guarded(lambda error=error: fails(error)) == 1  # type: ignore[misc]
        said = capsys.readouterr().out
        assert "\x1b" not in said
        (told,) = result(said, "errors")["errors"]
        assert (told["kind"], told["cause"], told["remedy"]) == (kind, cause, None)
    monkeypatch.setattr(sys, "argv", ["netboxit", "status"])
    assert console.guarded(lambda: fails(ZeroDivisionError())) == 1
    assert capsys.readouterr().out == ""


def test_each_new_step_is_a_line_and_nothing_is_said_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress(as_json=True) as tell:
        for step in ("traffic, 12 s to go", "traffic, 11 s to go", "a \x1b[2J\n step"):
            tell(step)
    captured = capsys.readouterr()
    assert [document["words"] for document in documents(captured.out)] == ["traffic", "a \x1b[2J\n step"]
    assert captured.err == ""


GOES_ON = """\
import sys
from pathlib import Path
from testbed.documents import kinds
from testbed.views import console, drawing

def command():
    with console.progress(as_json=True) as tell:
        sys.stdin.readline()
        for number in range(3):
            tell(f"step {number}")
    Path(sys.argv[2]).write_text("done")
    drawing.print_json(kinds.DOWN.of({"removed": [], "notes": []}))

raise SystemExit(console.guarded(command))
"""


@pytest.mark.parametrize("place", ["a pipe that nobody reads", "a full disk"])
def test_what_a_command_does_is_done_though_nobody_can_be_told(place: str, tmp_path: Path) -> None:
    done = tmp_path / "done"
    argv = [sys.executable, "-c", GOES_ON, "--json", str(done)]
    with Path("/dev/full").open("w") as full:
        output = full if place == "a full disk" else subprocess.PIPE
        command = subprocess.Popen(argv, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE, text=True)
    if command.stdout is not None:
        command.stdout.close()
    _, errors = command.communicate("go on\n", timeout=60)
    assert done.read_text() == "done"
    assert command.returncode == 1 and "Traceback" not in errors, errors
    assert ("No space left on device" in errors) == (place == "a full disk")


def test_a_report_is_a_document(pair: Path) -> None:
    """Of a run that left nothing: what cannot be told is null."""
    plan = {key: value for key, value in json.loads(netboxit("plan", pair, "--json")).items() if key not in ("format", "version")}
    run = pair.parent / "run"
    run.mkdir()
    (run / "plan.json").write_text(json.dumps(plan))
    record: RunRecord = {"started": "2026-01-01T00:00:00+00:00", "ended": None, "failure": "it was cut short"}
    (run / "run.json").write_text(json.dumps(record))
    os.chmod(run, 0o777)  # noqa: PTH101
    output = netboxit("report", run, "--json", status=4)
    assert [document["format"] for document in documents(output)] == ["netboxit progress", "netboxit run"]
    assert result(output, "run")["metrics"]["verdict"]["reasons"] == ["it was cut short"]
