# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a lab that carries the traffic of a file and stays up. It keeps the same files as a run, and ends nothing.

The network's time goes on: no netbox is told to begin, because its stations would jump back to the start of their paths. Counters
are differences of two readings; records and journals are copied out of files that their nodes still write.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

from contracts import durable
from contracts.control import RunningStatistics
from contracts.errors import NetBoxITError
from contracts.run_folder import JOURNAL_FILE, RECORDS_FILE
from contracts.statistics import FrameCounters
from results.environment import cpu_times
from system import node_files
from testbed.labs import measuring
from testbed.labs.lab import Lab
from testbed.nodes.control import Control, ControlFailed
from testbed.runs import records_so_far
from testbed.runs.measured_lab import MeasuredLab

#: How long a netbox may take for all that it keeps in memory: 131 072 records at most, 340 with each answer.
_WRITTEN_WITHIN_S: Final = 10.0
#: Of a journal's first line, which says when it began.
_FIRST_LINE: Final = 256
#: What a journal is at its longest (netboxes/engine/journal.h).
_LONGEST_JOURNAL: Final = 64 << 20
#: A station without a link had none just before the traffic began.
_BEFORE_S: Final = 1e-3


class StandingLab(MeasuredLab):
    """As MeasuredLab; `collect` ends nothing. Raises LabMeasured, LabBusy when it is made."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        super().__init__(lab, folder)
        self._connections = ExitStack()
        #: One connection all the time: a netbox that was started again meanwhile does not answer by it.
        self._controls: dict[str, Control] = {}
        #: When captures began, and how many records each netbox had written then.
        self._since_ns = 0
        self._first: dict[str, int] = {}
        #: From which byte on each node's journal is kept.
        self._journals: dict[str, int] = {}
        self._at_start: dict[str, RunningStatistics] = {}
        self._at_end: dict[str, RunningStatistics] = {}
        self._unlinked: dict[str, dict[str, str]] = {}
        self._is_counted = False
        self._problems: list[str] = []

    def prepare(self) -> None:
        for netbox in self._netboxes:
            self._controls[netbox] = self._connections.enter_context(self.lab.control(netbox))
        # A host's tells budgets, of which those apply that came before the traffic.
        self._journals = {
            node.name: 0 if node.kind == "host" else _size(self._journal(node.name)) for node in self.lab.plan.nodes
        }
        self._first = {name: int(control.statistics()["records"]["written"]) for name, control in self._controls.items()}
        self._since_ns = time.time_ns()
        self._capture()

    def begin(self) -> None:
        for netbox, control in self._controls.items():
            control.reset()
            status = control.status()
            self._began_s[netbox], self._unlinked[netbox] = float(status["simulated_s"]), status["unlinked"]
            self._at_start[netbox] = control.statistics()
        self.log.begin_beside()
        self._before = cpu_times()

    def check(self) -> None:
        self.lab.check_alive(besides=self._away())

    def keep_statistics(self) -> None:
        super().keep_statistics()
        self._is_counted = True

    def collect(self) -> list[str]:
        """Copies what the nodes wrote of the traffic. Returns what is not whole, and why."""
        try:
            if self.log.has_begun and not self._is_counted:
                self.keep_statistics()
            for netbox, end in self._written().items():
                with self._noting_problems():
                    wrong = records_so_far.copy(
                        self.lab.node_folder(netbox) / RECORDS_FILE,
                        self._kept(netbox) / RECORDS_FILE,
                        self._first[netbox],
                        end,
                        self._since_ns,
                    )
                    if wrong:
                        self._problems.append(wrong)
            for node in self._journals:
                with self._noting_problems():
                    self._keep_words(node)
        finally:
            self._connections.close()
            measuring.end(self.lab.folder)
        return list(dict.fromkeys(self._problems))

    def _claim(self) -> None:
        measuring.claim(self.lab.folder, self._folder)

    def _statistics(self, netbox: str) -> RunningStatistics | None:
        """None of one that was started again: what it had counted is gone."""
        with self._noting_problems():
            self._at_end[netbox] = self._controls[netbox].statistics()
            return since(self._at_start[netbox], self._at_end[netbox])
        return None

    def _written(self) -> dict[str, int]:
        """How many records are in each netbox's file, when all of the traffic are."""
        written: dict[str, int] = {}
        for netbox, control in self._controls.items():
            with self._noting_problems():
                written[netbox] = self._write_records(netbox, control)
        return written

    def _write_records(self, netbox: str, control: Control) -> int:
        """Has a netbox write the records that it keeps in memory. Records of later frames may stay there."""
        goal = records_so_far.settled(control.statistics())
        until = time.monotonic() + _WRITTEN_WITHIN_S
        while (now := control.write_records())["written"] + now["dropped"] < goal:
            if not now["left"] or time.monotonic() > until:
                self._problems.append(
                    f"netbox {netbox} has not written its last frame records, so delays and losses inside it are not known"
                )
                break
        before = self._at_end.get(netbox)
        if before is not None and (dropped := now["dropped"] - before["records"]["dropped"]):
            self._problems.append(f"netbox {netbox}: {dropped:,} of its last frame records found no room")
        return int(now["written"])

    def _keep_words(self, node: str) -> None:
        """Its log, and of its journal what it wrote meanwhile."""
        folder = self.lab.node_folder(node)
        with suppress(FileNotFoundError):
            durable.write(self._kept(node) / "log", node_files.read(folder / "log"))
        with suppress(FileNotFoundError), node_files.opened(self._journal(node)) as file:
            first = file.readline(_FIRST_LINE)
            file.seek(self._journals[node])
            later = file.read(_LONGEST_JOURNAL)
            before = first + self._without_link(node, first) if self._journals[node] else b""
            durable.write(self._kept(node) / JOURNAL_FILE, before + later)

    def _without_link(self, netbox: str, first: bytes) -> bytes:
        """As the lines with which a journal begins in a run: the stations that have no link."""
        try:
            began_ns = int(json.loads(first)["began_ns"])
        except (ValueError, LookupError, TypeError):
            return b""  # no netbox has written it
        at_s = (self.log.began_ns - began_ns) / 1e9 - _BEFORE_S
        return "".join(
            json.dumps({"at_s": at_s, "event": "link_down", "station": station, "reason": reason}) + "\n"
            for station, reason in self._unlinked.get(netbox, {}).items()
        ).encode()

    def _journal(self, node: str) -> Path:
        return self.lab.node_folder(node) / JOURNAL_FILE

    @contextmanager
    def _noting_problems(self) -> Iterator[None]:
        """Notes what goes wrong with one node, and goes on with the others."""
        try:
            yield
        except ControlFailed as error:
            self._problems.append(f"{error}; of a netbox that was started again while the traffic ran, nothing is kept")
        except (NetBoxITError, OSError) as error:
            self._problems.append(str(error))


