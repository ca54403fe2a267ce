# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of a topology file have in common, what all nodes have, and the most that nodes may take of their machine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts import plan
from contracts.addresses import Interface
from contracts.errors import AtPlaces
from contracts.quantities import SIZE, Quantity
from testbed.description.machines import MachineName
from testbed.description.yaml_source import Location


@dataclass(frozen=True)
class Written:
    """In an annotation: what may be written there, in the words of the documentation, where the type does not say it."""

    words: str


class Section(BaseModel):
    """A mapping of the file; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def _wrong(self) -> Iterable[tuple[Location, str]]:
        """What is wrong between its keys: messages by their places in it.

        One at () is about the whole section; it is reported alone.
        """
        return ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        wrong: dict[Location, str] = {}
        for place, message in self._wrong():
            if not place:
                raise ValueError(message)
            wrong[place] = message
        if wrong:
            raise AtPlaces(wrong)
        return self


class NodeSection(Section):
    """A node of the network: it has ports, each with one wire."""

    #: What such a node is called, and what its ports are.
    KIND: ClassVar[str]
    PORT: ClassVar[Literal["interface", "station", "port"]] = "interface"
    #: What goes from each of its ports to the others: frames as they are, packets by their IP addresses, or nothing.
    PASSES: ClassVar[Literal["frames", "packets", "nothing"]]

    host: MachineName | None = Field(
        None, description="The machine that it is on, by its name in the inventory, or `auto`; as for the whole file by default."
    )

    @abstractmethod
    def ports(self) -> dict[str, tuple[Interface, ...]]:
        """Its ports, each with its addresses."""

    def own_interfaces(self) -> dict[str, tuple[Interface, ...]]:
        """Interfaces without a wire that it has inside of itself, each with its addresses."""
        return {}

    def place(self, port: str) -> Location:
        """Where in the node the file tells of a port."""
        return (f"{self.PORT}s", port)

    def needs_interface(self) -> str | None:
        """Why its wires must be interfaces of the kernel, to stand after "a host,"; None when they may be shared memory."""
        return None


#: The most that a node may take of its machine.
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
    limits = of_all.model_dump() | own.model_dump(exclude_none=True)
    return plan.Limits(**{name: round(value) for name, value in limits.items()})
