# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run left behind (docs/architecture.md, "Run folder"), read when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from contracts.environment import Environment, FolderVersion
from contracts.errors import WrongInput
from contracts.flow import ApplicationRecord, Flow
from contracts.machines import MachinesRecord
from contracts.management import parts
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodeKind, Plan
from contracts.run_files import DamagedRun, read
from contracts.run_folder import (
    COUNTS_FILE,
    ENVIRONMENT_FILE,
    FLOWS_FILE,
    JOURNAL_FILE,
    LAB_FILE,
    MACHINES_FILE,
    PLAN_FILE,
    RECORDS_FILE,
    RUN_FILE,
    STATISTICS_FILE,
    VERSION,
)
from contracts.run_records import CaptureCount, LabRecord, RunRecord
from contracts.shapes import OtherShape, Shape
from contracts.statistics import NetboxStatistics, SwitchStatus
from results import frames, journal, records, restarts
from results.flow_path import FlowPath
from results.machines import Machines
from results.segments import Segments

_COUNTS: Final = f"captures/{COUNTS_FILE}"
#: No run is longer: a year.
LONGEST_S: Final = 365 * 86_400.0
#: A column of frames.parquet of a run with a warm-up: the frame was sent in it.
WARM_UP: Final = "warm_up"


class NoRun(WrongInput):
    """The folder is not a run folder, or holds nothing of a run yet."""


class OtherVersion(WrongInput):
    """Another NetBoxIT wrote the folder, and means something else by its files."""


