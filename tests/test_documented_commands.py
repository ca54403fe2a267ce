# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that the documents show are the program's, and those of README do what it says, one after another."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import typer

import netboxit
from contracts.installation import CHECKOUT
from tests import documented_commands
from tests.documented_commands import Documented
from tests.traces import traces
from tests.waiting import until

README = CHECKOUT / "README.md"
DOCUMENTS = documented_commands.documents()
VERBS = typer.main.get_command(netboxit.app).commands  # type: ignore[attr-defined]
#: What stands for something of the reader's, and for what of ours.
STAND_INS = {
    "FILE": "topologies/emergency.yaml",
    "LAB": "emergency",
    "RUN": "results/latest",
    **dict.fromkeys(("hosts.yml", "INVENTORY"), "ansible/inventory.example.yml"),
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(CHECKOUT)))
def test_documents_show_commands_and_options_that_there_are(document: Path) -> None:
    for shown in (*documented_commands.in_blocks(document), *documented_commands.in_text(document)):
        verb, *words = shown.argv()
        assert verb in VERBS, shown
        own = words[: words.index("--")] if "--" in words else words
        options = {option for parameter in VERBS[verb].params for option in parameter.opts} | {"--help"}
        assert {word.split("=")[0] for word in own if word.startswith("--")} <= options, shown


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(CHECKOUT)))
def test_commands_that_documents_give_whole_are_understood(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("topologies", "ansible"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    (tmp_path / "results/latest").mkdir(parents=True)
    for name in ("a.pcapng", "b.pcapng"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    for shown in (*documented_commands.in_blocks(document), *documented_commands.in_text(document)):
        verb, *words = (STAND_INS.get(word, word) for word in shown.argv())
        try:
            VERBS[verb].make_context(verb, words)
        except typer.BadParameter as error:
            # A mention may leave words out.
            assert type(error).__name__ == "MissingParameter" and shown in documented_commands.in_text(document), shown


#: Their exit status is the verdict.
MEASURING = ("run", "traffic", "report")


class Reader:
    """Somebody who copies commands into a shell, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, folder / "state"
        for name in ("topologies", "click"):
            shutil.copytree(CHECKOUT / name, folder / name)
        (folder / "netboxit.py").symlink_to(CHECKOUT / "netboxit.py")
        self.state.mkdir()
        self._environment = os.environ | {"NETBOXIT_STATE": str(self.state), "HOME": str(folder), "TERM": "xterm"}

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(CHECKOUT / "netboxit.py"), *words]
        return subprocess.Popen(command, env=self._environment, stdout=subprocess.DEVNULL, start_new_session=True)

    def copies(self, shown: Documented, most_s: float = 200.0) -> None:
        """Until it ends; a command that goes on until Ctrl-C is ended so when it has said or written something."""
        words = [STAND_INS.get(word, word) for word in shown.argv()]
        if words[0] in ("run", "traffic"):  # README's reader is in the checkout, where its results are
            words += ["--results", "results"]
        command = shlex.join([sys.executable, str(CHECKOUT / "netboxit.py"), *words])
        if "| wireshark" in shown.words:
            command += " | tshark -c 1 -i -"
        for before in self.folder.glob("*.pcapng"):
            before.unlink()
        out, errors = self.folder / "out", self.folder / "errors"
        with out.open("wb") as output, errors.open("wb") as error, _terminal(out) as terminal:
            shell = subprocess.Popen(
                ["sh", "-c", command if "|" in command else f"exec {command}"],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=terminal if "--watch" in words and "--json" not in words else output,
                stderr=error,
                start_new_session=True,
            )
        # In a lab where nothing is sent there is nothing to capture.
        ping = self._started("exec", "fr1", "--", "ping", "-i", "0.2", "-w", "100", "eoc") if words[0] == "capture" else None
        try:
            if _goes_on(words):
                written = "*.pcapng" if words[0] == "capture" else "out"
                until(
                    lambda: shell.poll() is not None or any(file.stat().st_size for file in self.folder.glob(written)), str(shown)
                )
                if shell.poll() is None:
                    os.killpg(shell.pid, signal.SIGINT)
            status = shell.wait(most_s)
        finally:
            for process in (shell, *([ping] if ping else [])):
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        # A run on a machine that is busy may be degraded or invalid, and says so.
        assert status in ((0, 3, 4) if words[0] in MEASURING else (0,)), f"{shown}\n{out.read_text()}{errors.read_text()}"


@contextmanager
def _terminal(file: Path) -> Iterator[int]:
    """One of which everything that is shown goes to a file."""
    ours, theirs = os.openpty()

    def copy() -> None:
        with file.open("ab") as output, suppress(OSError):  # which is what a terminal answers whose other end is closed
            while shown := os.read(ours, 1 << 16):
                output.write(shown)
                output.flush()

    threading.Thread(target=copy, daemon=True).start()
    try:
        yield theirs
    finally:
        os.close(theirs)


def _goes_on(words: list[str]) -> bool:
    capture = words[0] == "capture" and not {"--duration", "--live"} & {*words}
    return "--watch" in words or words[0] == "metrics" or capture


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    before = traces(reader.state)
    yield reader
    assert traces(reader.state) == before


@pytest.mark.lab
@pytest.mark.long
def test_readme_and_the_guide_to_watching_lead_through_a_lab(reader: Reader) -> None:
    *shown, down = documented_commands.section(README, "Working with a lab that is up")
    assert (shown[0].words.split()[0], down.words) == ("up", "down")
    watching = list(documented_commands.in_blocks(CHECKOUT / "docs/watching.md"))
    try:
        for command in (*shown, *watching):
            reader.copies(command)
    finally:
        reader.copies(down)


@pytest.mark.lab
@pytest.mark.long
def test_readme_leads_to_a_network_of_ones_own(reader: Reader) -> None:
    # `calibrate` and `bench` need a machine for themselves, and have tests of their own; so have labs on several machines.
    for command in documented_commands.section(README, "Your own network"):
        if command.words not in ("calibrate", "bench") and "--inventory" not in command.words:
            reader.copies(command)
    assert (reader.folder / "network.svg").stat().st_size and (reader.folder / "results/latest/report.html").exists()
