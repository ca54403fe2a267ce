# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes the runs of a campaign: processes of this machine, workers of a cluster, or labs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from campaigns.order import Order
from contracts.errors import NetBoxITError
from results.metrics_document import Status


class WorkerLost(NetBoxITError):
    """Whoever made a run ended before the run did. The run can be made again."""


@dataclass(frozen=True)
class Done:
    """A run that is over, with its folder written."""

    status: Status
    took_s: float
    #: What ended it before its time; None when nothing did.
    failure: str | None


class Engine(Protocol):
    """Makes runs in folders of this machine, inside a with block. Whatever it is doing ends with the block."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: object) -> None: ...

    @property
    def clock(self) -> Literal["real", "virtual"]:
        """In whose time."""

    @property
    def slots(self) -> int:
        """How many runs are made at the same time."""

    def digest(self, order: Order) -> str:
        """Of all that the run follows from, but its seed. Raises BadTopology, and what else planning raises."""

    def submit(self, order: Order, folder: Path) -> Future[Done]:
        """Has the run made in that folder, which is there and empty.

        Raises what planning raises. The future raises WorkerLost, NotWritten and RunFailed.
        """

    def remarks(self) -> Sequence[str]:
        """What is to be said of them when the runs are over."""
