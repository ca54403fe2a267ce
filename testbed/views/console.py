# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame of a command: interruption, progress, errors in one line each, exit status."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from contracts import durable
from contracts.errors import BadInput, BadTopology, NetBoxITError, WrongInput
from contracts.permissions import not_permitted
from contracts.quantities import SIZE, TIME, Quantity
from ownership import operators
from system.interruption import heeded
from system.user_privileges import as_user
from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.documents.messages import Error

_BARE_NUMBER = re.compile(r"[+-]?[\d.]+([eE][+-]?\d+)?", re.ASCII)

#: How long after it was discarded an interruption is repeated.
_AGAIN_S = 0.02
#: What a step that goes on ends with.
_COUNTDOWN = re.compile(r", (?:(?:in )?\d+ s(?: (?:to go|left))?|\d+ frames, .*|\d+ files|\d+ of \d+)$", re.ASCII)


class Interrupted(BaseException):
    """Ctrl-C or a signal that ends a program. Not a KeyboardInterrupt, which Typer would turn into an exit of its own.

    Who undoes or keeps something because of it adds that as a note (`add_note`), which the user is told.
    """


class BadOption(WrongInput):
    """An option of the command line has a value that it cannot have."""


class UsageError(WrongInput):
    """The command line itself is wrong; `remedy` says what tells how it is right."""

    def __init__(self, cause: str, remedy: str) -> None:
        self.cause, self.remedy = cause, remedy
        super().__init__(f"{cause}; {remedy}")


def for_programs() -> bool:
    """Whether this command line asks for data. What follows `--`, and the command of `exec`, is another program's."""
    words = sys.argv[1:]
    own = words[: words.index("--")] if "--" in words else words
    verb = next((word for word in own if not word.startswith("-")), "")
    return "--json" in own and verb != "exec"


def guarded(application: Callable[[], object]) -> int:
    """Runs the command line and returns its exit status, which is what it returns where that is a number.

    Whoever stops it, by Ctrl-C or a signal, has everything undone.
    """
    came: list[Interrupted] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        came.append(Interrupted())
        raise came[-1]

    before = {number: signal.signal(number, interrupt) for number in heeded()}
    with _not_swallowed(came):
        try:
            status = application()
        except NetBoxITError as error:
            _tell_error(error)
            return error.exit_status
        except Interrupted as interrupted:
            _tell_interruption(interrupted)
            return 1
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except Exception as error:
            _tell_failure(error, came)
            return 1
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            for interruption in came:
                interruption.__traceback__ = None  # lets go of the objects that it left half made, before they are heard of
    return status if isinstance(status, int) else 0


@contextmanager
def progress(as_json: bool = False) -> Iterator[Callable[[str], None]]:
    """What is being done, on standard error: a line that changes on a terminal, else one line for each new step.

    For programs one document for each new step, on standard output.
    """
    if not as_json and sys.stderr.isatty():
        with drawing.terminal(stderr=True).status("") as display:
            yield lambda text: display.update(drawing.plain(text))
        return
    last_step = ""

    def tell(text: str) -> None:
        nonlocal last_step
        step = _COUNTDOWN.sub("", text)
        if step != last_step:
            last_step = step
            if as_json:
                # When nobody reads it any more, or it is a file on a full disk, the command goes on without.
                with suppress(OSError):
                    drawing.print_json(
                        kinds.PROGRESS.of({"words": step, "at": datetime.now(UTC).isoformat(timespec="milliseconds")})
                    )
            else:
                _say(step)

    yield tell


