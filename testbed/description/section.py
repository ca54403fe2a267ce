# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of a topology file have in common, and what all nodes have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts.addresses import Interface
from contracts.errors import AtPlaces
from testbed.description.machines import MachineName
from testbed.description.yaml_source import Location


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
