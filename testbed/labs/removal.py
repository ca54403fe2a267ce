# SPDX-License-Identifier: GPL-2.0-or-later
"""Taking a lab down from its ledger alone: after a crash, after a reboot, without the user's file.

What is imported here is imported by every `netboxit down`: no topologies, no netlink.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from typing_extensions import TypedDict

from contracts.errors import NetBoxITError
from ownership import state
from ownership.ledger import Ledger, Record, Undoer, UndoFailed
from system import awake, containers, marks, namespaces, node_disks, realtime_group, rings, strays, users
from system.containers import Container
from system.interruption import HeldBack, noted


class ContainerDetails(TypedDict):
    """What a ledger has of a container besides its name."""

    node: str


class RingsDetails(TypedDict):
    """What a ledger has of a memory wire besides its name."""

    lab: str


def container_of(folder: Path, node: str, name: str) -> Container:
    """A node's container in a lab's folder."""
    return Container(name=name, home=folder / "containers", folder=nodes_folder(folder) / node)


def nodes_folder(folder: Path) -> Path:
    """With the folders of all nodes, in a lab's folder."""
    return folder / "nodes"


def disk_of(folder: Path, node: str) -> Path:
    """The image of a node's disk, in a lab's folder."""
    return folder / "disks" / node


def copies_of(node: str) -> str:
    """What a disk and a folder are called beside the node's own: with the copies that a host has of its user's files. No node can
    reach that folder itself, so none can put a link where its container is shown what is in it."""
    return f"{node}.files"


def ledger_file(folder: Path) -> Path:
    return folder / "ledger.jsonl"


def undo(folder: Path, *, folder_too: bool = True) -> list[str]:
    """Every object, in the reverse of its creation; then the folder itself. Returns as `take_down`."""
    notes: list[str] = []
    with HeldBack():
        Ledger(ledger_file(folder)).undo(undoers(folder, notes))
        if folder_too:
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise UndoFailed(f"{folder} cannot be removed ({error.filename}: {error.strerror}); remove it as root") from error
    return notes


def take_down(name: str, undo: Callable[[Path], list[str]] = undo) -> list[str]:
    """Removes a lab and all that belongs to it, and nothing else. Raises UndoFailed when something stays, with its ledger.

    `undo` does it, by the lab's folder. Returns what could not be put back and never will.
    """
    folder = state.lab_folder(name)
    with suppress(state.NoSuchLab), state.locked(folder):  # another command may remove it while this one waits
        return undo(folder)
    return []


def give_up(error: BaseException | None, undo: Callable[[], object]) -> None:
    """Undoes what was made until `error` came, if one did. What `undo` raises then begins with that error's own words."""
    try:
        undo()
    except NetBoxITError as failure:
        if isinstance(error, NetBoxITError):
            raise type(failure)(f"{error}\n{failure}") from failure
        raise


def take_down_each(names: Sequence[str], progress: Callable[[str], None], undo: Callable[[Path], list[str]]) -> list[str]:
    """Takes several labs down, also when one of them fails, and removes what commands left that were killed before they had one.

    Raises and returns as `take_down` does.
    """
    notes, failures = [], []

    def removed() -> str:
        gone = [name for name in names if name not in state.lab_names()]
        return f"removed: {', '.join(gone)}" if gone else "nothing was removed"

    with noted(removed):
        for name in names:
            progress(f"taking {name} down")
            try:
                notes += take_down(name, undo)
            except (UndoFailed, state.LabBusy) as error:
                failures.append(str(error))
        strays.remove()
    if failures:
        raise UndoFailed("\n".join([*failures, *notes]))
    return notes


def undoers(folder: Path, notes: list[str] | None = None) -> dict[str, Undoer]:
    """What removes objects of each kind of a lab; what cannot be put back goes into `notes`.

    What has a recorded name and another lab's mark is left alone: the lab's own was gone, and the name free.
    """
    mark = marks.of_lab(folder)
    lasting = [] if notes is None else notes

    def remove_containers(records: list[Record]) -> None:
        containers.end(folder / "containers", [record.name for record in records])
        for record in records:
            containers.remove_traces(container_of(folder, record.details_as(ContainerDetails)["node"], record.name))

    def give_equipment_back(records: list[Record]) -> None:
        from system import equipment  # netlink, which a lab without equipment does not need

        equipment.give_back(records, lasting)

    def remove_namespaces(records: list[Record]) -> None:
        own = [record.name for record in records if namespaces.belongs(record.name, mark)]
        namespaces.end_processes_inside(own)
        for name in own:
            namespaces.delete(name)
        lasting.extend(
            f"network namespace {name} is not marked as this lab's, and was left alone (`ip netns`)"
            for name in sorted({record.name for record in records} - set(own))
        )

    return {
        "container": remove_containers,
        "realtime group": lambda _: realtime_group.release(folder),
        "awake core": _each(lambda record: awake.release(int(record.name), folder)),
        "rings": _each(lambda record: rings.delete(record.details_as(RingsDetails)["lab"], record.name, folder)),
        "equipment": give_equipment_back,
        # The kernel removes veth pairs with their namespaces: all in one go, where deleting each waits 20 ms for all cores.
        "wire": lambda _: None,
        "namespace": remove_namespaces,
        "user namespace": _each(lambda record: users.delete(record.name)),
        "disk": _each(lambda record: node_disks.delete(disk_of(folder, record.name), nodes_folder(folder) / record.name)),
    }


def _each(remove: Callable[[Record], object]) -> Undoer:
    def remove_all(records: list[Record]) -> None:
        for record in records:
            remove(record)

    return remove_all
