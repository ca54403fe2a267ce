# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit` on the PATH: `make install`, the manual page, completion."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from contracts.installation import CHECKOUT
from netboxit import app


def make(goal: str, prefix: Path) -> subprocess.CompletedProcess[str]:
    """Of the checkout as it is set up already."""
    command = ["make", "--no-print-directory", "-o", "setup", goal, f"PREFIX={prefix}"]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())


def completed(prefix: Path, words: str) -> list[str]:
    """What Bash would offer for the last of these words."""
    asked = {"_NETBOXIT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    program = [prefix / "bin/netboxit"]
    return subprocess.run(program, env={**os.environ, **asked}, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    assert make("install", tmp_path).returncode == 0
    return tmp_path


def test_it_runs_from_anywhere_and_goes_without_a_trace(prefix: Path) -> None:
    assert files(prefix) == ["bin/netboxit", "share/man/man1/netboxit.1"]
    said = subprocess.run([prefix / "bin/netboxit", "--version"], cwd="/", capture_output=True, text=True, check=True)
    assert said.stdout.startswith("netboxit ")
    assert make("install", prefix).returncode == 0
    assert make("uninstall", prefix).returncode == 0
    assert files(prefix) == []


@pytest.mark.parametrize("there", ["a file", "a link"])
def test_what_somebody_else_put_there_stays(tmp_path: Path, there: str) -> None:
    (tmp_path / "bin").mkdir()
    if there == "a file":
        (tmp_path / "bin/netboxit").write_text("mine")
    else:
        (tmp_path / "bin/netboxit").symlink_to("/nowhere/netboxit")
    for goal in ("install", "uninstall"):
        done = make(goal, tmp_path)
        assert done.returncode != 0 and "is not" in done.stderr
    assert files(tmp_path) == ["bin/netboxit"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [("netboxit st", ["status"]), ("netboxit status --wa", ["--watch"]), ("netboxit down --a", ["--all"])],
)
def test_the_shell_completes_commands_and_options(prefix: Path, words: str, expected: list[str]) -> None:
    assert completed(prefix, words) == expected


def test_the_shell_completes_the_names_of_labs_that_are_up(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path))
    for name in ("bridge", "harbour", "house"):
        (tmp_path / "labs" / name).mkdir(parents=True)
    for words, expected in (("netboxit down ho", ["house"]), ("netboxit exec --lab h", ["harbour", "house"])):
        assert completed(prefix, words) == expected


def test_the_manual_page_has_every_command_and_option(prefix: Path) -> None:
    page = (prefix / "share/man/man1/netboxit.1").read_text()
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name, command in commands.items():
        assert (f".SS netboxit {name}" in page) == (not command.hidden), name
        options = [option for one in command.params if one.param_type_name == "option" and one.help for option in one.opts]
        assert command.hidden or all(rf"\fB{option}\fR".replace("-", r"\-") in page for option in options), name


def test_the_manual_page_is_one(prefix: Path) -> None:
    if shutil.which("lexgrog") is None or shutil.which("groff") is None:
        pytest.skip("man-db and groff, which judge it, are not installed")
    file = prefix / "share/man/man1/netboxit.1"
    assert subprocess.run(["lexgrog", file], capture_output=True, check=False).returncode == 0
    drawn = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", file], capture_output=True, text=True, check=True)
    assert drawn.stderr == ""
