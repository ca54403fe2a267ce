# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in real time on this machine: as many labs at a time as have cores of their own."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Literal, Self

from campaigns import digest
from campaigns.engine import Done
from campaigns.lab_slot import LabSlot
from campaigns.order import Order
from contracts.files import files_found
from contracts.plan import Plan, RealtimeSupport
from system.cores import available_cores, isolated_cores
from testbed import where
from testbed.plans.core_plan import core_sets
from testbed.plans.traffic_plan import with_warm_up

#: In the campaign's folder while a lab of it may be up, with the number of its slot as two hexadecimal digits: the lab's name.
_MARK: Final = ".lab-"
_MOST: Final = 256
#: What a machine's real-time service is taken for, which may be another one where the campaign goes on.
_ANY: Final = RealtimeSupport(fifo=True, budget_us=None, reason="")


def sets_of_cores(needed: int) -> list[tuple[int, ...]]:
    """Of this machine, for labs that are up at the same time, and need so many cores each; 0: it is not known."""
    return core_sets(available_cores(), needed, isolated_cores())[:_MOST]


def lab_of(folder: Path, slot: int = 0) -> str:
    """The name of a campaign's labs in one slot: of its folder's name what a lab's may have, and of its place a digest, since
    campaigns of the same name in other results have labs of their own."""
    letters = re.sub("[^a-z0-9-]", "", folder.name)[:6].strip("-")
    digits = hashlib.blake2b(bytes(folder.resolve()), digest_size=2).hexdigest()
    return f"c-{letters}-{digits}{slot:02x}".replace("--", "-")


def digest_of(order: Order) -> str:
    """Of all that a run in a lab follows from, but its seed and its machine. Raises BadTopology, and what planning raises."""
    with files_found() as found:
        plan = planned(order)
    return digest.of_plan(plan, order.duration_s or 0.0, found.files)


def planned(order: Order) -> Plan:
    """The run's plan but for what its machine grants. Raises BadTopology, and what else planning raises."""
    plan, _ = where.checked(order.topology, None, _ANY, order.settings)
    return with_warm_up(plan, order.warm_up_s, order.duration_s)


class LabRuns:
    """An engine of labs on this machine, one at a time on each of these sets of cores. Labs on the same cores would disturb each
    other."""

    clock: Literal["real"] = "real"

    def __init__(self, folder: Path, sets: Sequence[Sequence[int]]) -> None:
        """`folder` is the campaign's. A single set is of all cores that labs may use."""
        self.slots = len(sets)
        self._folder = folder
        self._free = SimpleQueue[LabSlot]()
        for number, cores in enumerate(sets):
            self._free.put(self._slot(number, cores if len(sets) > 1 else None))
        self._threads = ThreadPoolExecutor(self.slots)
        self._ends = threading.Event()

    def __enter__(self) -> Self:
        for mark in self._folder.glob(f"{_MARK}[0-9a-f][0-9a-f]"):
            self._slot(int(mark.name.removeprefix(_MARK), 16), None).take_down_earlier()
        return self

    def __exit__(self, *error: object) -> None:
        """Labs that are up are taken down by their own commands, which are waited for."""
        self._ends.set()
        self._threads.shutdown(cancel_futures=True)

    def digest(self, order: Order) -> str:
        return digest_of(order)

    def submit(self, order: Order, folder: Path) -> Future[Done]:
        return self._threads.submit(self._perform, order, folder)

    def remarks(self) -> Sequence[str]:
        one_by_one = self.slots == 1 and isolated_cores()
        return ["where cores are isolated (isolcpus), labs are made one after another"] if one_by_one else []

    def _slot(self, number: int, cores: Sequence[int] | None) -> LabSlot:
        return LabSlot(lab_of(self._folder, number), self._folder / f"{_MARK}{number:02x}", cores)

    def _perform(self, order: Order, folder: Path) -> Done:
        slot = self._free.get()
        try:
            return slot.perform(order, folder, self._heed)
        finally:
            self._free.put(slot)

    def _heed(self) -> None:
        if self._ends.is_set():
            raise CancelledError("the campaign ended")
