# SPDX-License-Identifier: GPL-2.0-or-later
"""A node's part in the management of a link: what its program `c2ml` is told, and what it says (middleware/README.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, Self

from typing_extensions import TypedDict

from contracts.addresses import Address
from contracts.errors import printable
from contracts.installation import CHECKOUT
from contracts.management import TOLD, Part, parts
from contracts.node_status import PartStatus
from contracts.plan import NodePlan
from contracts.run_folder import JOURNAL_FILE
from contracts.shapes import OtherShape, parsed
from system import node_files
from system.rootfs import NODE_FOLDER
from testbed.nodes.host_program import Program

#: In the node's own folder. The program's log is `c2ml.log`.
STATE: Final = "management-state.json"
CONTROL: Final = "management.sock"
#: As `host_program.py` knows it.
NAME: Final = "c2ml"
#: Its words for what a change of a managed link sets.
PARAMETERS: Final[Mapping[Literal["rate", "access"], str]] = {"rate": "capacity_bps", "access": "access_bps"}
#: It changes the queue of the host's interface.
CAPABILITIES: Final = ("net_admin",)


class _Told(TypedDict):
    management: list[Part]
    state: str
    control: str
    journal: str


def program() -> Program:
    """It is started again whenever it ends: members then join again, and an allocator asks what its members hold."""
    return Program(f"exec {CHECKOUT}/build/bin/{NAME} {TOLD}", "always")


def files(part: Part, journal: str = JOURNAL_FILE) -> dict[str, str]:
    """What is in the node's own folder. `journal`: the node's, or a file that the program which writes it takes into it."""
    told: _Told = {
        "management": [part],
        "state": f"{NODE_FOLDER}/{STATE}",
        "control": f"{NODE_FOLDER}/{CONTROL}",
        "journal": f"{NODE_FOLDER}/{journal}",
    }
    return {TOLD: json.dumps(told, indent=1) + "\n"}


def interface_towards(node: NodePlan, allocator: Address) -> str:
    """The interface of a member's node by which it reaches the allocator: in one network with it, or by its gateway."""
    networks = {ip_interface(address).network: own.name for own in node.interfaces for address in own.addresses}
    hops = [allocator, *(ip_address(route.gateway) for route in node.routes)]
    return next(name for hop in hops if hop.version == allocator.version for network, name in networks.items() if hop in network)


def in_virtual_time(node: NodePlan) -> list[dict[str, Any]]:
    """The same for a host of netboxes/endpoints: its TCP keeps to the budget itself, and no allocator has run before."""
    return [_in_virtual_time(part) for part in parts(node)]


def _in_virtual_time(part: Part) -> dict[str, Any]:
    if part["role"] == "allocator":
        return {**part, "recovers": False}
    return {**part, "enforcement": "window" if part.get("enforcement") == "shaper" else "none"}


class _Shaper(TypedDict):
    error: str | None


class _Group(TypedDict):
    """Of announcements."""

    error: str | None


class _State(TypedDict):
    """Of a part, as the program writes it; further keys are its own."""

    name: str
    role: Literal["allocator", "member"]
    capacity: NotRequired[int]
    #: By a netbox: of an allocator what it divides, of a member its access; null before.
    told: NotRequired[int | None]
    share: NotRequired[int]
    members: NotRequired[int]
    state: NotRequired[Literal["out", "joining", "member", "leaving"]]
    budget: NotRequired[int | None]
    reachable: NotRequired[bool]
    shaper: NotRequired[_Shaper]
    group: NotRequired[_Group]


class _Said(TypedDict):
    management: list[_State]


#: Of what a host says in its own words.
_LONGEST_WORDS: Final = 300


@dataclass(frozen=True)
class PartState:
    """How a host does in the management of a link, which its other programs may have changed."""

    said: _State

    @classmethod
    def read(cls, folder: Path) -> list[Self] | None:
        """From a node's own folder; None where nothing of that kind is there."""
        try:
            return [cls(part) for part in parsed(node_files.read(folder / STATE), _Said)["management"]]
        except (OSError, node_files.NodeFileInTheWay, OtherShape):
            return None

    def status(self) -> PartStatus:
        said = self.said
        return {
            "name": printable(said["name"]),
            "role": said["role"],
            "capacity": said.get("capacity"),
            "share": said.get("share"),
            "members": said.get("members"),
            "state": said.get("state"),
            "budget": said.get("budget"),
            "reachable": said.get("reachable"),
            "unenforced": self._unenforced(),
        }

    def words(self) -> str | None:
        """What its user should know; None where it does what it is to do."""
        name = printable(self.said["name"])
        if self.said["role"] == "member" and not self.said.get("reachable", True):
            return f"it hears no allocator of the managed link {name}"
        if self.said["role"] == "allocator" and self.said.get("told", 0) is None:
            return f"no netbox has told it yet what to divide, so the managed link {name} has no budgets"
        if (unenforced := self._unenforced()) is not None:
            return f"its budget of the managed link {name} is not enforced: {unenforced}"
        if (error := self.said.get("group", _Group(error=None))["error"]) is not None:
            return f"announcements of the managed link {name} do not reach it, and budgets change late: {_short(error)}"
        return None

    def _unenforced(self) -> str | None:
        error = self.said.get("shaper", _Shaper(error=None))["error"]
        return None if error is None else _short(error)


def _short(words: str) -> str:
    return printable(words)[:_LONGEST_WORDS]
