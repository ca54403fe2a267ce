# SPDX-License-Identifier: GPL-2.0-or-later
"""What a topology file says of the most that nodes may take of their machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from contracts import plan
from contracts.quantities import SIZE, Quantity
from testbed.description.section import NodeSection, Section

_DEFAULT = plan.Limits()

#: LXC's init, a command and what is run in the node later take some ten.
_Processes = Annotated[int, Field(ge=16, le=1_000_000)]
_Memory = Annotated[float, Quantity(SIZE, 64e6, 1e15)]
_Temporary = Annotated[float, Quantity(SIZE, 1e6, 1e15)]
_Disk = Annotated[float, Quantity(SIZE, 16e6, 1e13)]
_OpenFiles = Annotated[int, Field(ge=64, le=1_048_576)]
_LockedMemory = Annotated[float, Quantity(SIZE, 0.0, 1e15)]


class Limits(Section):
    """Of all nodes."""

    processes: _Processes = Field(_DEFAULT.processes, description="Processes and threads at one time.")
    memory: _Memory = Field(
        _DEFAULT.memory, description="RAM, with what is in `/tmp`, `/run` and `/dev/shm`. Beyond it the kernel ends a process."
    )
    temporary: _Temporary = Field(_DEFAULT.temporary, description="Each of `/tmp`, `/run` and `/dev/shm`.")
    disk: _Disk = Field(
        _DEFAULT.disk, description="Its own folder, `/run/netboxit`, on disk: recordings, logs, frame records (48 bytes each)."
    )
    open_files: _OpenFiles = Field(_DEFAULT.open_files, description="Open files of each process.")
    locked_memory: _LockedMemory = Field(
        _DEFAULT.locked_memory, description="RAM that each process may lock; emulators may lock up to `memory`."
    )


class LimitsOfNode(Section):
    """Of one node; what is left out is as for all."""

    processes: _Processes | None = Field(None, description="Processes and threads at one time.")
    memory: _Memory | None = Field(
        None, description="RAM, with what is in `/tmp`, `/run` and `/dev/shm`. Beyond it the kernel ends a process."
    )
    temporary: _Temporary | None = Field(None, description="Each of `/tmp`, `/run` and `/dev/shm`.")
    disk: _Disk | None = Field(None, description="Its own folder, `/run/netboxit`, on disk.")
    open_files: _OpenFiles | None = Field(None, description="Open files of each process.")
    locked_memory: _LockedMemory | None = Field(
        None, description="RAM that each process may lock; emulators lock up to `memory`."
    )


class ContainerSection(NodeSection):
    """A node of which a container is made."""

    limits: LimitsOfNode = Field(LimitsOfNode(), description="The most that it may take of its machine; as for all by default.")


def planned(of_all: Limits, own: LimitsOfNode) -> plan.Limits:
    """What holds for a node."""
    both = of_all.model_dump() | own.model_dump(exclude_none=True)
    return replace(_DEFAULT, **{name: round(value) for name, value in both.items()})
