# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as people use it: exit statuses, data with --json, and a lab from up to down."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from netboxit import app
from ownership import recorded, state
from testbed.views import console
from tests import traces
from tests.documents import result
from tests.waiting import until

PAIR = """\
name: {name}
seed: 1
centre: right
hosts:
  left: {{address: 10.98.0.1/24}}
  right: {{address: 10.98.0.2/24}}
wires:
  - [left, right]
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    file = tmp_path / "pair.yaml"
    file.write_text(PAIR.format(name=f"pair{os.getpid()}"))
    return file


def netboxit(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CHECKOUT / "netboxit.py", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def test_a_sound_file_is_said_to_be_sound(pair: Path) -> None:
    result = netboxit("check", pair)
    assert (result.returncode, result.stderr) == (0, "")
    assert "2 hosts, 1 wire" in result.stdout


@pytest.mark.parametrize("verb", ["check", "plan", "apply", "up", "run", "traffic"])
def test_a_wrong_file_gets_place_cause_and_status_2_and_creates_nothing(verb: str, pair: Path, state_folder: Path) -> None:
    pair.write_text(pair.read_text().replace("hosts:", "hostes:"))
    result = netboxit(verb, pair)
    assert result.returncode == 2
    assert result.stderr.startswith(f"{pair}:4:1: ")
    assert 'did you mean "hosts"' in result.stderr
    assert "Traceback" not in result.stderr
    assert not state_folder.joinpath("labs").exists()


def test_what_is_wrong_can_be_read_by_a_program(pair: Path) -> None:
    pair.write_text(pair.read_text().replace("hosts:", "hostes:"))
    error = json.loads(netboxit("check", pair, "--json").stdout)["errors"][0]
    assert (error["path"], error["line"], error["column"]) == (str(pair), 4, 1)


def test_a_plan_can_be_read_by_a_program(pair: Path) -> None:
    plan = json.loads(netboxit("plan", pair, "--name", "other", "--json").stdout)
    assert plan["lab"] == "other"
    assert [node["name"] for node in plan["nodes"]] == ["left", "right"]


def test_labs_that_are_up_are_found_without_the_model_of_topology_files() -> None:
    """Its import takes twice as long as everything else that `exec`, `status` and `down` do."""
    found = "import sys, testbed.where; print([name for name in sys.modules if 'description' in name])"
    done = subprocess.run([sys.executable, "-c", found], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_topology_is_read_without_what_only_analyses_need() -> None:
    """Polars takes a third of a second to import, at each `check`, `plan`, `up` and `apply`."""
    found = "import sys, testbed.plans.planning, testbed.back_ends; print([name for name in sys.modules if name == 'polars'])"
    done = subprocess.run([sys.executable, "-c", found], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_verb_is_bad_input() -> None:
    assert netboxit("frobnicate").returncode == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="who may not run labs is told that first")
def test_it_says_which_one_it_is() -> None:
    said = netboxit("--version")
    assert said.returncode == 0
    assert re.fullmatch(r"netboxit \d+\.\d+\.\d+( \([0-9a-f]{12}(-dirty|-unknown)?\))?\n", said.stdout)


def test_where_several_labs_are_up_it_says_how_to_name_one(state_folder: Path) -> None:
    for name in ("one", "two"):
        (state_folder / "labs" / name).mkdir(parents=True)
    for command, ways in ((["exec", "a"], "--lab one or --lab two"), (["down"], "down one or down two")):
        said = netboxit(*command)
        assert said.returncode == 2 and f"2 labs are up; say which: {ways}" in said.stderr


def test_a_duration_without_meaning_is_bad_input(pair: Path) -> None:
    result = netboxit("run", pair, "--duration", "20 parsecs")
    assert result.returncode == 2
    assert "parsecs" in result.stderr


@pytest.mark.parametrize("duration", ["0", "0 s", "-5", "-5 s", "nan", "1e999 s", "9000 h", ""])
@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", "pair.yaml"], "--duration"),
        (["record", "a", "b", "--out", "trace"], "--duration"),
        (["record", "a", "b", "--out", "trace"], "--step"),
        (["capture", "a", "a.pcapng"], "--duration"),
        (["status", "--watch"], "--interval"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else words,
)
def test_a_time_that_lasts_no_time_is_bad_input(
    words: list[str],
    option: str,
    duration: str,
    pair: Path,
    state_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(pair.parent)
    monkeypatch.setattr(sys, "argv", ["netboxit", *words, option, duration])
    assert console.guarded(app) == 2
    assert capsys.readouterr().err.startswith(f"netboxit: {option}: ")


@pytest.mark.parametrize("duration", ["0.5", "25 h"])
def test_a_run_without_traffic_has_the_limits_of_one_with(duration: str, pair: Path, state_folder: Path) -> None:
    result = netboxit("run", pair, "--duration", duration, "--results", pair.parent / "results")
    assert (result.returncode, "outside 1 s … 24 h" in result.stderr) == (2, True)
    assert not (pair.parent / "results").exists()


def test_a_run_of_a_lab_that_is_up_fails_and_touches_nothing(pair: Path, state_folder: Path) -> None:
    name = f"pair{os.getpid()}"
    (state_folder / "labs" / name).mkdir(parents=True)
    result = netboxit("run", pair, "--duration", "1 s", "--results", pair.parent / "results")
    assert (result.returncode, f"netboxit down {name}" in result.stderr) == (1, True)
    assert not (pair.parent / "results").exists()


def test_a_picture_is_not_drawn_over_a_file_that_is_there(pair: Path) -> None:
    before = pair.read_text()
    refused = netboxit("check", pair, "--svg", pair)
    assert (refused.returncode, pair.read_text()) == (2, before)
    assert "pictures are SVG, and not yaml" in refused.stderr
    (drawn := pair.parent / "network.svg").write_text("older")
    refused = netboxit("check", pair, "--svg", drawn)
    assert (refused.returncode, drawn.read_text()) == (2, "older")
    assert f"{drawn} is there already" in refused.stderr
    assert netboxit("check", pair, "--svg", drawn, "--overwrite").returncode == 0
    assert drawn.read_text().startswith("<svg")


def test_without_labs_status_and_down_have_nothing_to_do(state_folder: Path) -> None:
    assert netboxit("status").stdout == "no lab is up\n"
    down = netboxit("down")
    assert (down.returncode, down.stdout) == (0, "no lab was up\n")
    missing = netboxit("down", "nowhere")
    assert (missing.returncode, "there is no lab nowhere" in missing.stderr) == (2, True)


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_a_lab_goes_up_is_used_and_goes_down(pair: Path) -> None:
    name = f"pair{os.getpid()}"
    up = netboxit("up", pair, "--json")
    try:
        assert up.returncode == 0, up.stderr
        assert result(up.stdout, "up")["lab"] == name
        assert recorded.beside_topology(state.lab_folder(name)) == pair.parent
        nodes = json.loads(netboxit("status", "--json").stdout)["labs"][0]["nodes"]
        assert {node["name"]: node["alive"] for node in nodes} == {"left": True, "right": True}
        assert netboxit("exec", "left", "--", "ping", "-c", "1", "-W", "2", "right").returncode == 0
        assert netboxit("exec", "left", "--lab", name, "--", "sh", "-c", "exit 9").returncode == 9
        assert netboxit("exec", "left", "ping", "-c", "1", "-W", "2", "right").returncode == 0
        missing = netboxit("exec", "left", "iperf33", "-c", "right")
        assert (missing.returncode, missing.stderr) == (127, "netboxit: node left has no program iperf33\n")
        again = netboxit("up", pair)
        assert (again.returncode, f"netboxit down {name}" in again.stderr) == (1, True)
        assert "left is a host" in netboxit("set", "left", "distance=1 m").stderr
        assert json.loads(netboxit("plan", pair, "--json").stdout)["difference"]["nothing"]
        pair.write_text(pair.read_text().replace("10.98.0.2", "10.98.0.7"))
        assert "addresses 10.98.0.2/24 → 10.98.0.7/24" in netboxit("plan", pair).stdout
        applied = result(netboxit("apply", pair, "--json").stdout, "apply")
        assert {node["name"]: node["action"] for node in applied["difference"]["nodes"]} == {
            "left": "unchanged",
            "right": "changed",
        }
        assert netboxit("exec", "left", "--", "ping", "-c", "1", "-W", "2", "right").returncode == 0
        assert "nothing to do" in netboxit("apply", pair).stdout
        pair.unlink()
    finally:
        down = netboxit("down", "--all", "--json")
    removed = result(down.stdout, "down")
    assert (removed["removed"], removed["notes"]) == ([name], [])


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_a_shell_in_a_node_has_its_name_in_the_prompt_and_ends_with_exec(pair: Path) -> None:
    assert netboxit("up", pair).returncode == 0
    try:
        command = [sys.executable, str(CHECKOUT / "netboxit.py"), "exec", "left"]
        on_a_terminal = ["script", "--quiet", "--return", "--command", " ".join(command), "/dev/null"]
        with subprocess.Popen(on_a_terminal, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as terminal:
            assert terminal.stdin and terminal.stdout
            shown = b""
            while b"left:" not in shown:
                more = terminal.stdout.read(1000)
                assert more, shown
                shown += more
            terminal.stdin.write(b"sleep 4711 & sleep 4712\n")
            until(lambda: _sleeping("4711") and _sleeping("4712"))
            terminal.kill()
        until(lambda: not _sleeping("4711") and not _sleeping("4712"))
        server = subprocess.Popen([*command, "sleep", "4713"])
        until(lambda: _sleeping("4713"))
        server.kill()
        server.wait()
        until(lambda: not _sleeping("4713"))
    finally:
        netboxit("down", "--all")


def _sleeping(seconds: str) -> bool:
    """Whether `sleep SECONDS` runs, in whatever node."""
    return f"sleep {seconds} " in traces.command_lines()


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_a_lab_inside_a_network_namespace_is_used_from_outside_or_said_to_be_out_of_reach(pair: Path) -> None:
    def up(*inside: str) -> subprocess.CompletedProcess[str]:
        command = [*inside, sys.executable, str(CHECKOUT / "netboxit.py"), "up", str(pair)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    network = f"pair{os.getpid()}"
    subprocess.run(["ip", "netns", "add", network], check=True)
    try:
        hidden = up("ip", "netns", "exec", network)
        assert (hidden.returncode, len(hidden.stderr.splitlines())) == (1, 1), hidden.stderr
        assert "enter a network by `nsenter --net=/run/netns/NAME`" in hidden.stderr
        assert up("nsenter", f"--net=/run/netns/{network}").returncode == 0
        assert netboxit("exec", "left", "--", "ping", "-c", "1", "-W", "2", "right").returncode == 0
        assert netboxit("down").returncode == 0
        assert up("unshare", "--mount").returncode == 0
        for words in ("exec left -- true", "set left state=down", f"capture left {pair.parent}/x.pcapng"):
            answer = netboxit(*words.split())
            assert (answer.returncode, answer.stderr.count("\n")) == (1, 1), answer.stderr
            assert "is not seen here: the lab was brought up where mounts are others" in answer.stderr
    finally:
        netboxit("down", "--all")
        subprocess.run(["ip", "netns", "delete", network], check=True)


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("after_s", [0.05, 0.1, 0.15, 0.2, 0.3])
def test_up_that_is_interrupted_when_its_lab_is_nearly_ready_says_what_became_of_it(
    after_s: float, pair: Path, state_folder: Path
) -> None:
    process = subprocess.Popen([sys.executable, CHECKOUT / "netboxit.py", "up", pair], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "waiting for the segments" not in (line := process.stderr.readline()):
        assert line, "it has ended"
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    name = f"pair{os.getpid()}"
    up = state.lab_names() == [name]
    netboxit("down", "--all")
    if up and process.returncode:
        assert told.splitlines()[-1] == f"netboxit: interrupted; lab {name} is up; `netboxit down {name}` takes it down"
    elif not up:
        assert told.splitlines()[-1] == f"netboxit: interrupted; lab {name} was removed"
    assert process.returncode == (0 if up and "interrupted" not in told else 1)


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_that_is_interrupted_leaves_nothing(number: signal.Signals, pair: Path, state_folder: Path) -> None:
    process = subprocess.Popen([sys.executable, CHECKOUT / "netboxit.py", "up", pair], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not state.lab_names() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(number)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 1, told
    assert told.splitlines()[-1] == f"netboxit: interrupted; lab pair{os.getpid()} was removed"
    assert state.lab_names() == []
