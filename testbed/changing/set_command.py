# SPDX-License-Identifier: GPL-2.0-or-later
"""What somebody says at a terminal shall change, in the words of the topology file's events: `netboxit set TARGET KEY=VALUE`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from contracts.changes import Sequence, Step
from system.user_privileges import as_user
from testbed.description import yaml_source
from testbed.description.drills import all_drills
from testbed.description.events import Action
from testbed.description.input_errors import InPart, nearest, told
from testbed.description.live import BadChange, parsed
from testbed.description.targets import Targets

#: What is said of a router or host, beside a Click router's handlers and stages.
_OF_NODES: Final = ("reboot", "configuration")


@as_user()
def change(targets: Targets, target: str, text: str, beside: Path | None = None) -> Sequence:
    """ "distance=2 km" of a netbox, "state=down" of a wire, "reboot=5 s" of a node, "lan.stages=[]" of a Click router,
    "rate=1 Mbit/s" of a managed link.

    Raises BadChange.

    Whoever may change a lab may name any file. It is looked for where the command is called, in `beside` (the folder of the
    lab's topology file) and in the checkout.
    """
    context = {"terminal": Path.cwd(), **({"folder": beside} if beside else {})}
    key, separator, value = (part.strip() for part in text.partition("="))
    if not separator:
        raise BadChange(f"{text!r}: write KEY=VALUE, say 'distance=2 km', state=down or 'reboot=5 s'")
    try:
        if target in targets.netboxes and key not in ("freeze", "reboot"):
            return _parameter(targets, target, text, context)
        if target in targets.netboxes and key == "freeze":
            return _sequence(targets, context, netbox=target, freeze=value)
        if key == "state":
            return _wire(targets, target, value)
        if target in targets.names():
            action: dict[str, Any] = {key: value} if key in _OF_NODES else {"write": {key: value}}
            if key.rpartition(".")[2] == "stages":
                action = {"set": {key: parsed(text)[1]}}
            return _sequence(targets, context, node=target, **action)
        if target in targets.managed_links:
            member, _, parameter = key.rpartition(".")
            return _sequence(
                targets, context, managed_link=target, **({"member": member} if member else {}), set={parameter: value}
            )
    except ValueError as error:
        raise BadChange(f"{target}: {error}") from error
    names = [*targets.names(), *targets.managed_links, *(wire.name for wire in targets.wires)]
    raise BadChange(f'there is no node "{target}"; {nearest(target, names)}')


@as_user()
def drill(targets: Targets, name: str, options: list[str]) -> Sequence:
    """A drill with options like "depth=10 dB". Raises BadChange."""
    if name not in all_drills():
        raise BadChange(f'there is no drill "{name}"; {nearest(name, all_drills())}')
    values = {}
    for option in options:
        key, separator, value = (part.strip() for part in option.partition("="))
        if not separator:
            raise BadChange(f"{option!r}: write OPTION=VALUE; `netboxit drill --list` tells the options of {name}")
        try:
            values[key] = yaml_source.value(value)
        except ValueError as error:
            raise BadChange(f"{key}: {error}") from error
    try:
        return _sequence(targets, {}, drill=name, **{"with": values})
    except ValueError as error:
        raise BadChange(f"{name}: {error}") from error


def _parameter(targets: Targets, netbox: str, text: str, context: Mapping[str, Path]) -> Sequence:
    target = targets.netboxes[netbox]
    parameter, value = parsed(text)
    station = parameter.rpartition(".")[0]
    if station and station not in target.stations:
        raise BadChange(f'{parameter}: netbox {netbox} has no station "{station}"; {nearest(station, target.stations)}')
    return Sequence((Step(0.0, target.live(netbox, parameter, value, context)),))


def _wire(targets: Targets, wire: str, state: str) -> Sequence:
    """By its two ends, or by one: each end has one wire."""
    if state not in ("up", "down"):
        raise ValueError(f'"{state}" is not a state; use up or down')
    return Sequence((Step(0.0, targets.switched(targets.wire_of(wire), "up" if state == "up" else "down")),))


def _sequence(targets: Targets, context: Mapping[str, Path], **action: Any) -> Sequence:
    try:
        return Action.model_validate(action, context=dict(context)).sequence(targets)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        part = detail.get("ctx", {}).get("error")
        if isinstance(part, InPart):
            detail = part.details[0]
            if detail["type"] == "extra_forbidden":
                raise ValueError(
                    f'there is no option "{detail["loc"][0]}"; {nearest(str(detail["loc"][0]), part.model.model_fields)}'
                ) from error
        place = f"{detail['loc'][-1]}: " if detail["loc"] else ""
        raise ValueError(f"{place}{told(detail)}") from error