def since(before: RunningStatistics, now: RunningStatistics) -> RunningStatistics:
    """A netbox's statistics of the time between two answers; lateness and the segment's own were reset at the first."""
    return {
        **now,
        "frames": cast(FrameCounters, {**_more(before["frames"], now["frames"]), "inside": now["frames"]["inside"]}),
        "ports": _more(before["ports"], now["ports"]),
        "records": _more(before["records"], now["records"]),
        "journal": _more(before["journal"], now["journal"]),
        "scheduler": {
            **now["scheduler"],
            "cpu_s": now["scheduler"]["cpu_s"] - before["scheduler"]["cpu_s"],
            "spin_s": now["scheduler"]["spin_s"] - before["scheduler"]["spin_s"],
            "stepped_back": now["scheduler"]["stepped_back"] - before["scheduler"]["stepped_back"],
        },
    }


def _more(before: Any, now: Any) -> Any:
    """The difference of each number in it."""
    if isinstance(now, Mapping):
        return {key: _more(before[key], value) for key, value in now.items()}
    if isinstance(now, list):
        return [_more(*pair) for pair in zip(before, now, strict=True)]
    return now if isinstance(now, str) else now - before


def _size(file: Path) -> int:
    """0 of one that is not there."""
    with suppress(FileNotFoundError, node_files.NodeFileInTheWay), node_files.opened(file) as opened:
        return os.fstat(opened.fileno()).st_size
    return 0
