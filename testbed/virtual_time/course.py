# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a plan as `virtual-network` reads them (netboxes/network/README.md), and which of them it made, and when."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from contracts.changes import (
    Change,
    Condition,
    ConfigurationChange,
    EventPlan,
    FreezeChange,
    HandlerWrite,
    ManagedLinkChange,
    ParameterChange,
    PowerChange,
    StagesChange,
    WireChange,
)
from contracts.management import parts
from contracts.plan import Plan
from contracts.run_files import DamagedRun
from system import node_files
from testbed.nodes import management

#: Of the program, in its folder.
MADE_FILE: Final = "made.jsonl"

_Json = dict[str, Any]


def course(plan: Plan, folder: Path) -> _Json:
    """The keys of network.json. What labs alone can do was refused before."""
    conditions = [event.when for event in plan.events if event.when is not None]
    numbers = {condition: number for number, condition in enumerate(dict.fromkeys(conditions))}
    return {
        "events": [
            {"at_s": event.at_s, "when": None if event.when is None else numbers[event.when], **_change(plan, event.change)}
            for event in plan.events
        ],
        "conditions": [_condition(plan, condition) for condition in numbers],
        "made": str(folder / MADE_FILE),
    }


def _change(plan: Plan, change: Change) -> _Json:
    match change:
        case ParameterChange():
            return {"netbox": change.netbox, "parameter": change.parameter, "value": change.value}
        case HandlerWrite():
            element, _, handler = change.handler.rpartition(".")
            return {"router": change.router, "element": element or None, "handler": handler, "value": change.value or None}
        case ConfigurationChange():
            return {"router": change.router, "configuration": change.text}
        case StagesChange():
            return {"router": change.router, "interface": change.interface, "stages": change.value}
        case WireChange():
            return {"wire": [wire.name for wire in plan.wires].index(change.wire), "up": change.state == "up"}
        case PowerChange():
            return {"node": change.node, "power": change.power == "on"}
        case ManagedLinkChange():
            return {"netbox": change.host, "parameter": _managed_parameter(plan, change), "value": change.value}
        case FreezeChange():
            raise ValueError(f"{change.words()}: refused in virtual time")


def _managed_parameter(plan: Plan, change: ManagedLinkChange) -> str:
    """As the host's netbox of endpoints calls it: its only allocator's `capacity`, or the access by the interface to the link."""
    if change.parameter == "rate":
        return "capacity"
    node = plan.node(change.host)
    (part,) = [part for part in parts(node) if part["name"] == change.link]
    return f"{management.interface_towards(node, ip_address(part['allocator']))}.access"


def _condition(plan: Plan, condition: Condition) -> _Json:
    after = [number for number, event in enumerate(plan.events) if condition.event and event.event == condition.event]
    return {
        "words": condition.words(),
        "netbox": condition.netbox,
        "station": condition.station,
        "happens": condition.happens,
        "silent_s": condition.silent_s,
        "after": after,
        "within_s": condition.within_s,
    }


def made(plan: Plan, folder: Path) -> Iterator[tuple[float, EventPlan]]:
    """The events that were made, in order, each with its time. Raises DamagedRun: a stranger's configuration may write there."""
    file = folder / MADE_FILE
    try:
        lines = node_files.read(file).splitlines()
        read = [json.loads(line) for line in lines if line]
        for number, at_s in read:
            if not (isinstance(number, int) and 0 <= number < len(plan.events) and isinstance(at_s, int | float)):
                raise ValueError(f"{number} at {at_s} is no event of the run")
            yield float(at_s), plan.events[number]
    except FileNotFoundError:
        return
    except (ValueError, TypeError, RecursionError, node_files.NodeFileInTheWay) as error:
        raise DamagedRun(file, str(error)) from None
