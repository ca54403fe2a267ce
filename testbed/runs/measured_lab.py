# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a lab that carries the traffic of a run: keeps captures, events, statistics, and at the end the nodes' files.

In a run over several machines each measures its part of the lab by this module, so nothing here is about the run as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from contracts import durable
from contracts.control import RunningStatistics
from contracts.environment import CpuTimes
from contracts.plan import WireEnd
from contracts.run_folder import EVENTS_FILE, LAB_FILE, STATISTICS_FILE
from contracts.statistics import SwitchStatus
from results.capture import Captures
from results.environment import cpu_times, lab_environment
from system import node_files
from testbed.changing import unfinished
from testbed.changing.schedule import Schedule
from testbed.labs import lab_status, measuring, switch_statistics
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.labs.measuring import SAMPLE_S

#: What each lab leaves in the folder, besides the files of its nodes.
CAPTURES: Final = "captures"
NODES: Final = "nodes"


class MeasuredLab:
    """`prepare`, `begin`, `keep_statistics`, `end`, `collect` in this order; `end` and `collect` are safe at any time."""

    def __init__(self, lab: Lab, folder: Path, captured: Collection[WireEnd] = ()) -> None:
        """`folder` is where everything lands. `captured`: interfaces of which captures are kept besides those of hosts."""
        self.lab, self._folder, self._captured = lab, folder, captured
        self._claim()
        #: Its events, by the network's time.
        self.log = EventLog(folder / EVENTS_FILE, lab.folder)
        self._open = ExitStack()
        self._schedule = Schedule(lab, self.log, SAMPLE_S)
        self._netboxes = [node.name for node in lab.plan.nodes if node.kind == "netbox"]
        self._switches: dict[str, SwitchStatus | None] = {}
        self._before: CpuTimes = {}
        self._began_s: dict[str, float] = {}

    def prepare(self) -> None:
        """Captures run, and the events wait for their times. Raises CaptureFailed, and what an event cannot be made by."""
        self._capture()
        self._open.enter_context(self._schedule)

    def begin(self) -> None:
        """The network's time begins now, and with it that of the events and of all statistics."""
        for netbox in self._netboxes:
            with self.lab.control(netbox) as control:
                self._began_s[netbox] = control.begin(SAMPLE_S)
        self.log.begin()
        self._schedule.start()
        self._before = cpu_times()

    def check(self) -> None:
        """Raises as soon as an event or a node has failed; one without power has not."""
        self._schedule.check()
        self.lab.check_alive(besides=self._away())

    def keep_statistics(self) -> None:
        """What netboxes and switches counted of the traffic alone, before the end of the lab adds to it.

        A netbox without power wrote its own when it lost that.
        """
        away = self._away()
        counted: dict[str, RunningStatistics | SwitchStatus | None] = {
            netbox: self._statistics(netbox) for netbox in self._netboxes if netbox not in away
        }
        for switch, before in self._switches.items():
            if before is not None and (now := switch_statistics.of(self.lab, switch)) is not None:
                counted[switch] = switch_statistics.since(before, now)
        for node, statistics in counted.items():
            if statistics is not None:
                durable.write(self._kept(node) / STATISTICS_FILE, json.dumps(statistics, indent=1) + "\n")

    def end(self) -> None:
        """Ends events and captures. What the lab was like is kept when its time had begun."""
        with self._open:
            if self._before:
                before, self._before = self._before, {}
                record = lab_environment(
                    self.lab.plan, lab_status.of(self.lab)["nodes"], before, self.log.began_ns, self._began_s
                )
                durable.write(self._folder / LAB_FILE, json.dumps(record, indent=1) + "\n")

    def collect(self) -> list[str]:
        """Ends the nodes, so that they write what they still hold, and copies their folders; statistics already kept stay.

        Returns what is not whole, and why.
        """
        with self.lab.finished() as killed:
            late = f"{', '.join(killed)} did not end when asked and had to be killed: their files may not be whole"
            problems = [late] if killed else []
            for node in self.lab.plan.nodes:
                problems += node_files.copy_all(self.lab.node_folder(node.name), self._kept(node.name))
        return problems

    def _claim(self) -> None:
        measuring.begin(self.lab.folder, self._folder)

    def _capture(self) -> None:
        """Until `end`, and what switches count is counted from here on."""
        self._switches = {
            node.name: switch_statistics.of(self.lab, node.name) for node in self.lab.plan.nodes if node.kind == "switch"
        }
        self._open.enter_context(Captures(self.lab, self._folder / CAPTURES, self._captured))

    def _away(self) -> set[str]:
        """Nodes from which an event, or somebody at a terminal, has taken the power."""
        by_hand = unfinished.of(self.lab.folder)
        return {*self._schedule.away, *(by_hand.away if by_hand else ())}

    def _statistics(self, netbox: str) -> RunningStatistics | None:
        with self.lab.control(netbox) as control:
            return control.statistics()

    def _kept(self, node: str) -> Path:
        kept = self._folder / NODES / node
        kept.mkdir(parents=True, exist_ok=True)
        return kept
