# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be changed in a running lab, as data: by an event of the topology, by a drill, or by somebody at a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from contracts.quantities import TIME

WireState = Literal["up", "down"]


@dataclass(frozen=True)
class ParameterChange:
    """A live parameter of a netbox, or of one of its stations ("responder.position"), and its new value in base units."""

    netbox: str
    parameter: str
    value: Any
    #: The value as a person writes it.
    written: str
    kind: Literal["parameter"] = "parameter"

    def words(self) -> str:
        return f"{self.netbox}: {self.parameter} {self.written}"


@dataclass(frozen=True)
class WireChange:
    """A veth wire that goes down or comes back, by the interface of the node at one of its ends."""

    wire: str
    state: WireState
    node: str
    interface: str
    kind: Literal["wire"] = "wire"

    def words(self) -> str:
        return f"wire {self.wire} {self.state}"


@dataclass(frozen=True)
class PowerChange:
    """A node that loses its power, or gets it back and starts anew; its veth wires have no carrier meanwhile."""

    node: str
    power: Literal["off", "on"]
    kind: Literal["power"] = "power"

    def words(self) -> str:
        return f"{self.node}: power {self.power}"


@dataclass(frozen=True)
class FreezeChange:
    """A netbox that gets no time to compute for a while, as on a host that is too busy."""

    netbox: str
    for_s: float
    kind: Literal["freeze"] = "freeze"

    def words(self) -> str:
        return f"{self.netbox}: frozen for {TIME.write(self.for_s)}"


@dataclass(frozen=True)
class ConfigurationChange:
    """Another configuration for a Click router: the file that it came from, and its text."""

    router: str
    file: str
    text: str
    kind: Literal["configuration"] = "configuration"

    def words(self) -> str:
        return f"{self.router}: configuration {self.file}"


@dataclass(frozen=True)
class HandlerWrite:
    """A handler of a Click router, and what is written to it."""

    router: str
    handler: str
    value: str
    kind: Literal["handler"] = "handler"

    def words(self) -> str:
        return f"{self.router}: {self.handler} {self.value}".rstrip()


@dataclass(frozen=True)
class StagesChange:
    """Other stages for an interface of a Click router ("lan.stages"), in base units."""

    router: str
    parameter: str
    value: list[dict[str, Any]]
    #: The stages as a person writes them.
    written: str
    kind: Literal["stages"] = "stages"

    @property
    def interface(self) -> str:
        return self.parameter.rpartition(".")[0]

    def words(self) -> str:
        return f"{self.router}: {self.parameter} {self.written}"


@dataclass(frozen=True)
class ManagedLinkChange:
    """A rate of a managed link: what its allocator divides, or the access of a member; bit/s. `host` is whose it is."""

    link: str
    host: str
    parameter: Literal["rate", "access"]
    value: int
    #: The rate as a person writes it.
    written: str
    kind: Literal["managed_link"] = "managed_link"

    def words(self) -> str:
        return f"{self.link}: {'rate' if self.parameter == 'rate' else f'access of {self.host}'} {self.written}"


Change = (
    ParameterChange
    | WireChange
    | PowerChange
    | FreezeChange
    | ConfigurationChange
    | HandlerWrite
    | StagesChange
    | ManagedLinkChange
)


#: What of a node is set while it runs, by name.
LiveChange = ParameterChange | StagesChange


@dataclass(frozen=True)
class Step:
    """A change, and how long after the first one of its sequence it is made."""

    after_s: float
    change: Change


@dataclass(frozen=True)
class Sequence:
    """Changes one after another, and what puts back all that they leave changed, wherever they are interrupted."""

    steps: tuple[Step, ...]
    undo: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Condition:
    """When something is so.

    A netbox announces it (docs/architecture.md, "Journal"), nothing leaves by one of its ports for a while, or another event of
    the file is over.
    """

    #: Of the event in the file, so that the changes of one event wait together.
    number: int
    netbox: str | None = None
    station: str | None = None
    happens: str | None = None
    silent_s: float | None = None
    event: str | None = None
    #: Not later than this, since the network's time began.
    within_s: float | None = None

    def words(self) -> str:
        if self.event is not None:
            return f"after {self.event}"
        place = f"{self.netbox}.{self.station}" if self.station else f"{self.netbox}"
        if self.silent_s is not None:
            return f"when nothing leaves by {place} for {TIME.write(self.silent_s)}"
        return f"when {place} says {self.happens}"


@dataclass(frozen=True)
class EventPlan:
    """A change, and when it is made: seconds since the network's time began, or since a condition came true."""

    at_s: float
    change: Change
    when: Condition | None = None
    #: The name of the event that it belongs to, where another one waits for that.
    event: str = ""
