# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that is planned and can be brought up: on this machine, or on several (`testbed.several_hosts.planned`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from contracts.plan import Plan
from ownership import origin
from testbed.back_ends.back_end import BackEnd, LocalLab
from testbed.description.topology import Topology
from testbed.labs.deployment import Progress
from testbed.labs.lab import Lab
from testbed.plans import taking


@dataclass(frozen=True)
class PlannedLab(ABC):
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
        return {origin.FILE: origin.of(self.topology.path)}