@dataclass
class RunFolder:
    """The files of a run. One that is missing or damaged is None or empty here, and noted in `absent`.

    Raises OtherVersion; NoRun, DamagedRun for files without which nothing can be told: the plan, and what applications sent.
    """

    path: Path
    missing: list[str] = field(default_factory=list)
    #: By the name of a damaged file: what is wrong with it. Known after it was read.
    damaged: dict[str, str] = field(default_factory=dict)
    #: Netboxes of which it is not known what frames passed through them; known after `passages`.
    unrecorded: list[str] = field(default_factory=list)
    environment: Environment = field(init=False)

    def __post_init__(self) -> None:
        record = self._known(ENVIRONMENT_FILE, FolderVersion)
        version = VERSION if record is None else record.get("run_folder", 1)
        if version != VERSION:
            raise OtherVersion(
                f"{self.path} is a run folder of version {version!r}, and this NetBoxIT reads version {VERSION}; "
                f"report it by the one that wrote it, whose commit is in {self.path / ENVIRONMENT_FILE}"
            )
        self.environment = self._known(ENVIRONMENT_FILE, Environment) or {}

    @cached_property
    def plan(self) -> Plan:
        if (plan := read(self.path / PLAN_FILE, Plan)) is None:
            raise NoRun(f"{self.path} has no plan.json, so it is not the folder of a run; runs are in results/runs/")
        for node in plan.nodes:
            if node.kind == "netbox":
                try:
                    netbox_configuration(node)
                except OtherShape as error:
                    raise DamagedRun(self.path / PLAN_FILE, f"node {node.name}: {error}") from None
        if not 0.0 <= plan.warm_up_s <= LONGEST_S:
            raise DamagedRun(self.path / PLAN_FILE, f"warm_up_s: {plan.warm_up_s} is no part of a run")
        return plan

    @cached_property
    def managed_links(self) -> dict[str, list[str]]:
        """The hosts that were members, by the name of the link."""
        members: dict[str, list[str]] = {}
        for node in self.plan.nodes:
            try:
                own = parts(node)
            except OtherShape as error:
                raise DamagedRun(self.path / PLAN_FILE, f"node {node.name}: {error}") from None
            for part in own:
                if part["role"] == "member":
                    members.setdefault(part["name"], []).append(node.name)
        return members

    @cached_property
    def lab(self) -> LabRecord:
        return self._known(LAB_FILE, LabRecord) or {}

    @cached_property
    def record(self) -> RunRecord | None:
        return self._known(RUN_FILE, RunRecord)

    @cached_property
    def machines(self) -> Machines:
        return Machines.of(self._known(MACHINES_FILE, MachinesRecord), self.plan, self.lab)

    @cached_property
    def statistics(self) -> dict[str, NetboxStatistics | None]:
        """Of a netbox that was rebooted those over all its starts."""
        return {
            netbox: restarts.combined([self._known(file, NetboxStatistics) for file in self._starts(netbox, STATISTICS_FILE)])
            for netbox in self.named("netbox")
        }

    @cached_property
    def switches(self) -> dict[str, SwitchStatus]:
        """What each switch that said so counted during the traffic (`testbed.labs.switch_statistics.since`)."""
        statistics = {name: self._known(f"nodes/{name}/{STATISTICS_FILE}", SwitchStatus) for name in self.named("switch")}
        return {name: counted for name, counted in statistics.items() if counted is not None}

    @cached_property
    def passages(self) -> dict[str, pl.DataFrame]:
        return {netbox: self._passages(netbox) for netbox in self.named("netbox")}

    @cached_property
    def journals(self) -> dict[str, journal.Journal]:
        """Of the nodes that left one; times are the controller's."""
        names = [node.name for node in self.plan.nodes]
        journals = {name: journal.read(*map(self.path.joinpath, self._starts(name, JOURNAL_FILE))) for name in names}
        return {name: self.machines.journal(name, own) for name, own in journals.items() if own is not None}

    @cached_property
    def began_ns(self) -> int | None:
        """When the network's time began, CLOCK_REALTIME; None when nobody says so."""
        netboxes = self.named("netbox")
        beginnings_ns = (own.began_ns for name, own in self.journals.items() if name in netboxes)
        return self.lab.get("began_ns") or min(beginnings_ns, default=None)

    @property
    def ended_ns(self) -> int | None:
        """When the run had its statistics and began to end the lab, CLOCK_REALTIME; None when nobody says so."""
        return self.lab.get("ended_ns")

    @cached_property
    def applications(self) -> list[ApplicationRecord]:
        records = [read(file, ApplicationRecord) for file in sorted(self.path.glob(f"traffic/*/{FLOWS_FILE}"))]
        return [record for record in records if record is not None]

    @cached_property
    def capture_counts(self) -> list[CaptureCount]:
        return self._known(_COUNTS, list[CaptureCount]) or []

    @property
    def failure(self) -> str | None:
        """What ended `netboxit run` before its time, None when nothing did."""
        if self.record is not None:
            return self.record["failure"]
        if RUN_FILE in self.damaged:
            return f"how the run ended is not known: {RUN_FILE} is damaged: {self.damaged[RUN_FILE]}"
        return f"the run was cut short: it left no {RUN_FILE}"

    @property
    def absent(self) -> list[str]:
        """What a run that met no failure should have left, and did not."""
        started = {application.name for application in self.applications}
        return [
            *(f"traffic {entry.name} left no {FLOWS_FILE}" for entry in self.plan.traffic if entry.name not in started),
            *(["there are no captures at the hosts"] if self.named("host") and self._lacks(self.capture_counts, _COUNTS) else []),
            *(
                [f"there is no {MACHINES_FILE}, so what the machines' clocks showed is not known"]
                if self.plan.hosts and self._lacks(self.machines.several, MACHINES_FILE)
                else []
            ),
            *(
                f"netbox {name} left no statistics"
                for name, counted in self.statistics.items()
                if self._lacks(counted, *self._starts(name, STATISTICS_FILE))
            ),
            *(f"{file} is damaged: {damage}" for file, damage in self.damaged.items()),
            *self.missing,
        ]

    def captured(self, host: str, flows: list[Flow]) -> frames.Capture:
        """What was seen at a host's interfaces; times are the controller's."""
        named = [self.path / "captures" / entry["file"] for entry in self.capture_counts if entry["node"] == host]
        return self._read(host, [file for file in named if file.exists()], flows)

    def captured_at(self, wire: str, node: str, flows: list[Flow]) -> frames.Capture:
        """What was seen at an end of a wire between machines; times are the controller's."""
        ends = [end for record in self.machines.record["wires"] if record["wire"] == wire for end in record["ends"]]
        files = [self.path / end["capture"] for end in ends if end["node"] == node]
        if there := [file for file in files if file.exists()]:
            return self._read(node, there, flows)
        self.missing.append(f"wire {wire}: there is no capture at its end in {node}, so what it added is not known")
        return frames.read_capture([], flows)

    def named(self, kind: NodeKind) -> list[str]:
        """The nodes of that kind."""
        return [node.name for node in self.plan.nodes if node.kind == kind]

    def _known(self, name: str, shape: type[Shape]) -> Shape | None:
        """A file that an analysis can do without, as it can without what killed or hostile nodes left damaged."""
        try:
            return read(self.path / name, shape)
        except DamagedRun as error:
            self.damaged[name] = error.damage
            return None

    def _lacks(self, content: object, *files: str) -> bool:
        """Whether there is nothing of what these files hold, though none of them is damaged: that is told by itself."""
        return not content and self.damaged.keys().isdisjoint(files)

    def _read(self, node: str, files: list[Path], flows: list[Flow]) -> frames.Capture:
        clock, capture = self.machines.clock_of(node), frames.read_capture(files, flows)
        self.damaged |= {os.path.relpath(file, self.path): damage for file, damage in capture.damaged.items()}
        return frames.Capture(
            {at: clock.corrected(seen, "time_ns") for at, seen in capture.frames.items()},
            clock.here(capture.end_ns) if capture.end_ns else 0,
            clock.corrected(capture.besides, "time_ns"),
            Segments(capture.segments.ends, clock.corrected(capture.segments.table, "time_ns")),
            capture.requests,
        )

    def _starts(self, node: str, file: str) -> list[str]:
        """A file of a node as it was left at each loss of power, and at the end, where that is there."""
        stem, suffix = file.split(".")
        folder = self.path / "nodes" / node
        numbers = [path.suffixes[0][1:] for path in folder.glob(f"{stem}.*.{suffix}")]
        earlier = [f"{stem}.{number}.{suffix}" for number in sorted(int(number) for number in numbers if number.isdigit())]
        last = [file] if not earlier or (folder / file).exists() else []
        return [f"nodes/{node}/{name}" for name in (*earlier, *last)]

    def _passages(self, netbox: str) -> pl.DataFrame:
        files = [self.path / name for name in self._starts(netbox, RECORDS_FILE)]
        try:
            rows = np.concatenate([records.read(file) for file in files])
            return self.machines.clock_of(netbox).corrected(frames.passages(rows), "in_ns", "out_ns")
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
    #: All frames.
    every: pl.DataFrame
    #: CLOCK_REALTIME at the end of the warm-up; None where there is none.
    counted_from_ns: int | None = None

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The frames that figures are of: those that were not sent in the warm-up."""
        return self.every if self.counted_from_ns is None else self.every.filter(pl.col("sent_ns") >= self.counted_from_ns)

    @property
    def in_warm_up(self) -> int:
        """How many frames were sent in the warm-up."""
        return self.every.height - self.rows.height

    def whole(self) -> Measured:
        """The same without a warm-up."""
        return replace(self, counted_from_ns=None)

    def by_path(self) -> Iterator[tuple[FlowPath, pl.DataFrame]]:
        """The paths with the frames of each, lost ones too, from the path of the first frame on."""
        for rows in self.rows.partition_by("path", maintain_order=True):
            yield self.paths[rows["path"][0]], rows

    def table(self) -> pl.DataFrame:
        """All frames; `path` is in words, `warm_up`, if there is one, says which were sent in it."""
        names = pl.Series([", ".join(path.netboxes) for path in self.paths], dtype=pl.String)
        table = self.every.with_columns(path=names.gather(self.every["path"]))
        from_ns = self.counted_from_ns
        return table if from_ns is None else table.with_columns((pl.col("sent_ns") < from_ns).alias(WARM_UP))
