# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run takes down of itself: request.json, run.json, lab.json, captures.json and events.jsonl of its folder."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from contracts.changes import Change, WireState
from contracts.node_status import NodeStatus


class RunRecord(TypedDict):
    """run.json. Times are as in ISO 8601."""

    started: str
    #: null while the run goes on.
    ended: str | None
    #: What ended it before its time, null when nothing did.
    failure: str | None


class RequestRecord(TypedDict):
    """request.json."""

    #: Of the traffic, in seconds, as the command said; null: as the topology says.
    duration_s: float | None


class MachineShare(TypedDict, total=False):
    """What lab.json tells of a machine."""

    #: The share of time that other guests of the machine's host took from all cores.
    steal_ratio: float | None
    #: The same of each core, by its number.
    steal_by_core: dict[str, float | None]
    #: When the network's time began there, CLOCK_REALTIME of that machine in nanoseconds.
    began_ns: int | None
    #: When the traffic was over there.
    ended_ns: int | None


class LabRecord(MachineShare, total=False):
    """lab.json: the lab at the end of the traffic."""

    nodes: list[NodeStatus]
    #: What offloads were on, by "node interface".
    offloads: dict[str, list[str]]
    #: The simulated time of each netbox, in seconds, at which the network's time began.
    began_s: dict[str, float]
    #: Of a run over several machines: the machines that are not the controller.
    hosts: dict[str, MachineShare]


class CaptureCount(TypedDict):
    """An entry of captures.json: a capture at an interface. Counts are null when its program ended before the run was over."""

    #: In captures/.
    file: str
    node: str
    interface: str
    #: Frames.
    received: int | None
    #: Frames that the kernel dropped before the program could take them.
    dropped: int | None
    #: Why it ended early; null when it did not.
    ended: str | None


class ChangeRecord(TypedDict, total=False):
    """A change of a lab (contracts.changes), without a configuration's text. Which of the keys it has depends on its kind."""

    #: Of a parameter or a freeze.
    netbox: str
    #: Of a parameter, of stages ("lan.stages") or a managed link.
    parameter: str
    #: Of these in base units, of a handler its text.
    value: Any
    #: Of these: as a person writes it.
    written: str
    wire: str
    state: WireState
    #: Of a wire or of power.
    node: str
    #: Of a wire: at which it was changed.
    interface: str
    power: Literal["off", "on"]
    #: Of a freeze.
    for_s: float
    #: Of a configuration, a handler or stages.
    router: str
    #: Of a configuration: where it came from.
    file: str
    handler: str
    #: Of a managed link: its name, and the host at which it was changed.
    link: str
    host: str


class RecordedChange(ChangeRecord):
    """A change that was made, or tried."""

    kind: Literal["parameter", "wire", "power", "freeze", "configuration", "handler", "stages", "managed_link"]
    #: For people.
    words: str


def recorded(change: Change, words: str) -> RecordedChange:
    """A change as it is told in records: without a configuration's whole text. `words` tell it to people."""
    details = {key: value for key, value in asdict(change).items() if key != "text"}
    return cast("RecordedChange", {**details, "words": words})


class EventRecord(ChangeRecord):
    """A line of events.jsonl: what was changed in the lab."""

    #: When it was planned, in seconds since the network's time began.
    at_s: float
    #: How much later it was begun.
    late_ms: float
    #: How long the netbox, the kernel or the application needed.
    took_ms: float
    kind: str
    #: For people.
    words: str
    #: Why it failed, null when it did not.
    error: NotRequired[str | None]
    #: Of traffic that starts, which changes nothing in the lab: its name.
    traffic: NotRequired[str]
