# SPDX-License-Identifier: GPL-2.0-or-later
"""A router as a topology file describes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, ValidationInfo

from contracts.addresses import Addresses, Gateways, Interface
from contracts.files import find_file
from contracts.name import Name
from contracts.quantities import RATE, TIME, Quantity
from netboxes.stages.stage import NETBOX, Stages
from testbed.description.input_errors import nearest
from testbed.description.section import ContainerSection, Section
from testbed.description.yaml_source import Location

#: Of a stage that is to follow the rate of a netbox.
FOLLOWS_NOTHING: Final = "a Click router does not know what its link carries; say a rate"

_Seconds = Annotated[float, Quantity(TIME, 1.0, 65535.0)]


def _find(text: Any, info: ValidationInfo) -> Path:
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError("a configuration is a file; write its path, like click/meoc.click")
    return find_file(text, info.context)


ConfigurationFile = Annotated[Path, BeforeValidator(_find)]


class Bfd(Section):
    """Bidirectional forwarding detection (RFC 5880): a neighbour that is silent so often and so long is gone."""

    interval: Annotated[float, Quantity(TIME, 10e-3, 60.0)] = Field(300e-3, description="Between its packets, each way.")
    multiplier: int = Field(3, ge=2, le=255, description="Packets that may be missing.")


class Ospf(Section):
    """OSPF version 2 (RFC 2328) in one area: routers tell each other their networks, and go round what fails."""

    hello: _Seconds = Field(1.0, multiple_of=1.0, description="Between hello packets; whole seconds.")
    dead: _Seconds = Field(4.0, multiple_of=1.0, description="A neighbour that is silent for so long is gone; whole seconds.")
    costs: dict[Name, Annotated[int, Field(ge=1, le=65535)] | Literal["netbox"]] = Field(
        {},
        description="Of leaving by an interface, by its name; 10 where none is given. The path with the least sum is taken. "
        "`netbox`: `reference` by the rate that the netbox there tells, with [telemetry](#telemetry).",
    )
    reference: Annotated[float, Quantity(RATE, 1e3, 1e12)] = Field(
        100e6, description="Of costs that follow a netbox: the rate whose cost is 1; a link that is down has 65535."
    )
    bfd: Bfd | None = Field(None, description="Detect failures sooner; `bfd: {}` with its defaults.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.dead <= self.hello:
            yield (), "`dead` must be longer than `hello`: it counts hello packets that are missing (RFC 2328, 9.5)"


class Router(ContainerSection):
    """An IP router in a container of its own."""

    KIND: ClassVar = "router"
    PASSES: ClassVar = "packets"

    engine: Literal["click", "linux"] = Field(
        "click", description="What routes: a Click configuration, or the kernel, with FRRouting where there is something for it."
    )
    configuration: ConfigurationFile | None = Field(
        None, description="Of Click (needed), or of FRRouting; beside the topology file or in the checkout."
    )
    variables: dict[Annotated[str, Field(pattern="^[A-Z][A-Z0-9_]*$")], str | int | float] = Field(
        {}, description="Of a Click configuration: what it takes besides its interfaces, as `RATE: 1900kbps`."
    )
    interfaces: dict[Name, Addresses] = Field(min_length=1, description="Name of each interface, and its address or addresses.")
    stages: dict[Name, Stages] = Field(
        {},
        description="Engine click: by interface, [stages](#stages) that its frames pass, in the order in which those towards the "
        "router do. Live, as `INTERFACE.stages`.",
    )
    gateway: Gateways = Field((), description="Engine linux: router for all networks that no other route leads to.")
    ospf: Ospf | None = Field(None, description="Engine linux: learn and tell routes by OSPF; IPv4.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.engine == "click":
            if self.configuration is None:
                yield (), "a Click router needs a configuration; write configuration: click/meoc.click, or engine: linux"
            yield from (
                ((key,), "only a router with engine: linux has this") for key in ("gateway", "ospf") if getattr(self, key)
            )
            prefixes = [name.upper().replace("-", "_") for name in self.interfaces]
            for name in self.stages.keys() - self.interfaces.keys():
                yield ("stages", name), f'the router has no interface "{name}"; {nearest(name, self.interfaces)}'
            for name, stages in self.stages.items():
                for index in (index for index, stage in enumerate(stages) if stage.rate == NETBOX):
                    yield ("stages", name, index, "rate"), FOLLOWS_NOTHING
            own = {f"{prefix}_{what}" for prefix in prefixes for what in ("DEV", "IP", "ETH", "NET")} & {*self.variables}
            yield from ((("variables", name), "this is told by the interfaces; leave it out") for name in own)
        elif self.variables or self.stages:
            yield from (((key,), f"only a Click router has {key}") for key in ("variables", "stages") if getattr(self, key))
        elif self.ospf:
            yield from self._wrong_in_ospf(self.ospf)

    def ports(self) -> dict[str, tuple[Interface, ...]]:
        return self.interfaces

    def needs_interface(self) -> str | None:
        return "whose kernel routes between interfaces" if self.engine == "linux" else None

    def _wrong_in_ospf(self, ospf: Ospf) -> Iterator[tuple[Location, str]]:
        if self.configuration is not None:
            yield ("ospf",), "the configuration of FRRouting says this already; keep one of them"
        if not any(address.version == 4 for addresses in self.interfaces.values() for address in addresses):
            yield ("ospf",), "OSPF version 2 is for IPv4, and the router has no IPv4 address"
        for name in ospf.costs.keys() - self.interfaces.keys():
            yield ("ospf", "costs", name), f'the router has no interface "{name}"; {nearest(name, self.interfaces)}'
