# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C and the signals that end a program: delayed where a half-done step could not be undone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class HeldBack:
    """A with block that signals do not interrupt; one that came meanwhile takes effect at its end.

    Inside, `with held.allowed():` lets them through again, one that came before at once; but not past an outer HeldBack.
    Only the main thread gets signals, so elsewhere there is nothing to hold.
    """

    def __init__(self) -> None:
        self._kept: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}
        self._came: signal.Signals | None = None

    def __enter__(self) -> Self:
        self._hold()
        return self

    def __exit__(self, *error: object) -> None:
        self._release()

    @contextmanager
    def allowed(self) -> Iterator[None]:
        self._release()
        try:
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._kept = {number: signal.getsignal(number) for number in SIGNALS}
            try:
                for number in SIGNALS:
                    signal.signal(number, self._note)
            except BaseException:
                self._release()
                raise

    def _release(self) -> None:
        for number, handler in self._kept.items():
            signal.signal(number, handler)
        came, self._came = self._came, None
        if came is not None:
            signal.raise_signal(came)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = signal.Signals(number)


def heeded() -> tuple[signal.Signals, ...]:
    """Those that end this program. nohup(1) has it ignore that its terminal is closed, and so it does."""
    return tuple(number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN)


def heed_no_more() -> None:
    """All is done and told, and the program only ends: what comes now comes too late."""
    for number in heeded():
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def noted(note: Callable[[], str]) -> Iterator[None]:
    """A with block that says what became of what was done, should it be interrupted or fail: `note` is called then."""
    try:
        yield
    except BaseException as error:
        error.add_note(note())
        raise


@contextmanager
def ends_upon_signal() -> Iterator[threading.Event]:
    """A with block for what goes on until somebody ends it: Ctrl-C and the signals set the event, and interrupt nothing."""
    wished = threading.Event()
    before = {number: signal.getsignal(number) for number in heeded()}
    try:
        for number in before:
            signal.signal(number, lambda *_: wished.set())
        yield wished
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
