# SPDX-License-Identifier: GPL-2.0-or-later
"""Watching labs as people and programs do: the terminal and its end, lines of JSON, a lab that comes, changes and goes."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from system.realtime_support import realtime_support
from testbed.labs.lab import Lab
from testbed.observation.metrics_server import MetricsServer
from testbed.observation.test_metrics_page import samples
from testbed.observation.watching import BadInterval, Watch, checked_interval
from testbed.plans.planning import plan_file
from tests.waiting import until

COMMAND = [sys.executable, str(CHECKOUT / "netboxit.py"), "status", "--watch"]
DEADLINE_S = 30.0
LAB = """\
name: watched
hosts:
  a: {address: 10.10.0.11/24}
  b: {address: 10.10.0.20/24}
netboxes:
  line: {technology: link, delay: 5 ms, rate: 10 Mbit/s, stations: {left: {}, right: {}}}
wires:
  - [a, line.left]
  - [line.right, b]
"""


class Terminal:
    """A terminal of a given size, with a program on it."""

    def __init__(self, columns: int, rows: int, *command: str) -> None:
        self._ours, self._theirs = os.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(self._theirs)
        self.said = ""
        environment = {**os.environ, "TERM": "xterm-256color"}
        self.program = subprocess.Popen(command, stdin=self._theirs, stdout=self._theirs, stderr=self._theirs, env=environment)

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def settings(self) -> list[Any]:
        return termios.tcgetattr(self._theirs)

    def press(self, key: str) -> None:
        os.write(self._ours, key.encode())

    def await_text(self, text: str) -> None:
        end = time.monotonic() + DEADLINE_S
        while text not in self.said:
            assert time.monotonic() < end, self.said
            self._read()

    def status(self) -> int:
        """Of the program, once it has ended."""
        until(lambda: self._read() and self.program.poll() is not None)
        self._read()
        return self.program.wait()

    def _read(self) -> bool:
        """All that it has said by now; always true."""
        while select.select([self._ours], [], [], 0.05)[0]:
            self.said += os.read(self._ours, 1 << 16).decode(errors="replace")
        return True


@pytest.mark.parametrize("end", ["q", "\x03", "terminate"])
def test_the_terminal_is_afterwards_as_it_was(end: str, state_folder: Path) -> None:
    with closing(Terminal(40, 10, *COMMAND)) as terminal:
        terminal.await_text("no lab is up")
        assert terminal.settings() != terminal.before
        if end == "terminate":
            terminal.program.send_signal(signal.SIGTERM)
        elif end == "\x03":
            terminal.program.send_signal(signal.SIGINT)  # it has no session of its own, in which the terminal would send it
        else:
            terminal.press(end)
        assert terminal.status() == 0
        assert terminal.settings() == terminal.before
        # The alternate screen is left, and the cursor is shown.
        assert terminal.said.rindex("\x1b[?1049l") > terminal.said.rindex("\x1b[?1049h")
        assert terminal.said.rindex("\x1b[?25h") > terminal.said.rindex("\x1b[?25l")


@pytest.mark.parametrize(
    ("options", "said"),
    [([], "`status --watch --json` writes lines for programs"), (["--interval", "10 ms"], "0.2 s is the least")],
)
def test_what_cannot_be_watched_is_refused_politely(options: list[str], said: str, state_folder: Path) -> None:
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_interval_is_checked() -> None:
    assert checked_interval(0.2) == 0.2
    with pytest.raises(BadInterval):
        checked_interval(0.19)


def test_lines_end_when_their_reader_goes_though_there_is_nothing_to_write(state_folder: Path) -> None:
    program = subprocess.Popen([*COMMAND, "--json", "--interval", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout is not None and program.stderr is not None
    program.stdout.close()
    assert program.wait(DEADLINE_S) == 0
    assert program.stderr.read() == b""
    program.stderr.close()


@pytest.fixture
def lab(tmp_path: Path, state_folder: Path) -> Iterator[Lab]:
    file = tmp_path / "watched.yaml"
    file.write_text(LAB)
    lab = Lab.up_and_ready(plan_file(file, lab=f"watched-{os.getpid()}", realtime=realtime_support()))
    try:
        yield lab
    finally:
        if lab.folder.exists():  # what is watched also goes
            lab.down()


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_a_lab_is_watched_while_it_is_up(lab: Lab) -> None:
    ping = ["ping", "-c", "20", "-i", "0.01", "-s", "958", "10.10.0.20"]  # frames of 1000 bytes
    with closing(Watch(None)) as watch, MetricsServer(0) as server:
        assert [line["kind"] for line in watch.look()] == ["lab"]
        assert lab.run("a", ping).returncode == 0
        with lab.control("line") as control:
            control.set("delay", 0.02)
        lines: list[Any] = []

        def an_event_is_seen() -> bool:
            lines.extend(watch.look())
            return any(line["kind"] == "event" for line in lines)

        until(an_event_is_seen)
        (event,) = (line for line in lines if line["kind"] == "event")
        assert (event["node"], event["event"], event["words"]) == ("line", "set", "line: delay 0.02")
        first = next(line for line in lines if line["kind"] == "interval")
        nodes = {node["name"]: node for node in first["nodes"]}
        line, host = nodes["line"], nodes["a"]
        assert all(port["delay_ms"] >= 5 for port in line["ports"])
        assert all(port["in_bit_s"] * first["interval_s"] >= 0.9 * 20 * 8000 for port in (*line["ports"], *host["ports"]))
        assert line["lateness"]["frame"]["count"] >= 40 and line["light"] in ("green", "amber", "red")
        page = samples(urllib.request.urlopen(server.url, timeout=DEADLINE_S).read().decode())
        assert page["netboxit_port_sent_bytes_total", f'lab="{lab.name}",node="line",port="right"'] >= 20_000
        assert page["netboxit_netbox_delay_seconds_sum", f'lab="{lab.name}",node="line",port="right"'] >= 20 * 0.005
        with closing(Terminal(100, 30, *COMMAND, "--interval", "0.3")) as terminal:
            terminal.await_text("left")
            terminal.press("q")
            assert terminal.status() == 0
        lab.down()
        assert watch.look() == [{"kind": "lab", "lab": lab.name, "state": "gone"}]
        assert samples(urllib.request.urlopen(server.url, timeout=DEADLINE_S).read().decode()) == {}
