# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals that come at a bad moment wait for a good one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from contracts.installation import CHECKOUT
from system.interruption import SIGNALS, HeldBack, ends_upon_signal


class Stopped(BaseException):
    pass


def _stop(number: int, frame: object) -> None:
    raise Stopped


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    kept = {number: signal.signal(number, _stop) for number in SIGNALS}
    yield
    assert {number: signal.getsignal(number) for number in SIGNALS} == dict.fromkeys(SIGNALS, _stop)
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_takes_effect_at_the_end_of_the_block(number: signal.Signals) -> None:
    done = []
    with pytest.raises(Stopped), HeldBack():
        signal.raise_signal(number)
        done.append("whole")
    assert done == ["whole"]


def test_where_it_is_allowed_it_takes_effect_at_once_and_the_rest_is_held_again() -> None:
    done = []
    with HeldBack() as held:
        with pytest.raises(Stopped), held.allowed():
            signal.raise_signal(signal.SIGINT)
            done.append("never")
        done.append("undone")
    assert done == ["undone"]


def test_one_that_came_before_is_let_through_when_it_is_allowed() -> None:
    with HeldBack() as held:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Stopped), held.allowed():
            pytest.fail("not reached")


def test_what_an_inner_block_allows_an_outer_one_still_holds() -> None:
    done = []
    with pytest.raises(Stopped), HeldBack():
        with HeldBack() as inner, inner.allowed():
            signal.raise_signal(signal.SIGINT)
            done.append("inner")
        done.append("outer")
    assert done == ["inner", "outer"]


def test_a_block_that_no_signal_met_changes_nothing() -> None:
    with HeldBack() as held, held.allowed():
        pass


def test_what_goes_on_until_a_signal_goes_on_when_nohup_has_it_ignore_the_end_of_its_terminal() -> None:
    with ends_upon_signal() as ended:
        signal.raise_signal(signal.SIGHUP)
    assert ended.is_set()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ends_upon_signal() as ended:
        signal.raise_signal(signal.SIGHUP)
        assert not ended.is_set()
        signal.raise_signal(signal.SIGTERM)
    assert ended.is_set()
    signal.signal(signal.SIGHUP, before)


def test_what_comes_when_all_is_done_and_told_comes_too_late() -> None:
    program = (
        "import signal; from system.interruption import SIGNALS, heed_no_more; heed_no_more(); "
        "[signal.raise_signal(number) for number in SIGNALS]"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, check=False).returncode == 0
