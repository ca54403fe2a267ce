# SPDX-License-Identifier: GPL-2.0-or-later
"""What changes, as `events:` of a topology file and `netboxit set` say it in one vocabulary; and of events, when it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from contracts.changes import Change, Condition, ConfigurationChange, FreezeChange, HandlerWrite, Sequence, Step, WireState
from contracts.name import Name
from contracts.quantities import TIME, Quantity
from netboxes.drill import NetboxDrill
from testbed.description import drills
from testbed.description.drills import Drill, LinkFlap, all_drills, reboot
from testbed.description.input_errors import one_of, read_part
from testbed.description.router import ConfigurationFile
from testbed.description.section import Section
from testbed.description.targets import Targets
from testbed.description.wire_ends import TwoEnds
from testbed.description.yaml_source import Location

#: What is said of each subject, and how.
_SAYS = {
    "netbox": ("what it sets, or how long it is frozen", "write set: {parameter: value}, or freeze: 300 ms"),
    "wire": ("its state", "write state: down or state: up"),
    "node": (
        "how long it is rebooted, or of a Click router its configuration, what is written to its handlers or its "
        "interfaces' stages",
        "write reboot: 10 s, configuration: FILE, write: {handler: value} or set: {INTERFACE.stages: [{stage: …}]}",
    ),
    "drill": ("its options at most", "write with: {option: value}"),
    "managed_link": ("what it sets", "write set: {rate: 1 Mbit/s}, or member: HOST and set: {access: 500 kbit/s}"),
}
_VERBS = {
    "netbox": ("values", "freeze"),
    "wire": ("state",),
    "node": ("reboot", "configuration", "write", "values"),
    "drill": ("options",),
    "managed_link": ("values",),
}


def _check_drill(name: str) -> str:
    return one_of(name, all_drills(), "a drill")


class Action(Section):
    """A change of a netbox or of one of its stations, of a wire, of a node of any kind, of a managed link, or a drill."""

    netbox: Name | None = Field(None, description="The netbox that changes.")
    station: Name | None = Field(None, description="The station of it whose parameters change; without it those of the netbox.")
    values: dict[str, Any] | None = Field(
        None,
        alias="set",
        min_length=1,
        description="Live parameters and their new values, written as in the netbox itself; of a Click router "
        "`INTERFACE.stages`.",
    )
    freeze: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="The netbox gets no time to compute for so long, as on a host that is too busy."
    )
    wire: TwoEnds | None = Field(None, description="The wire that changes, as meoc.jan--backhaul.meoc.")
    state: WireState | None = Field(None, description="The wire is unplugged, or plugged in again.")
    node: Name | None = Field(None, description="The node that changes: a router, switch or host, or a netbox that is rebooted.")
    reboot: Annotated[float, Quantity(TIME, 0.05, 86_400.0)] | None = Field(
        None, description="It loses its power, and starts anew after so long."
    )
    configuration: ConfigurationFile | None = Field(
        None, description="Of a Click router: takes over from the one that runs; found as a router's `configuration`."
    )
    write: dict[str, str | int | float | bool] | None = Field(
        None, min_length=1, description="Of a Click router: handlers, and what is written to them."
    )
    drill: Annotated[str, AfterValidator(_check_drill)] | None = Field(
        None, description="A sequence of changes by its name; `netboxit drill --list` shows all."
    )
    options: Any = Field(None, alias="with", description="The drill's options.")
    managed_link: Name | None = Field(None, description="The managed link whose `rate` changes.")
    member: Name | None = Field(None, description="The member of it whose `access` changes instead.")

    @field_validator("options", mode="plain")
    @classmethod
    def _read_options(cls, options: Any, info: ValidationInfo) -> Drill | NetboxDrill | None:
        if options is None or (name := info.data.get("drill")) is None:
            return None
        return read_part(all_drills()[name], options, info.context)

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        subjects = [key for key in _SAYS if getattr(self, key) is not None]
        if len(subjects) != 1:
            yield (
                (),
                "an event is of one netbox, of one wire, of one node, of one managed link, or a drill; "
                "write netbox: … and set: …, or wire: a--b and state: down",
            )
        (subject,) = subjects
        every = dict.fromkeys(verb for verbs in _VERBS.values() for verb in verbs)
        verbs_given = [verb for verb in every if getattr(self, verb) is not None]
        wrong = [verb for verb in verbs_given if verb not in _VERBS[subject]]
        missing = not verbs_given and subject != "drill"
        has_station_of_netbox = self.netbox is not None and self.values is not None
        if wrong or missing or len(verbs_given) > 1 or (self.station is not None and not has_station_of_netbox):
            cause, remedy = _SAYS[subject]
            yield (), f"an event of a {subject.replace('_', ' ')} says {cause}; {remedy}"
        if self.member is not None and self.managed_link is None:
            yield ("member",), "members are of managed links; write managed_link: LINK"

    def wires(self) -> dict[Location, tuple[str, str]]:
        """Those that it names, each by its two ends, and where in it."""
        flapping = self.options.wire if isinstance(self.options, LinkFlap) else None
        return {place: ends for place, ends in ((("wire",), self.wire), (("with", "wire"), flapping)) if ends is not None}

    def nodes(self) -> set[str]:
        """Those that it names."""
        options = (getattr(self.options, key, None) for key in ("netbox", "node"))
        return {name for name in (self.netbox, self.node, self.member, *options) if name is not None}

    def parameter(self, key: str) -> str:
        """The name by which a netbox knows it: "distance", or "responder.position"."""
        return key if self.station is None else f"{self.station}.{key}"

    def sequence(self, targets: Targets, context: Mapping[str, Path] | None = None) -> Sequence:
        """The changes that it is in this network. Raises NotThere, and ValueError with cause and remedy for a wrong value."""
        if self.drill is not None:
            return drills.sequence(self.options or all_drills()[self.drill](), targets)
        if self.node is not None and self.reboot is not None:
            return reboot(targets, self.node, self.reboot)
        return Sequence(tuple(Step(0.0, change) for change in self._changes(targets, context)))

    def _changes(self, targets: Targets, context: Mapping[str, Path] | None) -> Iterator[Change]:
        if self.netbox is not None:
            netbox = targets.netbox(self.netbox)
            for key, written in (self.values or {}).items():
                yield netbox.live(self.netbox, self.parameter(key), written, context)
            if self.freeze is not None:
                yield FreezeChange(self.netbox, self.freeze)
        if self.managed_link is not None:
            for key, written in (self.values or {}).items():
                yield targets.managed_link(self.managed_link).live(self.managed_link, self.member, key, written)
        if self.wire is not None and self.state is not None:
            yield targets.switched(targets.wire_between(*self.wire), self.state)
        if self.node is not None:
            router = targets.click_router(self.node)
            for key, written in (self.values or {}).items():
                yield router.live(self.node, key, written)
            if self.configuration is not None:
                yield ConfigurationChange(self.node, str(self.configuration), _read(self.configuration))
            for handler, value in (self.write or {}).items():
                yield HandlerWrite(self.node, handler, str(value).lower() if isinstance(value, bool) else str(value))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"configuration {path} cannot be read: {error}; check the file") from None


_Time = Annotated[float, Quantity(TIME, 0.0, 86_400.0 * 365)]
_Duration = Annotated[float, Quantity(TIME, 0.1, 86_400.0 * 365)]


class When(Section):
    """Something that comes true: by what a netbox says of itself, or when another event is over."""

    netbox: Name | None = Field(None, description="Whose word it is.")
    station: Name | None = Field(None, description="Of which of its stations; of any by default.")
    happens: str | None = Field(
        None,
        pattern="^[a-z][a-z_]*$",
        description="What its journal says: link_down, link_up, handover, profile, and what its technology's page adds.",
    )
    silent: _Duration | None = Field(None, description="No frame has left by the station for so long.")
    event: Name | None = Field(None, description="Name of an event of the file: its last change was made.")
    within: _Duration | None = Field(
        None, description="The run fails when it has not come true so long after the network's time began."
    )

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        keys = [key for key in ("happens", "silent", "event") if getattr(self, key) is not None]
        if len(keys) != 1:
            yield (), "a condition is one thing; write happens: link_down, silent: 1 s or event: NAME"
        if (self.netbox is None) != (keys == ["event"]):
            yield (), "what happens or is silent is a netbox, or a station of it; write netbox: …"
        if self.silent is not None and self.station is None:
            yield (), "frames leave by a station; write station: …"
        if self.event is not None and self.station is not None:
            yield (), "an event has no station; leave it out"

    def condition(self, number: int) -> Condition:
        return Condition(number, self.netbox, self.station, self.happens, self.silent, self.event, self.within)


class Event(Action):
    """When something changes in a run, and what: one of `netbox`, `wire`, `node` and `drill`."""

    name: Name | None = Field(None, description="For `when: {event: …}` of another one.")
    at: _Time | None = Field(None, description="Since the network's time began.")
    when: When | None = Field(None, description="Instead of a time: when something has come true.")
    delay: _Time = Field(0.0, description="How much later than `when`.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        yield from super()._wrong()
        if (self.at is None) == (self.when is None):
            yield (), "an event has either a time or a condition; write at: 20 s, or when: {netbox: …, happens: …}"
        if self.delay and self.when is None:
            yield (), "only what waits for a condition has a delay; write it into at"
