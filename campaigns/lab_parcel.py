# SPDX-License-Identifier: GPL-2.0-or-later
"""A run in real time on its way to another machine, whose lab makes it: the topology as it is run, with all that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from campaigns import lab_worker
from campaigns.lab_runs import digest_of, planned
from campaigns.order import Order
from campaigns.parcel import Returned, check_version, name_as_before, pack
from campaigns.worker_version import identity
from contracts import durable
from contracts.errors import BadInput, BadTopology
from contracts.files import files_found, kept_at, kept_tree_at
from contracts.plan import Plan
from contracts.run_folder import REFERENCE_FILE, REQUEST_FILE
from results import reference
from results.retention import Keep
from testbed.description.topology_file import source_of
from testbed.run import inputs


@dataclass(frozen=True)
class LabParcel:
    """A run that another machine is to make in a lab."""

    #: Of the run.
    name: str
    #: The topology as it is run, what it names, and figures to compare with, by their places in a folder.
    files: Mapping[str, bytes]
    #: The topology's place there.
    topology: str
    #: By their places there: where the topology, and what it names, is on the controller.
    paths: Mapping[str, str]
    #: Of the traffic, seconds; None: as the topology says.
    duration_s: float | None
    #: From the beginning of the run, seconds.
    warm_up_s: float
    keep: Keep
    #: Of the controller.
    identity: Mapping[str, str]

    @staticmethod
    def of(order: Order) -> LabParcel:
        """Raises BadTopology, also for a lab that has something of this machine."""
        with files_found() as found:
            plan = planned(order)
        if (tied := _of_this_machine(plan)) is not None:
            cause, remedy = f"{tied}, which a worker of a cluster does not have", "leave --scheduler out"
            raise BadTopology([BadInput(str(order.topology), 1, 1, cause, remedy)])
        topology = order.topology.name
        paths = {
            topology: str(order.topology),
            **{kept_at(text): str(path) for text, path in found.files.items()},
            **{kept_tree_at(text): str(path) for text, path in found.trees.items()},
        }
        files = inputs(source_of(order.topology, order.settings), order.settings, found, order.duration_s, topology)
        del files[REQUEST_FILE]
        if (figures := files.pop(REFERENCE_FILE, None)) is not None:
            files[reference.beside(Path(topology)).name] = figures
        return LabParcel(order.name, files, topology, paths, order.duration_s, order.warm_up_s, order.keep, identity())

    def carry_out(self, heed: Callable[[], None]) -> Returned:
        """On a worker: makes the run in its lab. `heed` ends it early by raising; then the lab goes down.

        Raises OtherVersion, NotWritten, RunFailed and TooLarge.
        """
        check_version(self.identity)
        with lab_worker.lab() as (slot, place):
            for name, content in self.files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                durable.write(place / name, content)
            (folder := place / "runs" / self.name).mkdir(parents=True)
            order = Order(self.name, place / self.topology, (), self.duration_s, self.warm_up_s, self.keep)
            done = slot.perform(order, folder, heed)
            for record in folder.glob("*.json"):
                name_as_before(record, {str(place / own): path for own, path in self.paths.items()})
            return Returned(done, pack(folder))


class InLabs:
    """What a cluster is to make: runs in real time."""

    clock: Literal["real"] = "real"
    in_labs: Literal[True] = True

    def digest(self, order: Order) -> str:
        return digest_of(order)

    def parcel(self, order: Order) -> LabParcel:
        return LabParcel.of(order)


def _of_this_machine(plan: Plan) -> str | None:
    """What of a lab is this machine's alone; None: nothing."""
    if plan.hosts:
        return "the lab is on several machines"
    return f"the lab has equipment of this machine ({plan.equipment[0].words()})" if plan.equipment else None
