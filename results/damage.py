# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files of a run folder do not hold what a run writes there: asked when an analysis could not make sense of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NotRequired, Required

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from results.machines import MACHINES_FILE
from testbed.errors import NetBoxITError
from testbed.plan import Plan
from traffic.flow import FLOWS_FILE, ApplicationRecord

Counts = dict[str, int]


class DamagedRun(NetBoxITError):
    """Files of a run folder do not hold what a run writes there."""

    exit_status = 2


class _Port(TypedDict):
    name: str
    received: int
    sent: int
    overload_drops: int
    oversize_drops: int
    malformed: int
    send_drops: int


class _Frames(TypedDict):
    delivered: int
    lost: Counts


class _Netbox(TypedDict):
    epoch_ns: int
    ports: list[_Port]
    frames: _Frames
    lateness_us: dict[str, dict[str, float | list[tuple[float, int]]]]
    missed: int
    misses: NotRequired[list[dict[str, Any]]]
    events: NotRequired[list[dict[str, Any]]]
    records: NotRequired[Counts]
    journal: NotRequired[Counts]
    scheduler: NotRequired[dict[str, float]]
    segment: dict[str, Any]


class _Switch(TypedDict):
    datapath: str
    ports: dict[str, Counts]
    unserved: int | None


class _Router(TypedDict):
    devices: dict[str, Counts]


class _Run(TypedDict):
    started: str
    ended: str | None
    failure: str | None


class _Lab(TypedDict, total=False):
    nodes: list[dict[str, Any]]
    offloads: dict[str, list[str]]
    steal_ratio: float | None
    steal_by_core: dict[str, float]
    began_ns: int | None
    ended_ns: int | None
    began_s: dict[str, float]
    hosts: dict[str, dict[str, Any]]


class _Reading(TypedDict):
    offset_ns: int
    error_ns: int
    round_trip_ns: int
    samples: int
    at_ns: int


class _Clock(TypedDict, total=False):
    before: _Reading | None
    after: _Reading | None
    problem: str


class _Machine(TypedDict, total=False):
    address: str
    clock: Required[_Clock]
    synchronised: str | None
    environment: dict[str, Any]


class _End(TypedDict):
    host: str
    node: str
    interface: str
    capture: str


class _Tunnel(TypedDict):
    wire: str
    kind: str
    mtu: int
    ends: tuple[_End, _End]
    probe: NotRequired[dict[str, int] | None]


class _Machines(TypedDict):
    here: str
    hosts: dict[str, _Machine]
    wires: list[_Tunnel]


class _Capture(TypedDict):
    file: str
    node: str
    interface: str
    received: int | None
    dropped: int | None
    #: Not of older runs.
    ended: NotRequired[str | None]


#: By the name of a file: what stands in it, or in each of its lines.
_SHAPES: Final[dict[str, TypeAdapter[Any]]] = {
    "plan.json": TypeAdapter(Plan),
    "run.json": TypeAdapter(_Run),
    "lab.json": TypeAdapter(_Lab),
    "environment.json": TypeAdapter(dict[str, Any]),
    "captures.json": TypeAdapter(list[_Capture]),
    MACHINES_FILE: TypeAdapter(_Machines),
    "statistics.json": TypeAdapter(_Switch | _Router | _Netbox),
    FLOWS_FILE: TypeAdapter(ApplicationRecord),
    "events.jsonl": TypeAdapter(dict[str, Any]),
    "journal.jsonl": TypeAdapter(dict[str, Any]),
}


def damaged(folder: Path) -> list[str]:
    """The files and what is wrong with each, in one line: its place in the file and what ought to be there."""
    return [f"{file}: {wrong}" for file in sorted(folder.rglob("*")) if (wrong := next(_wrong(file), None))]


def _wrong(file: Path) -> Iterator[str]:
    # Of a netbox that was rebooted there are several: statistics.1.json, statistics.json.
    shape = _SHAPES.get(re.sub(r"\.\d+(?=\.\w+$)", "", file.name))
    if shape is None:
        return
    try:
        text = file.read_text()
        for number, part in enumerate(text.splitlines() if file.suffix == ".jsonl" else [text], 1):
            yield from _misfits(shape, json.loads(part), f"line {number}: " if file.suffix == ".jsonl" else "")
    except UnicodeDecodeError as error:
        yield f"its byte {error.start} is not UTF-8"
    except OSError as error:
        yield f"cannot be read: {error.strerror}"
    except ValueError as error:
        yield f"is not JSON: {error}"
    except RecursionError:
        yield "is not JSON of a run: it is nested too deeply"


def _misfits(shape: TypeAdapter[Any], data: Any, line: str) -> Iterator[str]:
    try:
        shape.validate_python(data)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            place = ".".join(map(str, detail["loc"]))
            yield f"{line}{place or 'all of it'}: {detail['msg']}"
