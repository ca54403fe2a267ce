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
    """What a value may be, in one of the forms below; without any of them, whatever its segment takes."""

    #: Null, too. In a mapping such a key may be left out.
    optional: bool
    #: A number: both inclusive, in its base unit.
    minimum: float
    maximum: float
    unit: str
    whole: bool
    #: true or false.
    truth: bool
    #: One of these texts.
    words: list[str]
    #: A mapping with these keys.
    keys: dict[str, Limit]
    #: Further keys of such a mapping: by one of its keys that is a word, and by that word.
    cases: dict[str, dict[str, dict[str, Limit]]]
    #: A list of values that are alike, of `fewest` or more.
    items: Limit
    fewest: int
    #: A list of exactly these.
    parts: list[Limit]


class ParameterLimit(Limit, total=False):
    """Of a whole parameter. `optional` holds when the netbox starts: null is then "as something else says"."""

    #: While the netbox runs the parameter can become null.
    removable: bool
    #: It cannot be changed while the netbox runs.
    fixed: bool


class LiveLimits(TypedDict):
    """By name the parameters that can be changed while the netbox runs, and those that hold a queue: of the segment, and of each
    of its stations. The netbox checks what it is told by them, when it starts and while it runs."""

    segment: dict[str, ParameterLimit]
    stations: dict[str, ParameterLimit]


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
    #: By station, of those that have any: what is between its port and the segment, in the order in which its node's packets
    #: pass.
    stages: NotRequired[dict[str, list[Parameters]]]
    #: Between the ports and the segment: its services, and what link they are on.
    link_layer: NotRequired[Parameters]
    #: The node at each port is told about its link.
    telemetry: NotRequired[bool]
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
