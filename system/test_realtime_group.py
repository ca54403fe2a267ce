# SPDX-License-Identifier: GPL-2.0-or-later
"""The real-time budget that labs hold together, in a host of the test's own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import NetBoxITError
from system import cores, holding, realtime_group
from system.cores import GroupFailed
from system.realtime_support import realtime_budget_us, realtime_support
from tests.own_host import run_in_own_host

pytestmark = pytest.mark.lab


def in_own_host(scenario: Callable[[int, Path, Path], Any]) -> Any:
    """What a scenario returns that is given the budget there is, and the folders of two labs."""

    def run() -> Any:
        one, two = Path("/run/one"), Path("/run/two")
        for lab in (one, two):
            lab.mkdir()
        budget = realtime_budget_us()
        return (scenario(budget, one, two), realtime_group.path().exists(), holding.RUN.exists()) if budget else None

    if (found := run_in_own_host(run)) is None:
        pytest.skip("this kernel does not ration real-time service, or has none left")
    result, *left = found
    assert left == [False, False], "something was left"
    return result


def refusal(act: Callable[[], object]) -> str:
    """What the group says when it cannot do it."""
    try:
        act()
    except GroupFailed as error:
        return str(error)
    return ""


def test_two_labs_have_all_of_the_budget_and_the_last_one_gives_it_back() -> None:
    def two_labs(budget: int, one: Path, two: Path) -> list[object]:
        seen: list[object] = []
        realtime_group.hold(budget, one)
        seen += [realtime_budget_us() == budget, realtime_support().fifo]
        realtime_group.hold(budget, two)
        realtime_group.hold(budget, two)
        realtime_group.release(one)
        seen += [cores.granted_us(realtime_group.path()) == budget, realtime_support().fifo]
        realtime_group.release(two)
        realtime_group.release(two)
        return [*seen, realtime_support().fifo]

    assert in_own_host(two_labs) == [True] * 5


def test_labs_that_come_and_go_at_the_same_time_all_have_it() -> None:
    def crowd(budget: int, one: Path, _: Path) -> list[str]:
        context = multiprocessing.get_context("fork")
        wrong = context.SimpleQueue()

        def come_and_go(lab: Path) -> None:
            for _ in range(12):
                support = realtime_support()
                if (support.fifo, support.budget_us) != (True, budget):
                    wrong.put(f"{support.budget_us} of {budget} us: {support.reason}")
                    return
                try:
                    realtime_group.hold(budget, lab)
                    realtime_group.release(lab)
                except NetBoxITError as error:
                    wrong.put(str(error))

        labs = [one.with_name(f"lab{number}") for number in range(6)]
        for lab in labs:
            lab.mkdir()
        commands = [context.Process(target=come_and_go, args=(lab,)) for lab in labs]
        for command in commands:
            command.start()
        for command in commands:
            command.join(60.0)
        found = [wrong.get() for _ in iter(wrong.empty, True)]
        return [*found, *(f"a command ended with {command.exitcode}" for command in commands if command.exitcode)]

    assert in_own_host(crowd) == []


def test_another_program_keeps_what_it_was_granted() -> None:
    def beside(budget: int, one: Path, _: Path) -> int:
        other = cores.group_folder("cpu", "other")
        other.mkdir()
        cores.grant(other, 5_000)
        realtime_group.hold(realtime_budget_us() or 0, one)
        granted = cores.granted_us(realtime_group.path()) + cores.granted_us(other) - budget
        realtime_group.release(one)
        cores.remove("other")
        return granted

    assert in_own_host(beside) == 0


def test_who_was_planned_before_another_program_took_some_has_what_is_left() -> None:
    def late(budget: int, one: Path, two: Path) -> tuple[int, int, str]:
        other = cores.group_folder("cpu", "other")
        other.mkdir()
        cores.grant(other, 5_000)
        taken = cores.granted_us(other)
        less = [realtime_group.hold(budget, lab) for lab in (one, two)]
        for lab in (one, two):
            realtime_group.release(lab)
        cores.remove("other")
        other.mkdir()
        cores.grant(other, budget * cores.REALTIME_PERIOD_US // cores.SECOND_US)
        said = refusal(lambda: realtime_group.hold(budget, one))
        realtime_group.release(one)
        cores.remove("other")
        return budget - taken - less[0], less[0] - less[1], said

    left, differ, said = in_own_host(late)
    assert 0 <= left <= 10_000 and differ == 0
    assert "other programs have taken" in said


def test_a_group_of_that_name_that_is_somebody_elses_is_neither_used_nor_removed() -> None:
    def foreign(budget: int, one: Path, _: Path) -> tuple[str, bool]:
        realtime_group.path().mkdir()
        said = refusal(lambda: realtime_group.hold(budget, one))
        realtime_group.release(one)
        there = realtime_group.path().exists()
        realtime_group.path().rmdir()
        return said, there

    said, there = in_own_host(foreign)
    assert "is not NetBoxIT's" in said and there


def test_what_a_killed_command_left_half_made_goes_with_the_next() -> None:
    def killed(budget: int, one: Path, two: Path) -> bool:
        cores.group_folder("cpu", "nbx.realtime.new").mkdir()
        realtime_group.hold(budget, one)
        one.rmdir()  # by hand, or another machine's folder that is no longer mounted
        realtime_group.hold(budget, two)
        cores.group_folder("cpu", "nbx.realtime.new").mkdir()
        realtime_group.release(two)
        return cores.group_folder("cpu", "nbx.realtime.new").exists()

    assert in_own_host(killed) is False


def test_processes_of_no_lab_are_told_and_not_killed() -> None:
    def left(budget: int, one: Path, _: Path) -> tuple[str, bool]:
        realtime_group.hold(budget, one)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
        (realtime_group.path() / "cgroup.procs").write_text(str(child))
        said = refusal(lambda: realtime_group.release(one))
        os.close(writing)
        ended_by_itself = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        realtime_group.release(one)
        return said, ended_by_itself

    said, ended_by_itself = in_own_host(left)
    assert "are of no lab that is there" in said and ended_by_itself
