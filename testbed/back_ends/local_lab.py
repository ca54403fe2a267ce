# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that is all on this machine. Each command imports what it alone needs: `exec` is quick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.plan import Plan
from testbed.back_ends.back_end import BackEnd, Capturing
from testbed.labs.lab import Lab

if TYPE_CHECKING:
    from testbed.documents.changes import Change
    from testbed.documents.status import LabStatus
    from testbed.runs.measured_lab import MeasuredLab


class LocalLab(BackEnd):
    def __init__(self, here: Lab) -> None:
        self.here = here

    @property
    def plan(self) -> Plan:
        return self.here.plan

    @property
    def hosts(self) -> Lab:
        return self.here

    def status(self) -> LabStatus:
        from testbed.observation.status_now import status_with_events

        return status_with_events(self.here)

    def change(self, target: str, text: str, progress: Callable[[str], None]) -> list[Change]:
        from testbed.changing import apply_now

        return apply_now.change(self.here, target, text, progress)

    def put_back(self) -> tuple[str, list[Change]] | None:
        from testbed.changing import apply_now

        return apply_now.put_back(self.here)

    def continue_at(self, nodes: Iterable[str], verb: Sequence[str]) -> None:
        """This machine has them."""

    def check_here(self, nodes: Iterable[str], command: str) -> None:
        """They are."""

    def check_alone(self, command: str, instead: str) -> None:
        """It is."""

    def capture_elsewhere(self, nodes: Iterable[str], wanted: Capturing) -> None:
        return None

    def wait_ready(self, deadline_s: float) -> None:
        self.here.wait_ready(deadline_s)

    def start_programs(self) -> None:
        self.here.start_programs()

    def measured(self, folder: Path) -> MeasuredLab:
        from testbed.runs.measured_lab import MeasuredLab

        return MeasuredLab(self.here, folder)

    def down(self, error: BaseException | None) -> None:
        self.here.down()
        self.here.note_removal(error)