@contextmanager
def until_nobody_reads() -> Iterator[None]:
    """Ends output that has no end of its own when its reader closes the pipe, which is no failure."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_duration(text: str, option: str = "--duration") -> float:
    """Seconds, with a unit as in a topology file or as a bare number: 1 ms to a year. Raises BadOption."""
    try:
        return Quantity(TIME, 1e-3, 365 * 86_400.0).parse(f"{text} s" if _BARE_NUMBER.fullmatch(text) else text)
    except ValueError as error:
        raise BadOption(f"{option}: {error}") from error


def read_warm_up(text: str) -> float:
    """Seconds, as `read_duration` reads them; 0 is none. Raises BadOption."""
    try:
        return Quantity(TIME, 0.0, 365 * 86_400.0).parse(f"{text} s" if _BARE_NUMBER.fullmatch(text) else text)
    except ValueError as error:
        raise BadOption(f"--warm-up: {error}") from error


def read_size(text: str, option: str) -> int:
    """Bytes, with a unit as in a topology file: 1 B to 1 PB. Raises BadOption."""
    try:
        return int(Quantity(SIZE, 1.0, 1e15).parse(text))
    except ValueError as error:
        raise BadOption(f"{option}: {error}") from error


def _say(text: str) -> None:
    """A line on standard error; where that is a file on a full disk, the command goes on without."""
    with suppress(OSError):
        drawing.say(text, file=sys.stderr)


def _tell_interruption(error: BaseException) -> None:
    cause = "; ".join(["interrupted", *getattr(error, "__notes__", ())])
    _tell([_error("Interrupted", cause)], f"netboxit: {cause}")


def _tell_failure(error: Exception, came: Sequence[Interrupted]) -> None:
    """What no part of the program expected: the system's refusal, an interruption in disguise, or a defect."""
    if isinstance(error, OSError) and error.errno in durable.OF_THE_PLACE:
        _tell_error(durable.not_written(error))
    elif isinstance(error, PermissionError) and isinstance(error.filename, str) and operators.has_limits():
        _tell_error(not_permitted(error, Path(error.filename)))
    elif came and (_follows(error, came) or "Interrupted" in str(error)):
        # Python itself and compiled code, such as Pydantic's, turn an interruption into an error of their own.
        _tell_interruption(error)
    else:
        _tell_defect(error)


def _follows(error: BaseException, came: Sequence[Interrupted]) -> bool:
    """Whether it was raised because of one of these, or while one of these was on its way."""
    before: BaseException | None = error
    while before is not None and before not in came:
        before = before.__cause__ or before.__context__
    return before is not None


def _tell_defect(error: Exception) -> None:
    cause = f"{type(error).__name__}: {error}"
    _tell([_error("Defect", cause)], f"netboxit: a defect of its own: {cause}")
    try:
        with as_user():
            descriptor, name = tempfile.mkstemp(prefix="netboxit-", suffix=".log")
        with os.fdopen(descriptor, "w") as file:
            traceback.print_exception(error, file=file)
    except OSError as why:
        _say(f"Please report it with the command and the file that you used, and this; no file could have it ({why.strerror}):")
        _say("".join(traceback.format_exception(error)))
    else:
        _say(f"The traceback is in {name}; please report it with the command and the file that you used.")


def _tell_error(error: NetBoxITError) -> None:
    """One line for each thing that is wrong."""
    prefix = "" if isinstance(error, BadInput | BadTopology) else "netboxit: "
    _tell(list(map(_as_data, error.errors if isinstance(error, BadTopology) else [error])), f"{prefix}{error}")


def _tell(errors: list[Error], text: str) -> None:
    """The text is for people, the same as data on standard output for programs, if they asked.

    When nobody reads the data, or it goes to a file on a full disk, the exit status has to do.
    """
    if for_programs():
        try:
            drawing.print_json(kinds.ERRORS.of({"errors": errors}))
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    _say(text)


def _as_data(error: NetBoxITError) -> Error:
    kind = type(error).__name__
    if isinstance(error, BadInput):
        return {
            "kind": kind,
            "cause": error.cause,
            "path": error.path,
            "line": error.line or None,
            "column": error.column or None,
            "remedy": error.remedy or None,
        }
    if isinstance(error, UsageError):
        return _error(kind, error.cause, error.remedy)
    return _error(kind, str(error))


def _error(kind: str, cause: str, remedy: str | None = None) -> Error:
    return {"kind": kind, "cause": cause, "path": None, "line": None, "column": None, "remedy": remedy}


@contextmanager
def _not_swallowed(came: Sequence[Interrupted]) -> Iterator[None]:
    """Repeats an interruption that Python discarded because it came where nothing can be raised (a callback of compiled code).

    What objects complain of after one `came` is that it left them half made: nobody is told.
    """
    before = sys.unraisablehook

    def again(lost: sys.UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, Interrupted):
            threading.Timer(_AGAIN_S, signal.raise_signal, [signal.SIGINT]).start()
        elif not came:
            before(lost)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before
