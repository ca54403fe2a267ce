# SPDX-License-Identifier: GPL-2.0-or-later
"""A library of drills: what goes wrong in the field, as changes one after another, and what puts everything back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field

from contracts.changes import ParameterChange, PowerChange, Sequence, StallChange, Step
from contracts.errors import listed
from contracts.name import Name
from contracts.quantities import GAIN, TIME, Quantity
from testbed.description.scene import NotThere, Scene
from testbed.description.section import Section
from testbed.description.wire_ends import TwoEnds

_Pause = Annotated[float, Quantity(TIME, 0.05, 86_400.0)]
_Ramp = Annotated[float, Quantity(TIME, 0.0, 3600.0)]

#: A fade changes in steps of so many dB, but not more often than this: a modem measures its signal about as often.
_STEP_DB: Final = 0.5
_STEP_S: Final = 0.1


class Drill(Section):
    """Its fields are its options."""

    NAME: ClassVar[str]

    @abstractmethod
    def sequence(self, scene: Scene) -> Sequence:
        """What is done in this network. Raises NotThere when it has not what the drill is about, or several of it."""


class SatelliteFade(Drill):
    """Rain fades a satellite link: the signal sinks, stays low, and comes back."""

    NAME = "satellite-fade"

    netbox: Name | None = Field(None, description="Which; by default the only satellite netbox.")
    depth: Annotated[float, Quantity(GAIN, 0.1, 100.0)] = Field(12.0, description="Of the fade, on the ways up and down.")
    ramp: _Ramp = Field(10.0, description="From clear sky to the whole depth, and back.")
    hold: _Pause = Field(10.0, description="At the whole depth.")

    def sequence(self, scene: Scene) -> Sequence:
        satellites = [name for name, netbox in scene.netboxes.items() if netbox.of == "satellite"]
        netbox = self.netbox or _only(satellites, "satellite netbox", "netbox")
        found = scene.netbox(netbox)
        if netbox not in satellites:
            raise NotThere(
                "netbox", f"{netbox} is no satellite link", f"use {listed(satellites)}" if satellites else "there is none"
            )
        before = float(found.values["fade"])
        count = max(1, min(round(self.depth / _STEP_DB), int(self.ramp / _STEP_S)))
        rise = [(self.ramp * step / count, before + self.depth * step / count) for step in range(1, count + 1)]
        down = [(after + self.ramp + self.hold, before + self.depth - (value - before)) for after, value in rise]
        steps = [Step(after, _fade(netbox, min(value, 100.0))) for after, value in (*rise, *down)]
        return Sequence(tuple(steps), (_fade(netbox, before),))


class MeocReboot(Drill):
    """A router loses its power and comes back: its wires have no carrier meanwhile, and what it had learnt is gone."""

    NAME = "meoc-reboot"

    node: Name | None = Field(None, description="Which; by default the router meoc, or the only one.")
    away: _Pause = Field(10.0, description="Without power; starting comes on top.")

    def sequence(self, scene: Scene) -> Sequence:
        routers = ["meoc"] if "meoc" in scene.routers else [*scene.routers]
        node = self.node or _only(routers, "router", "node")
        return reboot(scene, node, self.away)


class NetboxReboot(Drill):
    """A segment loses its power and comes back: frames inside are lost, stations associate anew, and its time begins anew."""

    NAME = "netbox-reboot"

    netbox: Name | None = Field(None, description="Which; by default the only one.")
    away: _Pause = Field(5.0, description="Without power; starting comes on top.")

    def sequence(self, scene: Scene) -> Sequence:
        netbox = self.netbox or _only(scene.netboxes, "netbox", "netbox")
        scene.netbox(netbox)
        return reboot(scene, netbox, self.away)


class EmulatorStall(Drill):
    """A netbox gets no time to compute, as on a host that is too busy: frames wait, and are late or dropped at its ports."""

    NAME = "emulator-stall"

    netbox: Name | None = Field(None, description="Which; by default the only one.")
    stall: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(0.3, description="How long each time.")
    times: int = Field(1, ge=1, le=1000, description="How often.")
    pause: _Pause = Field(1.0, description="Between the end of one and the next.")

    def sequence(self, scene: Scene) -> Sequence:
        netbox = self.netbox or _only(scene.netboxes, "netbox", "netbox")
        scene.netbox(netbox)
        change = StallChange(netbox, self.stall)
        return Sequence(tuple(Step(number * (self.stall + self.pause), change) for number in range(self.times)))


class LinkFlap(Drill):
    """A wire with a loose contact: its ends lose their carrier and find it again."""

    NAME = "link-flap"

    wire: TwoEnds | None = Field(None, description="Which, as fr1--field.responder; by default the only veth wire.")
    times: int = Field(3, ge=1, le=1000, description="How often.")
    down: _Pause = Field(1.0, description="Without a carrier, each time.")
    up: _Pause = Field(1.0, description="With one, between.")

    def sequence(self, scene: Scene) -> Sequence:
        veths = {wire.name: wire for wire in scene.wires if not wire.memory}
        wire = scene.wire_between(*self.wire) if self.wire else veths[_only(veths, "veth wire", "wire")]
        down, up = scene.switched(wire, "down"), scene.switched(wire, "up")
        period = self.down + self.up
        steps = [
            step for number in range(self.times) for step in (Step(number * period, down), Step(number * period + self.down, up))
        ]
        return Sequence(tuple(steps), (up,))


DRILLS: Final[Mapping[str, type[Drill]]] = {
    kind.NAME: kind for kind in (SatelliteFade, MeocReboot, NetboxReboot, EmulatorStall, LinkFlap)
}


def reboot(scene: Scene, node: str, away_s: float) -> Sequence:
    scene.power(node)
    on = PowerChange(node, "on")
    return Sequence((Step(0.0, PowerChange(node, "off")), Step(away_s, on)), (on,))


def _fade(netbox: str, value: float) -> ParameterChange:
    rounded = round(value, 3)
    return ParameterChange(netbox, "fade", rounded, GAIN.write(rounded))


def _only(names: Collection[str], what: str, key: str) -> str:
    """The one that is meant where nothing is said."""
    if len(names) == 1:
        return next(iter(names))
    if not names:
        raise NotThere(key, f"the network has no {what}", "this drill is not for it")
    raise NotThere(key, f"the network has several of what the drill is about ({what})", f"say {key}: {listed(list(names))}")
