# SPDX-License-Identifier: GPL-2.0-or-later
"""How the command line ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from contracts.installation import CHECKOUT
from system.interruption import noted
from testbed.views import console


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Of signals, as they were before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


HUNG_UP = """\
import signal
from testbed.views.console import guarded
raise SystemExit(guarded(lambda: signal.raise_signal(signal.SIGHUP)))
"""


def test_who_interrupts_a_command_is_told_what_became_of_what_it_did_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*notes: str) -> Callable[[], object]:
        def command() -> object:
            try:
                signal.raise_signal(signal.SIGINT)
            except BaseException as error:
                for note in notes:
                    error.add_note(note)
                raise
            return None

        return command

    for notes, told in (((), ""), (("lab x was removed", "the run is in y"), "; lab x was removed; the run is in y")):
        assert console.guarded(interrupted(*notes)) == 1
        assert capsys.readouterr().err == f"netboxit: interrupted{told}\n"


def test_an_interruption_that_compiled_code_swallows_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    class Swallows:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def command() -> object:
        made = Swallows()
        del made
        for _ in range(1000):
            time.sleep(0.01)
        return 0

    assert console.guarded(command) == 1
    assert capsys.readouterr().err == "netboxit: interrupted\n"


def test_an_object_that_an_interruption_left_half_made_is_not_heard_of(capsys: pytest.CaptureFixture[str]) -> None:
    """An event loop of Python 3.11 was."""

    class HalfMade:
        def __init__(self) -> None:
            signal.raise_signal(signal.SIGINT)
            self.files: list[int] = []

        def __del__(self) -> None:
            self.files.clear()

    assert console.guarded(HalfMade) == 1
    assert capsys.readouterr().err == "netboxit: interrupted\n"


def test_an_interruption_that_compiled_code_makes_an_error_of_is_no_defect(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> object:
        try:
            signal.raise_signal(signal.SIGINT)
        except console.Interrupted as error:
            disguised = ValueError("SchemaError: Error building the serializer: Interrupted: ")
            disguised.add_note("lab x was removed")
            raise disguised from error
        return 0

    assert console.guarded(command) == 1
    assert capsys.readouterr().err == "netboxit: interrupted; lab x was removed\n"


def test_an_interruption_of_a_class_being_made_is_no_defect(capsys: pytest.CaptureFixture[str]) -> None:
    """Python 3.11 makes a RuntimeError of whatever comes while it names a class's attributes, as when a module is imported."""

    class Attribute:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGINT)

    def command() -> None:
        with noted(lambda: "lab x is up"):
            type("Some", (), {"attribute": Attribute()})

    assert console.guarded(command) == 1
    assert capsys.readouterr().err == "netboxit: interrupted; lab x is up\n"


def test_steps_are_shown_once_without_their_countdowns_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress() as tell:
        for text in ("traffic, 12 s to go", "traffic, 11 s to go", "next change, in 3 s", "probing, 9 s left"):
            tell(text)
        tell("field: fr1.position [10 m, 20 m, 0 m]")
        tell("at 2 points, 17 frames, Ctrl-C ends it")
    assert capsys.readouterr().err.splitlines() == [
        "traffic",
        "next change",
        "probing",
        "field: fr1.position [10 m, 20 m, 0 m]",
        "at 2 points",
    ]


@pytest.mark.parametrize(("before", "status"), [("", 1), ('trap "" HUP;', 0)])
def test_a_command_ends_with_its_terminal_unless_it_runs_under_nohup(before: str, status: int) -> None:
    """What nohup(1) does for the program that it starts is that trap."""
    words = ["sh", "-c", f'{before} exec "$@"', "sh", sys.executable, "-c", HUNG_UP]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "interrupted" in done.stderr) == (status, status == 1), done.stderr
