# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run keeps of a lab over several machines: each measures its own part, and at the end all of it is in one folder.

`hosts.json` there tells what the machines are, how far their clocks are apart, and the wires between them (docs/architecture.md).
Files keep the time of the machine that wrote them; whoever reads them corrects it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Final, Literal

from contracts import durable, machines
from contracts.errors import NetBoxITError
from contracts.plan import WireEnd
from contracts.run_folder import COUNTS_FILE, EVENTS_FILE, LAB_FILE, MACHINES_FILE
from contracts.run_records import LabRecord
from results.capture import file_name
from testbed.runs.measured_lab import CAPTURES, MeasuredLab
from testbed.several_hosts import clocks
from testbed.several_hosts.lab_parts import LabParts
from testbed.several_hosts.messages import Collected, OfferedFile
from testbed.several_hosts.remote_part import below, fetch
from testbed.several_hosts.synchronisation import environment_and_clock

#: What a part may take to end its nodes and to gather its files.
_COLLECTING_S: Final = 60.0


class MeasuredLabs(MeasuredLab):
    """As MeasuredLab, which measures the part on this machine, of all parts at a time."""

    def __init__(self, parts: LabParts, folder: Path) -> None:
        super().__init__(parts.here, folder, parts.ends_on(parts.record.here))
        self._parts = parts
        self._machines: dict[str, machines.Machine] = {}
        #: What is not whole in the run's results because a machine failed.
        self._problems: list[str] = []

    def prepare(self) -> None:
        for name, facts in self._parts.everywhere("environment", machines.MachineFacts, environment_and_clock).items():
            self._machines[name] = {**facts, "address": self._parts.plan.host(name).address, "clock": {}}
        self._compare_clocks("before")
        answers = {
            name: part.ask("prepare_run", captured=[[end.node, end.interface] for end in self._parts.ends_on(name)])
            for name, part in self._parts.remote.items()
        }
        super().prepare()
        for answer in answers.values():
            answer.done()

    def begin(self) -> None:
        self._parts.everywhere("begin_run", NoneType, super().begin)

    def check(self) -> None:
        self._parts.everywhere("check_run", NoneType, super().check)

    def keep_statistics(self) -> None:
        self._parts.everywhere("keep_statistics", NoneType, super().keep_statistics)
        self._compare_clocks("after")

    def end(self) -> None:
        """Also ends the others when a machine has failed: `collect` reports that."""
        for part in self._parts.remote.values():
            with self._noted():
                part.ask("end_run").done()
        super().end()
        if self._machines:
            durable.write(self._folder / MACHINES_FILE, json.dumps(self._record(), indent=1) + "\n")

    def collect(self) -> list[str]:
        """Gathers everything in the run folder; returns what is not whole, and why."""
        answers = {}
        for name, part in self._parts.remote.items():
            with self._noted():
                answers[name] = part.ask("collect_run")
        self._problems += super().collect()
        to_merge: dict[str, dict[str, str]] = {file: {} for file in _JOINED}
        for name, answer in answers.items():
            with self._noted(f"what was measured on {name} is missing: "):
                collected = answer.result(Collected, _COLLECTING_S)
                self._problems += [f"{name}: {problem}" for problem in collected["problems"]]
                self._fetch(name, collected["files"], to_merge)
        merge(self._folder, to_merge)
        return list(dict.fromkeys(self._problems))

    @contextmanager
    def _noted(self, consequence: str = "") -> Iterator[None]:
        """What fails on another machine is no error here: the run is not whole."""
        try:
            yield
        except NetBoxITError as error:
            self._problems.append(f"{consequence}{error}")

    def _fetch(self, machine: str, files: list[OfferedFile], to_merge: Mapping[str, dict[str, str]]) -> None:
        connection, beside = self._parts.remote[machine].connection, self._folder / f".{machine}"
        for offered in files:
            if (file := offered["file"]) in to_merge:
                fetch(connection, offered, beside / file)
                to_merge[file][machine] = (beside / file).read_text()
            else:
                fetch(connection, offered, below(self._folder, file))
        shutil.rmtree(beside, ignore_errors=True)

    def _compare_clocks(self, when: Literal["before", "after"]) -> None:
        """How far the clock of each machine is from this one's. The verdict reports a clock that cannot be compared."""
        own = self._parts.plan.host(self._parts.record.here).address
        self._machines[self._parts.record.here]["clock"][when] = clocks.own_clock()
        for name, part in self._parts.remote.items():
            address, token = self._parts.plan.host(name).address, clocks.new_token()
            port = part.ask("answer_clock", address=address, token=token.hex()).result(int)
            readings = self._machines[name]["clock"]
            try:
                readings[when] = clocks.compare(address, port, token, own_address=own)
            except clocks.ClocksNotCompared as error:
                readings["problem"], readings[when] = str(error), None
            part.ask("clock_answered").done()

    def _record(self) -> machines.MachinesRecord:
        return {
            "here": self._parts.record.here,
            "hosts": self._machines,
            "wires": [
                {
                    "wire": wire.name,
                    "kind": wire.kind,
                    "mtu": wire.mtu,
                    "ends": [self._end(wire.left), self._end(wire.right)],
                    "probe": {"round_trip_ns": self._parts.probes[wire.name]},
                }
                for wire in self._parts.wires_between()
            ],
        }

    def _end(self, end: WireEnd) -> machines.WireEnd:
        return {
            "host": self._parts.host(end.node),
            "node": end.node,
            "interface": end.interface,
            "capture": f"{CAPTURES}/{file_name(self._parts.plan.node(end.node), end.interface)}",
        }


def merge(folder: Path, others: Mapping[str, Mapping[str, str]]) -> None:
    """Joins the files that each machine has one of, and a run only one.

    `others`: their texts by file and machine, which are added to this machine's own in the folder.
    """
    (folder / EVENTS_FILE).touch()  # nothing may have happened at nodes of this machine
    for file, joined in _JOINED.items():
        path = folder / file
        if others.get(file) and path.exists():
            durable.write(path, joined(path.read_text(), others[file]))


def _joined_events(own: str, others: Mapping[str, str]) -> str:
    """In the order of their times, each since the network's time began on its own machine."""
    lines = [line for text in (own, *others.values()) for line in text.splitlines()]
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: float(json.loads(line)["at_s"])))


def _joined_labs(own: str, others: Mapping[str, str]) -> str:
    record: LabRecord = json.loads(own)
    record["hosts"] = {}
    for machine, text in others.items():
        other: LabRecord = json.loads(text)
        record["nodes"] += other["nodes"]
        record["offloads"] |= other["offloads"]
        record["began_s"] |= other["began_s"]
        record["hosts"][machine] = {
            "steal_ratio": other["steal_ratio"],
            "steal_by_core": other["steal_by_core"],
            "began_ns": other["began_ns"],
            "ended_ns": other["ended_ns"],
        }
    return json.dumps(record, indent=1) + "\n"


def _joined_counts(own: str, others: Mapping[str, str]) -> str:
    return json.dumps([count for text in (own, *others.values()) for count in json.loads(text)], indent=2) + "\n"


_JOINED: Final = {EVENTS_FILE: _joined_events, LAB_FILE: _joined_labs, f"{CAPTURES}/{COUNTS_FILE}": _joined_counts}
