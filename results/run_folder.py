# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run left behind (docs/architecture.md, "Run folder"), read when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from results import frames, journal, lives, records
from results.capture import COUNTS_FILE
from results.flow_path import FlowPath
from results.machines import MACHINES_FILE, Machines
from testbed.errors import NetBoxITError
from traffic.flow import FLOWS_FILE, ApplicationRecord, Flow


class NoRun(NetBoxITError):
    """The folder is not a run folder, or holds nothing of a run yet."""

    exit_status = 2


@dataclass
class RunFolder:
    """The files of a run. One that is missing is None or empty here, and noted in `absent`."""

    path: Path
    missing: list[str] = field(default_factory=list)
    #: Netboxes of which it is not known what frames passed through them; known after `passages`.
    unrecorded: list[str] = field(default_factory=list)

    def json(self, name: str) -> Any:
        """A JSON file of the folder; None when it is not there, cannot be read or is not JSON."""
        try:
            return json.loads((self.path / name).read_text())
        except (OSError, ValueError, RecursionError):
            return None

    @cached_property
    def plan(self) -> dict[str, Any]:
        if not isinstance(plan := self.json("plan.json"), dict):
            raise NoRun(f"{self.path} has no plan.json, so it is not the folder of a run; runs are in results/runs/")
        return plan

    @cached_property
    def netboxes(self) -> list[str]:
        return [node["name"] for node in self.plan["nodes"] if node["kind"] == "netbox"]

    @cached_property
    def hosts(self) -> list[str]:
        return [node["name"] for node in self.plan["nodes"] if node["kind"] == "host"]

    @cached_property
    def machines(self) -> Machines:
        return Machines.of(self.json(MACHINES_FILE), self.plan, self.json("lab.json") or {})

    @cached_property
    def statistics(self) -> dict[str, dict[str, Any] | None]:
        """Of a netbox that was rebooted those of all its lives together."""
        return {netbox: lives.together(list(map(self.json, self._lives(netbox, "statistics.json")))) for netbox in self.netboxes}

    @cached_property
    def switches(self) -> dict[str, dict[str, Any]]:
        """What each switch that said so counted during the traffic (`testbed.labs.switch_statistics.since`)."""
        names = [node["name"] for node in self.plan["nodes"] if node["kind"] == "switch"]
        found = {name: self.json(f"nodes/{name}/statistics.json") for name in names}
        return {name: one for name, one in found.items() if one is not None}

    @cached_property
    def passages(self) -> dict[str, pl.DataFrame]:
        return {netbox: self._passages(netbox) for netbox in self.netboxes}

    @cached_property
    def journals(self) -> dict[str, journal.Journal]:
        """Of the nodes that left one; times are the controller's."""
        names = [node["name"] for node in self.plan["nodes"]]
        found = {name: journal.read(*map(self.path.joinpath, self._lives(name, "journal.jsonl"))) for name in names}
        return {name: self.machines.journal(name, one) for name, one in found.items() if one is not None}

    @cached_property
    def began_ns(self) -> int | None:
        """When the network's time began, CLOCK_REALTIME; None when nobody says so."""
        told = (self.json("lab.json") or {}).get("began_ns")
        return told or min((one.began_ns for name, one in self.journals.items() if name in self.netboxes), default=None)

    @property
    def ended_ns(self) -> int | None:
        """When the run had its statistics and began to end the lab, CLOCK_REALTIME; None when nobody says so."""
        return (self.json("lab.json") or {}).get("ended_ns")

    @cached_property
    def applications(self) -> list[ApplicationRecord]:
        folders = sorted(file.parent for file in self.path.glob(f"traffic/*/{FLOWS_FILE}"))
        return [ApplicationRecord.read(folder) for folder in folders]

    @cached_property
    def capture_counts(self) -> list[dict[str, Any]]:
        return self.json(f"captures/{COUNTS_FILE}") or []

    @property
    def failure(self) -> str | None:
        """What ended `netboxit run` before its time, None when nothing did."""
        record = self.json("run.json")
        return record.get("failure") if isinstance(record, dict) else "the run was cut short: it left no run.json"

    @property
    def absent(self) -> list[str]:
        """What a run that met no failure should have left, and did not."""
        started = {application.name for application in self.applications}
        return [
            *(f"traffic {entry['name']} left no {FLOWS_FILE}" for entry in self.plan["traffic"] if entry["name"] not in started),
            *([] if self.capture_counts or not self.hosts else ["there are no captures at the hosts"]),
            *(
                [f"there is no {MACHINES_FILE}, so what the machines' clocks showed is not known"]
                if self.plan.get("hosts") and not self.machines.several
                else []
            ),
            *(f"netbox {name} left no statistics" for name, counted in self.statistics.items() if counted is None),
            *self.missing,
        ]

    def captured(self, host: str, flows: list[Flow]) -> frames.Capture:
        """What was seen at a host's interfaces; times are the controller's."""
        named = [self.path / "captures" / entry["file"] for entry in self.capture_counts if entry["node"] == host]
        return self._read(host, [file for file in named if file.exists()], flows)

    def captured_at(self, wire: str, node: str, flows: list[Flow]) -> frames.Capture:
        """What was seen at an end of a wire between machines; times are the controller's."""
        ends = [end for one in self.machines.told.get("wires", ()) if one["wire"] == wire for end in one["ends"]]
        files = [self.path / end["capture"] for end in ends if end["node"] == node]
        if there := [file for file in files if file.exists()]:
            return self._read(node, there, flows)
        self.missing.append(f"wire {wire}: there is no capture at its end in {node}, so what it added is not known")
        return frames.read_capture([], flows)

    def _read(self, node: str, files: list[Path], flows: list[Flow]) -> frames.Capture:
        clock, found = self.machines.clock_of(node), frames.read_capture(files, flows)
        rows = {at: clock.corrected(one, "time_ns") for at, one in found.frames.items()}
        besides = clock.corrected(found.besides, "time_ns")
        return frames.Capture(rows, clock.here(found.end_ns) if found.end_ns else 0, besides)

    def _lives(self, node: str, file: str) -> list[str]:
        """A file of a node as it was left at each loss of power, and at the end, where that is there."""
        stem, suffix = file.split(".")
        folder = self.path / "nodes" / node
        numbers = sorted(int(one.suffixes[0][1:]) for one in folder.glob(f"{stem}.*.{suffix}") if one.suffixes[0][1:].isdigit())
        last = [file] if not numbers or (folder / file).exists() else []
        return [f"nodes/{node}/{name}" for name in (*(f"{stem}.{number}.{suffix}" for number in numbers), *last)]

    def _passages(self, netbox: str) -> pl.DataFrame:
        files = [self.path / name for name in self._lives(netbox, "frames.bin")]
        try:
            found = np.concatenate([records.read(file) for file in files])
            return self.machines.clock_of(netbox).corrected(frames.passages(found), "in_ns", "out_ns")
        except (FileNotFoundError, records.BadRecords) as error:
            self.unrecorded.append(netbox)
            self.missing.append(f"netbox {netbox}: no frame records, so its share of delay and loss is not known ({error})")
            return frames.passages(np.empty(0, records.RECORD))


@dataclass(frozen=True)
class Measured:
    """One flow with its frames (results.frames.follow), and the paths that they took."""

    application: ApplicationRecord
    flow: Flow
    paths: tuple[FlowPath, ...]
    rows: pl.DataFrame

    def by_path(self) -> Iterator[tuple[FlowPath, pl.DataFrame]]:
        """The paths with the frames of each, lost ones too, from the path of the first frame on."""
        for rows in self.rows.partition_by("path", maintain_order=True):
            yield self.paths[rows["path"][0]], rows

    def table(self) -> pl.DataFrame:
        """The frames, and in `path` the netboxes of each one's path in words."""
        names = pl.Series([", ".join(path.netboxes) for path in self.paths], dtype=pl.String)
        return self.rows.with_columns(path=names.gather(self.rows["path"]))
