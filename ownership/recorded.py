# SPDX-License-Identifier: GPL-2.0-or-later
"""What is on record of a lab: its plan, while it is being changed all that it may be, and from which file it was made.

`plan.json` is what the lab is. From before the first step of a change until after its last there is `changing.json` beside it,
with every plan that a part of the lab may then be of: none when the lab comes up, the old and the new one when it is changed. A
change that did not end leaves it, and the next one starts from all of these plans.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from contracts import durable
from contracts.errors import NetBoxITError, printable
from contracts.plan import Plan
from contracts.run_folder import PLAN_FILE
from ownership import state
from ownership.operators import NoPrivilege

CHANGING = "changing.json"
#: Which topology file the lab was made from: files that somebody names while the lab is up may be beside it.
ORIGIN = "origin.json"

_Read = TypeVar("_Read")


class DamagedRecord(NetBoxITError):
    """What is on record of a lab is not what was written there."""


def plan(folder: Path) -> Plan:
    """What the lab is. Raises FileNotFoundError while it has not come up, DamagedRecord, NoPrivilege."""
    return read(folder / PLAN_FILE, Plan.from_json)


def states(folder: Path) -> list[Plan]:
    """The plans that parts of the lab may be of, the recorded one first; none: it never came up whole."""
    changing = folder / CHANGING
    if changing.exists():
        return read(changing, lambda plans: list(map(Plan.from_json, plans)))
    return [plan(folder)]


def is_changing(folder: Path) -> bool:
    """Whether a change goes on, or did not end."""
    return (folder / CHANGING).exists()


def begin(folder: Path, plans: Sequence[Plan]) -> None:
    """From here on the lab may be of any of these plans."""
    put(folder / CHANGING, [plan.to_json() for plan in plans])


def write(folder: Path, plan: Plan) -> None:
    """What the lab is."""
    put(folder / PLAN_FILE, plan.to_json())


def end(folder: Path) -> None:
    """The lab is what `plan.json` says."""
    (folder / CHANGING).unlink(missing_ok=True)


def origin(topology: Path) -> str:
    """What the lab's folder has in ORIGIN."""
    return text({"topology": str(topology.absolute())})


def keep_origin(folder: Path, topology: Path) -> None:
    """Raises NotWritten."""
    durable.put(folder / ORIGIN, origin(topology))


def beside_topology(folder: Path) -> Path | None:
    """The folder of the topology file of the lab in `folder`; None when none is on record. Raises DamagedRecord, NoPrivilege."""
    try:
        return read(folder / ORIGIN, lambda record: Path(record["topology"]).parent)
    except FileNotFoundError:
        return None


def emulating(besides: str) -> dict[int, str]:
    """On which cores emulators of labs other than that one compute, and of which lab: for whoever plans another one.

    A lab of whose plan nothing can be read (it goes just now, or is another user's) counts as none.
    """
    cores: dict[int, str] = {}
    for name in [name for name in state.seen_lab_names() or () if name != besides]:
        with suppress(OSError, NetBoxITError):
            plans = states(state.labs_folder() / name)
            nodes = [node for plan in plans for node in plan.nodes if node.realtime_priority or node.kind == "netbox"]
            cores |= {core: name for node in nodes for core in node.cores}
    return cores


def read(file: Path, understand: Callable[[Any], _Read]) -> _Read:
    """What a JSON file in a lab's folder says. Raises FileNotFoundError, DamagedRecord, NoPrivilege."""
    try:
        return understand(json.loads(file.read_text()))
    except FileNotFoundError:
        raise
    except PermissionError as error:
        raise NoPrivilege(f"{file} cannot be read: {error.strerror}; ask as root") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        cause, remedy = printable(f"{type(error).__name__}: {error}")[:200], f"`netboxit down {file.parent.name}` removes the lab"
        raise DamagedRecord(f"{file} is damaged ({cause}); {remedy}, so that it can come up again") from error


def put(file: Path, data: object) -> None:
    """A reader finds the old one or the new one, whole, also after a crash. Raises NotWritten."""
    durable.put(file, text(data))


def text(data: object) -> str:
    """As it is written into a lab's folder."""
    return json.dumps(data, indent=1) + "\n"
