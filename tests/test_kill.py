# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit down` leaves a host as it was before, at whatever moment a command was killed: a sample of `make kill-test`."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial

import pytest

from contracts.installation import CHECKOUT
from tests.kill_trials import Moment, count, moments, try_each
from tests.own_commands import UP, expect_success, prepare, watched_command
from tests.own_host import run_in_own_host
from tests.system_calls import Watched
from tests.trial import sample

pytestmark = pytest.mark.lab

#: In `make test`, and in `make test-long`.
TRIALS = (30, 75)


@pytest.fixture(scope="module")
def everything() -> list[Moment]:
    return moments(count())


@pytest.mark.parametrize("trials", [TRIALS[0], pytest.param(TRIALS[1], marks=pytest.mark.long)])
def test_whenever_netboxit_is_killed_down_leaves_the_host_as_it_was(everything: list[Moment], trials: int) -> None:
    outcomes = list(try_each(sample(everything, trials)))
    # Those with more moments than lie between two of the sample, which need not have one of the others.
    many = {name for name, number in Counter(m.command for m in everything).items() if number > len(everything) / trials + 1}
    assert {outcome.moment.command for outcome in outcomes} >= many >= {"up", "up of a switch"}
    # Programs do not wait equally often each time, so not every moment comes.
    assert sum(outcome.call is not None for outcome in outcomes) > trials / 2
    left = [str(outcome) for outcome in outcomes if outcome.problem]
    assert not left, "\n".join(left)


def test_what_is_just_being_started_when_netboxit_is_killed_is_waited_for(everything: list[Moment]) -> None:
    """It begins when `down` has come, and must not find the lab half gone: three containers, mkfs.ext4, debugfs."""
    chosen = [moment for moment in everything if moment.command == "up" and moment.victim == "starter" and moment.number == 1]
    outcomes = list(try_each([moment for moment in chosen if moment.child > 1]))
    assert [outcome.call for outcome in outcomes] == ["python3.11: execve"] * 5
    assert [outcome.problem for outcome in outcomes] == [""] * 5


def test_the_program_that_is_killed_makes_the_calls_of_the_one_that_users_start() -> None:
    def tried() -> list[Counter[str]]:
        prepare()
        found = []
        for start in (partial(watched_command, *UP), partial(Watched, partial(_execute, *UP))):
            found.append(_calls(start()))
            expect_success("down")
        return found

    forked, executed = run_in_own_host(tried)
    # How often it writes, asks and waits is not the same each time.
    making = ("mkdir", "mount", "unshare", "symlink", "rename", "fallocate", "mknodat", "unlink", "rmdir", "vfork", "setxattr")
    assert {name: executed[name] for name in making} == {name: forked[name] for name in making}


def _calls(watched: Watched) -> Counter[str]:
    with watched:
        made: Counter[str] = Counter()
        for call in watched.calls(watched.pidfd):
            made[call.name] += call.process == watched.pid
            watched.let_go(call)
        assert watched.status() == 0
    return made


def _execute(*argv: str) -> int:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.execv(CHECKOUT / "netboxit.py", ["netboxit", *argv])


def test_a_sample_is_spread_over_all_moments() -> None:
    everything = [Moment("up", 0, number, "netboxit") for number in range(1000)]
    chosen = [moment.number for moment in sample(everything, 10)]
    assert [number // 100 for number in chosen] == list(range(10))
