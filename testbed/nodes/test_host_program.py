# SPDX-License-Identifier: GPL-2.0-or-later
"""The program that a host runs by itself, without a host around it: in a folder, by the Python that hosts have."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from testbed.nodes import host_program
from testbed.nodes.host_program import Program, ProgramState
from tests.waiting import until

Begun = Callable[..., "subprocess.Popen[bytes]"]

#: What a host runs, in another folder and with shorter pauses.
_RUN = "import sys, pathlib; sys.path.insert(0, {at!r}); import host_node; host_node.FIRST_PAUSE_S = {pause}; "
_RUN += "host_node.main(pathlib.Path({folder!r}))"


#: Says something when it is asked to end.
_POLITE = (
    'import signal, sys; signal.signal(15, lambda *_: sys.exit(print("goodbye"))); print("there", flush=True); signal.pause()'
)


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Begun]:
    running = []

    def begin(
        line: str, restart: host_program.Restart = "never", *, go: bool = True, pause_s: float = 0.05, **others: Program
    ) -> subprocess.Popen[bytes]:
        for name, text in host_program.files({host_program.OF_USER: Program(line, restart), **others}).items():
            (tmp_path / name).write_text(text)
        program = _RUN.format(at=str(Path(host_program.COMMAND[-1]).parent), pause=pause_s, folder=str(tmp_path))
        running.append(subprocess.Popen([*host_program.COMMAND[:-1], "-c", program]))
        if go:
            (tmp_path / host_program.GO).touch()
        return running[-1]

    yield begin
    for one in running:
        one.terminate()  # so that it ends its program, too
        one.wait(10)


def state(folder: Path) -> str | None:
    told = ProgramState.read(folder)
    return told.state if told else None


def test_it_waits_for_the_network_and_begins_in_the_hosts_own_folder(begun: Begun, tmp_path: Path) -> None:
    begun("pwd; touch was-here; exec sleep 1000", go=False)
    until(lambda: state(tmp_path) == "waits")
    assert not (tmp_path / "was-here").exists()
    (tmp_path / host_program.GO).touch()
    until(lambda: (tmp_path / "was-here").exists() and state(tmp_path) == "runs")
    assert ProgramState.read(tmp_path) == ProgramState("runs", None, 1, str(tmp_path))


@pytest.mark.parametrize(
    ("line", "status"), [("true", 0), ("echo why >&2; exit 3", 3), ("kill -9 $$", 137), ("no-such-program", 127)]
)
def test_its_end_is_told_and_the_host_goes_on(begun: Begun, tmp_path: Path, line: str, status: int) -> None:
    host = begun(line)
    until(lambda: state(tmp_path) == "ended")
    told = ProgramState.read(tmp_path)
    assert told and told.status == status and told.starts == 1
    assert f"its program has ended with status {status}; " in (told.words() or "")
    if status == 3:
        assert (told.words() or "").endswith("the end of its log: why")
    assert host.poll() is None


@pytest.mark.parametrize(("restart", "status", "again"), [("on-failure", 1, True), ("on-failure", 0, False), ("always", 0, True)])
def test_it_is_started_again_when_that_is_asked_for(
    begun: Begun, tmp_path: Path, restart: host_program.Restart, status: int, again: bool
) -> None:
    begun(f"echo life >> lives; exit {status}", restart)
    if again:
        until(lambda: (tmp_path / "lives").read_text().count("life") >= 3 if (tmp_path / "lives").exists() else False)
        assert "ended last with status" in (getattr(ProgramState.read(tmp_path), "words", str)() or "")
    else:
        until(lambda: state(tmp_path) == "ended")
        assert (tmp_path / "lives").read_text() == "life\n"


def test_a_program_that_ends_at_once_does_not_spin(begun: Begun, tmp_path: Path) -> None:
    begun("date +%s.%N >> starts", "always", pause_s=0.2)
    starts = tmp_path / "starts"
    until(lambda: starts.exists() and len(starts.read_text().split()) == 4)
    times = list(map(float, starts.read_text().split()))
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses[0] >= 0.19 and pauses[1] >= 0.39 and pauses[2] >= 0.79


def test_what_it_leaves_behind_is_gone_before_it_is_started_again(begun: Begun, tmp_path: Path) -> None:
    host = begun("sleep 1000 & echo $! >> children; exit 1", "on-failure")
    until(lambda: (tmp_path / "children").exists() and len((tmp_path / "children").read_text().split()) >= 2)
    first = (tmp_path / "children").read_text().split()[0]

    def is_gone() -> bool:
        # An orphan's zombie is for init to reap.
        stat = Path(f"/proc/{first}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"

    until(is_gone)
    host.kill()
    host.wait()
    for child in (tmp_path / "children").read_text().split():  # in a host they end with its PID namespace
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


def test_the_host_ends_its_program_when_it_is_asked_to_end(begun: Begun, tmp_path: Path) -> None:
    host = begun(f"exec python3 -c '{_POLITE}'", "always")
    until(lambda: (tmp_path / host_program.LOG).exists() and (tmp_path / host_program.LOG).stat().st_size)
    os.kill(host.pid, signal.SIGTERM)
    assert host.wait(10) == 0
    assert ProgramState.read(tmp_path) == ProgramState("stopped", None, 1, "there / goodbye")
    assert ProgramState("stopped", None, 1, "goodbye").words() is None


@pytest.mark.parametrize(
    "said",
    [
        *(b"", b"{", b"[]", b"7", b"{}", b'{"state": "ended"}', b'{"state": "ended", "status": "x", "starts": 1}'),
        *(b'{"state": "\\u001b[31m", "status": 0, "starts": 1}', b'{"state": ["ended"], "status": 0, "starts": 1}', b"[" * 900),
        *(b'{"state": "ended", "status": true, "starts": 1}', b'{"state": "ended", "status": 0, "starts": -1}', b"\xff\xfe"),
        b'{"state": "ended", "status": 99999999999, "starts": 1}',
        b'{"state": "ended", "status": 0, "starts": 1, "more": "' + b"x" * 100_000 + b'"}',
    ],
)
def test_what_no_host_says_of_its_program_is_nothing(tmp_path: Path, said: bytes) -> None:
    (tmp_path / host_program.STATE).write_bytes(said)
    assert ProgramState.read(tmp_path) is None


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "nothing"])
def test_what_is_put_in_the_place_of_its_state_or_log_is_not_followed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_text('{"state": "ended", "status": 0, "starts": 1}')
    for name in (host_program.STATE, host_program.LOG):
        if kind == "link":
            (tmp_path / name).symlink_to(tmp_path / "secret")
        elif kind == "pipe":
            os.mkfifo(tmp_path / name)
        elif kind == "folder":
            (tmp_path / name).mkdir()
    assert ProgramState.read(tmp_path) is None
    if kind != "nothing":
        (tmp_path / "secret").rename(tmp_path / "own")
        if kind == "folder":
            (tmp_path / host_program.STATE).rmdir()
        else:
            (tmp_path / host_program.STATE).unlink()
        (tmp_path / host_program.STATE).write_text((tmp_path / "own").read_text())
        assert ProgramState.read(tmp_path) == ProgramState("ended", 0, 1, "")


def test_the_end_of_a_log_is_short_and_does_a_terminal_no_harm(tmp_path: Path) -> None:
    (tmp_path / host_program.STATE).write_text('{"state": "ended", "status": 1, "starts": 1}')
    (tmp_path / host_program.LOG).write_bytes(b"first\n" * 5 + b"\x1b[2J\xff last" + b"x" * 10_000)
    told = ProgramState.read(tmp_path)
    assert told and len(told.log) <= 300 and told.log.isprintable()


def test_a_program_that_cannot_be_started_is_told_and_tried_again(begun: Begun, tmp_path: Path) -> None:
    (tmp_path / host_program.LOG).mkdir()
    host = begun("exec sleep 1000", "on-failure")
    until(lambda: (told := ProgramState.read(tmp_path)) is not None and told.state == "pauses" and told.status == 126)
    (tmp_path / host_program.LOG).rmdir()
    until(lambda: state(tmp_path) == "runs")
    assert host.poll() is None


def test_several_programs_live_and_end_by_themselves(begun: Begun, tmp_path: Path) -> None:
    other = Program(f"exec python3 -c '{_POLITE}'", "always")
    host = begun("echo life >> lives; exit 1", "on-failure", other=other)
    until(lambda: (tmp_path / "lives").exists() and (tmp_path / "lives").read_text().count("life") >= 3)
    until(lambda: (tmp_path / "other.log").exists() and (tmp_path / "other.log").stat().st_size)
    assert json.loads((tmp_path / "other.json").read_text()) == {"state": "runs", "status": None, "starts": 1}
    os.kill(host.pid, signal.SIGTERM)
    assert host.wait(10) == 0
    assert (tmp_path / "other.log").read_text() == "there\ngoodbye\n"
    assert json.loads((tmp_path / "other.json").read_text())["state"] == "stopped"


def test_programs_take_the_signals_that_the_host_waits_for(begun: Begun, tmp_path: Path) -> None:
    begun("exec python3 -c 'import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), flush=True)'")
    until(lambda: state(tmp_path) == "ended")
    assert (tmp_path / host_program.LOG).read_text() == "set()\n"
