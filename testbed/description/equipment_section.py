# SPDX-License-Identifier: GPL-2.0-or-later
"""Real equipment as a topology file describes it: ports of the outside world, and segments that a real network replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from contracts.addresses import Addresses, Interface
from contracts.name import Name
from contracts.plan import GivenKind, MacvlanMode
from testbed.description.section import NodeSection, Section
from testbed.description.yaml_source import Location

#: The port of a piece of equipment that has one.
ONLY_PORT = "port"

#: A station beyond which is what is not on this machine.
OUTSIDE = "outside"


def check_host_interface(name: str) -> str:
    """The name of an interface as the kernel allows it (dev_valid_name). Raises ValueError."""
    if not re.fullmatch(r"[^\s/:]{1,15}", name) or name in (".", ".."):
        raise ValueError(f"{name!r} is not the name of an interface; `ip link` shows those of a machine, like eth2 or enp3s0")
    if name == "lo":
        raise ValueError("lo is the loopback interface, which leads nowhere; name the one that the equipment is plugged into")
    return name


HostInterface = Annotated[str, AfterValidator(check_host_interface)]


class Vlan(Section):
    """A VLAN of an interface of this machine: what carries its tag there."""

    of: HostInterface = Field(description="The interface of this machine; it stays where it is.")
    id: int = Field(ge=1, le=4094, description="The VLAN's number (IEEE 802.1Q).")


class Macvlan(Section):
    """An interface with a MAC address of its own on an interface of this machine, which goes on being used."""

    of: HostInterface = Field(description="The interface of this machine; it stays where it is.")
    mode: MacvlanMode = Field("bridge", description="Whether macvlans of one interface reach each other (macvlan of `ip link`).")


class EquipmentPort(Section):
    """One port of equipment that has several."""

    nic: HostInterface | None = Field(None, description="An interface of this machine, moved whole into the node's network.")
    vlan: Vlan | None = Field(None, description="A VLAN of one.")
    macvlan: Macvlan | None = Field(None, description="A macvlan of one.")
    tap: HostInterface | None = Field(None, description="A tap that is made for a virtual machine, of that name.")
    user: str | None = Field(None, description="With `tap`: who may open it; root alone by default.")
    address: Addresses | None = Field(
        None, description="What the equipment itself has on this segment, so that the file can be checked; nothing is set by it."
    )

    @model_validator(mode="before")
    @classmethod
    def _leaves_use_to_people(cls, port: object) -> object:
        """An older version had a key for it."""
        if isinstance(port, dict) and "take_addresses" in port:
            raise ValueError(
                "whether a nic that is in use may be taken is said on the command line, by its name: --take eth2; "
                "leave take_addresses out"
            )
        return port

    def kind(self) -> GivenKind:
        """Which of the four it is."""
        return next(kind for kind in get_args(GivenKind) if getattr(self, kind) is not None)

    def device(self) -> str:
        """The interface of this machine: the one that is moved, the one that another is made on, or the tap."""
        return self.nic or self.tap or (self.vlan.of if self.vlan else self.macvlan.of if self.macvlan else "")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if sum(getattr(self, kind) is not None for kind in get_args(GivenKind)) != 1:
            yield (), "a port is one of nic, vlan, macvlan and tap; write {nic: eth2} or {tap: vm1}"
        if self.user is not None and self.tap is None:
            yield (), "only a tap has a user; leave user out"


class Equipment(EquipmentPort, NodeSection):
    """Something real, or a virtual machine, at a port of this machine; or a real network with several `ports`."""

    KIND: ClassVar = "piece of equipment"
    PORT: ClassVar[Literal["port"]] = "port"
    PASSES: ClassVar[Literal["frames"]] = "frames"

    port_list: dict[Name, EquipmentPort] = Field(
        {}, alias="ports", description="Instead: several ports by name, between which the equipment passes Ethernet frames."
    )

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if not self.port_list:
            yield from super()._wrong()
        elif self.model_fields_set - {"port_list", "host"}:
            yield (), "equipment with ports says at each of them what it is; leave nothing but host beside ports"

    def outside(self) -> dict[str, EquipmentPort]:
        """Its ports by name."""
        return dict(self.port_list) or {ONLY_PORT: self}

    def ports(self) -> dict[str, tuple[Interface, ...]]:
        return {name: port.address or () for name, port in self.outside().items()}

    def place(self, port: str) -> Location:
        return (*super().place(port), "address") if self.port_list else ("address",)

    def needs_interface(self) -> str:
        return "which is reached by an interface of the kernel"


#: What the stations of a replaced netbox are.
Replacement = dict[Name, EquipmentPort | Literal["outside"]]
