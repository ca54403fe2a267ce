# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that a host or Linux router runs by itself (`start:` of a topology, and ours): what it is told, and says of them.

`host_node.py` runs them, as the node's command, or as FRRouting's companion in a router.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self, cast

from pydantic import Field

from contracts.errors import printable
from contracts.installation import CHECKOUT
from contracts.plan import NodePlan
from contracts.shapes import check, parsed
from system import node_files

Restart = Literal["never", "on-failure", "always"]

#: In the host's own folder: what is to be started, which the host's command line does not say, since who ends a program by its
#: words there (pkill -f) would end the host with it; what the lab makes when its network is ready, for which the programs wait.
TOLD: Final = "start.json"
GO: Final = "network-ready"
#: The user's program: its name, what `host_node.py` says of it, and what it prints.
OF_USER: Final = "program"
STATE: Final = f"{OF_USER}.json"
LOG: Final = f"{OF_USER}.log"

#: What the host runs.
COMMAND: Final = ("/usr/bin/python3", "-I", str(CHECKOUT / "testbed/nodes/host_node.py"))
#: A host's state is a few words; of its log the end is told, so much of it.
_LONGEST_STATE: Final = 1000
_LOG_LINES, _LOG_CHARACTERS = 3, 300


@dataclass(frozen=True)
class Program:
    """What a shell reads, and when it is started again."""

    line: str
    restart: Restart


def files(programs: Mapping[str, Program]) -> dict[str, str]:
    """What is in the host's own folder; `programs` by their names."""
    return {TOLD: json.dumps({name: asdict(program) for name, program in programs.items()}, indent=1) + "\n"}


def programs(node: NodePlan) -> Mapping[str, Program]:
    """By their names."""
    if TOLD not in node.files:
        return {}
    told = parsed(node.files[TOLD], dict[str, dict[Literal["line", "restart"], str]])
    return {name: Program(program["line"], cast(Restart, program["restart"])) for name, program in told.items()}


def of_user(node: NodePlan) -> Program | None:
    """None where a node's user has it start none."""
    return programs(node).get(OF_USER)


@dataclass(frozen=True)
class ProgramState:
    """What a host says of one of its programs, which its other programs may have changed."""

    state: Literal["waits", "runs", "pauses", "ended", "stopped"]
    #: With which it ended last, as shells say it; None before.
    status: Annotated[int, Field(ge=0, le=255)] | None
    #: How often it was started since the host was.
    starts: Annotated[int, Field(ge=0, le=1_000_000_000)]
    #: The end of what it has printed.
    log: str = ""

    @classmethod
    def read(cls, folder: Path, name: str = OF_USER) -> Self | None:
        """From a host's own folder, by the program's name; None where nothing of that kind is there."""
        try:
            answer = json.loads(_end_of(folder / f"{name}.json", _LONGEST_STATE))
            check(answer, cls)
        except (OSError, node_files.NodeFileInTheWay, ValueError, RecursionError):
            return None
        return cls(answer["state"], answer["status"], answer["starts"], _end_of_log(folder / f"{name}.log"))

    def words(self, program: str = "its program") -> str | None:
        """What its user should know, of the program by that name; None where it does what it is to do."""
        ended = f"with status {self.status}; {f'the end of its log: {self.log}' if self.log else 'its log is empty'}"
        if self.state == "ended":
            return f"{program} has ended {ended}"
        if self.status is not None and self.state in ("runs", "pauses"):
            again = f"was started {self.starts} times" if self.state == "runs" else "is started again soon"
            return f"{program} {again}, and ended last {ended}"
        return None


def _end_of_log(log: Path) -> str:
    try:
        lines = _end_of(log, _LOG_LINES * _LOG_CHARACTERS).decode(errors="replace").rstrip().split("\n")[-_LOG_LINES:]
    except (OSError, node_files.NodeFileInTheWay):
        return ""
    return " / ".join(printable(line) for line in lines)[-_LOG_CHARACTERS:]


def _end_of(file: Path, length: int) -> bytes:
    """Not more than that: what is there is the host's to fill. Raises FileNotFoundError, NodeFileInTheWay."""
    with node_files.opened(file) as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - length))
        return opened.read(length)
