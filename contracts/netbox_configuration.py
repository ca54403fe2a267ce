# SPDX-License-Identifier: GPL-2.0-or-later
"""netbox.json, what a netbox is told when it starts (docs/architecture.md, "Netbox process"): a file of its node in the plan."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts.plan import NodePlan
from contracts.shapes import OtherShape, shaped

CONFIGURATION_FILE: Final = "netbox.json"

#: What only its technology knows the keys of; values are in base units.
Parameters = dict[str, Any]


class PortConfiguration(TypedDict):
    """How a station reaches its wire: an interface of its node, or a wire in shared memory."""

    kind: Literal["packet", "xdp", "memory"]
    interface: NotRequired[str]
    #: Of "xdp": whether a packet socket will do.
    fallback: NotRequired[bool]
    #: Of "memory": its folder.
    wire: NotRequired[str]
    end: NotRequired[Literal["left", "right"]]
    mtu: NotRequired[int]


class StationConfiguration(TypedDict):
    name: str
    port: PortConfiguration


class RealtimeConfiguration(TypedDict):
    #: The most by which anything may be late.
    limit_us: float
    #: What is done about more: it is marked, or ends the netbox.
    policy: Literal["mark", "abort"]
    #: Of SCHED_FIFO; 0: none.
    priority: int
    spin_us: float
    timer_slack_ns: int
    #: CPU time that the kernel grants the real-time threads of a core in each period; null: all.
    runtime_us: int | None
    period_us: int
    #: Of a second thread.
    io_core: NotRequired[int]


class Limit(TypedDict, total=False):
    """Of a number, inclusive, in its base unit; empty for what is something else."""

    minimum: float
    maximum: float
    unit: str


class LiveLimits(TypedDict):
    """What can be changed while the netbox runs, by the name of a parameter: of the segment, and of each of its stations."""

    segment: dict[str, Limit]
    stations: dict[str, Limit]


class NetboxConfiguration(TypedDict):
    name: str
    technology: str
    seed: int
    clock: Literal["real"]
    #: In the order of their numbers in frame records.
    stations: list[StationConfiguration]
    #: Rules by which frames are told apart.
    classes: list[Parameters]
    parameters: Parameters
    live: LiveLimits
    realtime: RealtimeConfiguration
    #: Paths as the node sees them.
    control: str
    #: Null: none are kept.
    records: str | None
    statistics: str
    journal: str


def netbox_configuration(node: NodePlan) -> NetboxConfiguration:
    """What the node's netbox is told. Raises OtherShape."""
    try:
        return shaped(json.loads(node.files[CONFIGURATION_FILE]), NetboxConfiguration)
    except OtherShape as error:
        raise OtherShape(f"{CONFIGURATION_FILE}: {error}") from None
    except (KeyError, ValueError, RecursionError):
        raise OtherShape(f"{CONFIGURATION_FILE}: is missing, or not JSON") from None
