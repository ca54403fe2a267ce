# SPDX-License-Identifier: GPL-2.0-or-later
"""A library of drills: what goes wrong in the field, as changes one after another, and what puts everything back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, ClassVar, Final

from pydantic import Field

from contracts.changes import FreezeChange, PowerChange, Sequence, Step
from contracts.errors import listed
from contracts.name import Name
from contracts.plugins import BadPlugin, OursFirst
from contracts.quantities import TIME, Quantity
from netboxes.drill import NetboxDrill, netbox_drills
from testbed.description.section import Section
from testbed.description.targets import NotThere, Targets
from testbed.description.wire_ends import TwoEnds

_Pause = Annotated[float, Quantity(TIME, 0.05, 86_400.0)]


class Drill(Section):
    """Its fields are its options."""

    NAME: ClassVar[str]

    @abstractmethod
    def sequence(self, targets: Targets) -> Sequence:
        """What is done in this network. Raises NotThere when it has not what the drill is about, or several of it."""


class RouterReboot(Drill):
    """A router loses its power and comes back: its wires have no carrier meanwhile, and what it had learnt is gone."""

    NAME = "router-reboot"

    node: Name | None = Field(None, description="Which; by default the only one.")
    away: _Pause = Field(10.0, description="Without power; starting comes on top.")

    def sequence(self, targets: Targets) -> Sequence:
        return reboot(targets, self.node or _only(targets.routers, "router", "node"), self.away)


class NetboxReboot(Drill):
    """A segment loses its power and comes back: frames inside are lost, stations associate anew, and its time begins anew."""

    NAME = "netbox-reboot"

    netbox: Name | None = Field(None, description="Which; by default the only one.")
    away: _Pause = Field(5.0, description="Without power; starting comes on top.")

    def sequence(self, targets: Targets) -> Sequence:
        return reboot(targets, _netbox(self.netbox, targets), self.away)


class EmulatorFreeze(Drill):
    """A netbox gets no time to compute, as on a host that is too busy: frames wait, and are late or dropped at its ports."""

    NAME = "emulator-freeze"

    netbox: Name | None = Field(None, description="Which; by default the only one.")
    freeze: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(0.3, description="How long each time.")
    times: int = Field(1, ge=1, le=1000, description="How often.")
    pause: _Pause = Field(1.0, description="Between the end of one and the next.")

    def sequence(self, targets: Targets) -> Sequence:
        change = FreezeChange(_netbox(self.netbox, targets), self.freeze)
        return Sequence(tuple(Step(number * (self.freeze + self.pause), change) for number in range(self.times)))


class LinkFlap(Drill):
    """A wire with a loose contact: its ends lose their carrier and find it again."""

    NAME = "link-flap"

    wire: TwoEnds | None = Field(None, description="Which, as fr1--field.responder; by default the only veth wire.")
    times: int = Field(3, ge=1, le=1000, description="How often.")
    down: _Pause = Field(1.0, description="Without a carrier, each time.")
    up: _Pause = Field(1.0, description="With one, between.")

    def sequence(self, targets: Targets) -> Sequence:
        veths = {wire.name: wire for wire in targets.wires if not wire.memory}
        wire = targets.wire_between(*self.wire) if self.wire else veths[_only(veths, "veth wire", "wire")]
        down, up = targets.switched(wire, "down"), targets.switched(wire, "up")
        starts = [number * (self.down + self.up) for number in range(self.times)]
        return Sequence(tuple(step for at in starts for step in (Step(at, down), Step(at + self.down, up))), (up,))


_OF_EVERY_NETWORK: Final = (RouterReboot, NetboxReboot, EmulatorFreeze, LinkFlap)


@cache
def all_drills() -> OursFirst[type[Drill] | type[NetboxDrill]]:
    """By name, those that technologies bring first. BadPlugin is raised when those of other packages are looked for."""
    of_technologies = netbox_drills()
    return OursFirst(_with_ours(of_technologies.ours), lambda: _with_ours(of_technologies))


def _with_ours(of_technologies: Mapping[str, tuple[str, type[NetboxDrill]]]) -> dict[str, type[Drill] | type[NetboxDrill]]:
    drills: dict[str, type[Drill] | type[NetboxDrill]] = {name: kind for name, (_, kind) in of_technologies.items()}
    for kind in _OF_EVERY_NETWORK:
        if (other := drills.setdefault(kind.NAME, kind)) is not kind:
            raise BadPlugin(
                f"{other.__module__} has a drill {kind.NAME}, and NetBoxIT has one of this name; repair or uninstall the package"
            )
    return drills


def sequence(drill: Drill | NetboxDrill, targets: Targets) -> Sequence:
    """What the drill does in this network. Raises NotThere when it has not what the drill is about, or several of it."""
    if isinstance(drill, Drill):
        return drill.sequence(targets)
    technology, _ = netbox_drills()[drill.NAME]
    there = [name for name, netbox in targets.netboxes.items() if netbox.of == technology]
    netbox = drill.netbox or _only(there, f"{technology} netbox", "netbox")
    target = targets.netbox(netbox)
    if netbox not in there:
        raise NotThere("netbox", f"{netbox} is no {technology} netbox", f"use {listed(there)}" if there else "there is none")
    return drill.sequence(netbox, target.values)


def reboot(targets: Targets, node: str, away_s: float) -> Sequence:
    targets.power(node)
    on = PowerChange(node, "on")
    return Sequence((Step(0.0, PowerChange(node, "off")), Step(away_s, on)), (on,))


def _netbox(name: str | None, targets: Targets) -> str:
    netbox = name or _only(targets.netboxes, "netbox", "netbox")
    targets.netbox(netbox)
    return netbox


def _only(names: Collection[str], what: str, key: str) -> str:
    """The name that is meant where the drill has none."""
    if len(names) == 1:
        return next(iter(names))
    if not names:
        raise NotThere(key, f"the network has no {what}", "this drill is not for it")
    raise NotThere(key, f"the network has several of what the drill is about ({what})", f"say {key}: {listed(list(names))}")
