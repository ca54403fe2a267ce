# SPDX-License-Identifier: GPL-2.0-or-later
"""A host's part in the management of a link: what its program `c2ml` is told (middleware/README.md)."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts.installation import CHECKOUT
from contracts.plan import NodePlan
from contracts.shapes import parsed
from system.rootfs import NODE_FOLDER
from testbed.nodes.host_program import Program

#: In the host's own folder: what the program is told, and its state. Its log is `c2ml.log`.
TOLD: Final = "management.json"
STATE: Final = "management-state.json"
#: As `host_program.py` knows it.
NAME: Final = "c2ml"
#: It changes the queue of the host's interface.
CAPABILITIES: Final = ("net_admin",)


class Part(TypedDict):
    """A host's part in one link, as the middleware reads it; rates in bit/s."""

    name: str
    role: Literal["allocator", "member"]
    domain: int
    kind: Literal["unweighted", "dybra"]
    key: str | None
    capacity_bps: NotRequired[int]
    equations: NotRequired[Literal["corrected", "printed"]]
    recovers: NotRequired[bool]
    allocator: NotRequired[str]
    interface: NotRequired[str | None]
    threshold: NotRequired[float]
    access_bps: NotRequired[int | None]
    #: Its access is as the netbox at its interface tells.
    telemetry: NotRequired[bool]
    without_lease: NotRequired[Literal["unmanaged", "hold"]]
    enforcement: NotRequired[Literal["window", "shaper", "none"]]


class _Told(TypedDict):
    management: list[Part]
    state: str


def program() -> Program:
    """It is started again whenever it ends: members then join again, and an allocator asks what its members hold."""
    return Program(f"exec {CHECKOUT}/build/bin/{NAME} {TOLD}", "always")


def files(part: Part) -> dict[str, str]:
    """What is in the host's own folder."""
    told: _Told = {"management": [part], "state": f"{NODE_FOLDER}/{STATE}"}
    return {TOLD: json.dumps(told, indent=1) + "\n"}


def parts(node: NodePlan) -> list[Part]:
    """None, where a host has no part in anything."""
    return parsed(node.files[TOLD], _Told)["management"] if TOLD in node.files else []


def in_virtual_time(node: NodePlan) -> list[dict[str, Any]]:
    """The same for a host of netboxes/endpoints, whose TCP keeps to the budget itself."""
    return [{**part, "enforcement": "window"} if part.get("enforcement") == "shaper" else {**part} for part in parts(node)]
