# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands do with a lab that is planned, or up, wherever its nodes are: all on this machine, or some on others.

Of those on others `testbed.several_hosts.planned` and `testbed.several_hosts.distributed_lab` do it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from contracts.errors import WrongInput
from contracts.plan import Plan
from ownership import recorded
from testbed.labs.lab import Lab
from testbed.plans import taking

if TYPE_CHECKING:
    from applications.application import Hosts
    from testbed.description.topology import Topology
    from testbed.documents.changes import Change
    from testbed.documents.status import LabStatus
    from testbed.labs.deployment import Progress
    from testbed.runs.measured_lab import MeasuredLab


class OnSeveralMachines(WrongInput):
    """A command works on one machine only, and what it names is on several, or on another one."""


@dataclass(frozen=True)
class Capturing:
    """A capture as a person asks for it. `file` is None where the frames go to standard output."""

    points: Sequence[str]
    #: As it was said; None until somebody ends it.
    duration: str | None
    file: Path | None
    overwrite: bool
    #: One pcapng stream, and nothing told as data.
    plain: bool


class BackEnd(AbstractContextManager["BackEnd"]):
    """A lab that is up. As a context manager it is taken down at the end of the block."""

    #: What of the lab is on this machine.
    here: Lab
    #: The nodes, wherever they are, as applications use them.
    hosts: Hosts

    @property
    def name(self) -> str:
        return self.here.name

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """Of the whole lab."""

    @abstractmethod
    def status(self) -> LabStatus:
        """With its latest events. Of a machine that does not answer, what was planned."""

    @abstractmethod
    def change(self, target: str, text: str, progress: Callable[[str], None]) -> list[Change]:
        """Changes something at once, as `netboxit set` says it; what was made. Raises BadChange before anything is done."""

    @abstractmethod
    def put_back(self) -> tuple[str, list[Change]] | None:
        """Puts back what drills changed whose commands were killed: their names, what was made. None when there is nothing."""

    @abstractmethod
    def continue_at(self, nodes: Iterable[str], verb: Sequence[str]) -> None:
        """Returns when this machine has the nodes; else this program becomes the same command on the machine that has them.

        `verb` is the command there, which says by --lab which lab is meant. Raises OnSeveralMachines, NoSuchNode.
        """

    @abstractmethod
    def check_here(self, nodes: Iterable[str], command: str) -> None:
        """For what is done with this machine's own things. Raises OnSeveralMachines, NoSuchNode."""

    @abstractmethod
    def check_alone(self, command: str, instead: str) -> None:
        """For what is done with whole labs on one machine. Raises OnSeveralMachines, with what to do instead."""

    @abstractmethod
    def capture_elsewhere(self, nodes: Iterable[str], wanted: Capturing) -> int | None:
        """Captures at nodes of another machine; the frames come here as they are captured. Returns the exit status there.

        None: the nodes are on this machine, and nothing is done. Raises OnSeveralMachines, NoSuchNode.
        """

    @abstractmethod
    def wait_ready(self, deadline_s: float) -> None:
        """Returns when every segment and router is ready. Raises NodeFailed as soon as a node ends, or after the deadline."""

    @abstractmethod
    def start_programs(self) -> None:
        """The network is ready: hosts start the programs that they run by themselves."""

    @abstractmethod
    def measured(self, folder: Path) -> MeasuredLab:
        """Has what the lab does kept in this folder."""

    @abstractmethod
    def down(self, error: BaseException | None) -> None:
        """Takes it down. `error` is why, if it was one."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.down(error)


class LocalLab(BackEnd):
    """A lab that is all on this machine. Each command imports what it alone needs: `exec` is quick."""

    def __init__(self, here: Lab) -> None:
        self.here = self.hosts = here

    @property
    def plan(self) -> Plan:
        return self.here.plan

    def status(self) -> LabStatus:
        from testbed.observation.event_reader import status_with_events

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
        self.here.give_up(error)


@dataclass(frozen=True)
class PlannedLab(ABC):
    """A lab that can be brought up."""

    topology: Topology
    plan: Plan

    def with_taken(self, names: Sequence[str]) -> Self:
        """With the interfaces that it may have though they are in use. Raises NotTaken."""
        return replace(self, plan=taking.named(self.plan, names))

    @abstractmethod
    def check(self) -> None:
        """Raises what is known to speak against it, before anything is made."""

    @abstractmethod
    def up(self, progress: Progress) -> BackEnd:
        """Makes it; `wait_ready` follows. What was done is undone when it fails."""

    @abstractmethod
    def up_and_ready(self, progress: Progress) -> BackEnd:
        """Makes it, to stay, and waits until traffic can flow; a lab that does not get there is taken down again."""


class LocalPlan(PlannedLab):
    """All of it is to be on this machine."""

    def check(self) -> None:
        """What speaks against it is told when it is made, at its beginning."""

    def up(self, progress: Progress) -> LocalLab:
        return LocalLab(Lab.up(self.plan, progress, self._origin()))

    def up_and_ready(self, progress: Progress) -> LocalLab:
        return LocalLab(Lab.up_and_ready(self.plan, progress, self._origin()))

    def _origin(self) -> dict[str, str]:
        return {recorded.ORIGIN: recorded.origin(self.topology.path)}
