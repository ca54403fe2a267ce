# SPDX-License-Identifier: GPL-2.0-or-later
"""When applications are arranged, started and stopped, with applications that only write down what is asked of them."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from applications.application import Application
from contracts.errors import NetBoxITError
from contracts.flow import Flow
from contracts.plan import TrafficPlan
from testbed.labs.event_log import EventLog
from testbed.runs.run_traffic import Traffic


class Noted(Application):
    """Arranged in `takes_s`; what is asked of it goes into `notes`."""

    def __init__(self, name: str, folder: Path, notes: list[str], *, takes_s: float = 0.0, fails: bool = False, **options: float):
        super().__init__(TrafficPlan(name, "noted", "a", "b", "", "", "return", options), None, folder / name)  # type: ignore[arg-type]
        self._notes, self._takes_s, self._fails = notes, takes_s, fails

    def prepare(self) -> None: ...

    def arrange(self) -> None:
        time.sleep(self._takes_s)
        if self._fails:
            raise NetBoxITError(f"{self.plan.name} cannot be had")
        self._note("arranged")

    def start(self) -> None:
        super().start()
        self._note("started")

    def stop(self) -> None:
        self._note("stopped")

    def flows(self) -> list[Flow]:
        return []

    def facts(self) -> dict[str, object]:
        return {}

    def _note(self, what: str) -> None:
        self._notes.append(f"{self.plan.name} {what}")


@contextmanager
def traffic(folder: Path, *entries: Application) -> Iterator[tuple[Traffic, EventLog]]:
    log = EventLog(folder / "events.jsonl", folder)
    with ExitStack() as ends:
        yield Traffic(entries, log, ends, lambda _: None), log


def test_what_starts_together_is_ready_before_the_clock_and_starts_before_anything_else_is_done(tmp_path: Path) -> None:
    notes: list[str] = []
    entries = [Noted(name, tmp_path, notes, takes_s=takes, duration=0.1) for name, takes in (("a", 0.3), ("b", 0.0), ("c", 0.1))]
    with traffic(tmp_path, *entries) as (carried, log):
        carried.arrange()
        assert sorted(notes) == ["a arranged", "b arranged", "c arranged"]
        log.begin()
        carried.carry(lambda: notes.append("looked at"), log.due(0.0))
    assert notes[3:7] == ["a started", "b started", "c started", "looked at"]
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [(line["words"], line["at_s"]) for line in lines] == [(f"{name} starts", 0.0) for name in "abc"]


def test_what_starts_later_is_arranged_meanwhile_and_holds_nothing_up(tmp_path: Path) -> None:
    notes: list[str] = []
    # The first is not ready in time, and the second does not wait for it.
    slow = Noted("slow", tmp_path, notes, takes_s=1.0, start=4.2, duration=0.1)
    later = Noted("later", tmp_path, notes, start=4.4, duration=2.0)
    with traffic(tmp_path, later, slow) as (carried, log):
        carried.arrange()
        assert notes == []
        log.begin()
        log._began -= 4.0  # so much of the run is over
        carried.carry(lambda: None, log.due(0.0))
    assert notes[:4] == ["later arranged", "later started", "slow arranged", "slow started"]


def test_one_that_cannot_be_arranged_ends_the_run_before_its_clock(tmp_path: Path) -> None:
    notes: list[str] = []
    entries = (Noted("a", tmp_path, notes), Noted("b", tmp_path, notes, fails=True))
    with pytest.raises(NetBoxITError, match="b cannot be had"), traffic(tmp_path, *entries) as (carried, _):
        carried.arrange()
    assert sorted(notes) == ["a arranged", "a stopped", "b stopped"]


def test_none_is_stopped_while_it_is_being_arranged(tmp_path: Path) -> None:
    notes: list[str] = []
    slow = Noted("slow", tmp_path, notes, takes_s=0.5, duration=0.1)
    with pytest.raises(KeyboardInterrupt), traffic(tmp_path, slow) as (carried, _):
        carried._arrange_until(math.inf)
        time.sleep(0.1)
        raise KeyboardInterrupt
    assert notes == ["slow arranged", "slow stopped"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("arranging")]
