# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of a run over several, and their clocks: what each machine's files say becomes the controller's time.

Each machine's clock was compared with the controller's before and after the traffic. Between the two readings its offset is
taken to go along a line, as it does when both clocks run evenly; outside of them, on. With one reading it is taken to stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from contracts.machines import ClockReadings, MachinesRecord
from contracts.plan import Plan
from contracts.run_records import LabRecord
from results.journal import Journal


@dataclass(frozen=True)
class Clock:
    """One machine's. It showed `offset_ns` more than the controller's at `at_ns` (the controller's time), and gains on it."""

    offset_ns: int = 0
    at_ns: int = 0
    #: By how much it runs faster: what it gains in a second, in seconds.
    drift: float = 0.0
    #: The offset is no further off than this at the readings; None when the clock was never compared.
    error_ns: int | None = 0

    @classmethod
    def of(cls, record: ClockReadings) -> Self:
        """By the readings of hosts.json, `before` and `after`; either may be null."""
        readings = [reading for reading in (record.get("before"), record.get("after")) if reading]
        if not readings:
            return cls(error_ns=None)
        first, last = readings[0], readings[-1]
        elapsed = last["at_ns"] - first["at_ns"]
        drift = (last["offset_ns"] - first["offset_ns"]) / elapsed if elapsed > 0 else 0.0
        return cls(first["offset_ns"], first["at_ns"], drift, max(reading["error_ns"] for reading in readings))

    @property
    def own(self) -> bool:
        """It needs no correction: it is the controller's, or nothing is known of it."""
        return self.offset_ns == 0 and self.drift == 0.0

    def here(self, there_ns: int) -> int:
        """The controller's time when this clock showed that."""
        elapsed = there_ns - self.offset_ns - self.at_ns
        return self.at_ns + elapsed - round(elapsed * self._gained)

    def corrected(self, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Rows whose columns of this clock's times are the controller's. 0 is no time, and stays."""
        if self.own:
            return rows
        here = {name: pl.when(pl.col(name) == 0).then(0).otherwise(self._here(pl.col(name))) for name in columns}
        return rows.with_columns(**here)

    def _here(self, there: pl.Expr) -> pl.Expr:
        elapsed = there - (self.offset_ns + self.at_ns)
        return elapsed + self.at_ns - (elapsed.cast(pl.Float64) * self._gained).round().cast(pl.Int64)

    @property
    def _gained(self) -> float:
        """Of a time by this clock, the share that it gained."""
        return self.drift / (1.0 + self.drift)


_NO_MACHINES: Final[MachinesRecord] = {"here": "", "hosts": {}, "wires": []}


@dataclass(frozen=True)
class Machines:
    """Those of a run; none in a run on one machine, whose times are all the controller's."""

    #: hosts.json; it names no machine of a run on one, and where a run that failed left none.
    record: MachinesRecord
    #: The machine of each node, by name.
    places: Mapping[str, str]
    #: When the network's time began on each other machine, by its own clock.
    began_ns: Mapping[str, int]

    @classmethod
    def of(cls, record: MachinesRecord | None, plan: Plan, lab: LabRecord) -> Self:
        """From hosts.json, plan.json and lab.json."""
        return cls(
            record or _NO_MACHINES,
            places={node.name: node.host for node in plan.nodes},
            began_ns={
                name: began_ns for name, host_record in lab.get("hosts", {}).items() if (began_ns := host_record.get("began_ns"))
            },
        )

    @property
    def several(self) -> bool:
        return bool(self.record["here"])

    def clock(self, machine: str) -> Clock:
        if not self.several or machine in (self.record["here"], ""):
            return Clock()
        return Clock.of(self.record["hosts"][machine]["clock"] if machine in self.record["hosts"] else {})

    def clock_of(self, node: str) -> Clock:
        """The clock by which the files of a node were written."""
        return self.clock(self.places.get(node, ""))

    def error_ns(self, node: str, other: str) -> int | None:
        """What a time from one node to the other may be wrong by because they have two clocks; None when nobody knows."""
        if self.places.get(node) == self.places.get(other):
            return 0
        errors = (self.clock_of(node).error_ns, self.clock_of(other).error_ns)
        return None if errors[0] is None or errors[1] is None else errors[0] + errors[1]

    def run_s(self, node: str | None, at_s: float, began_ns: int) -> float:
        """A time of the run that the machine of a node told by its own clock and its own beginning."""
        begun = self.began_ns.get(self.places.get(node or "", ""))
        if begun is None or node is None:
            return at_s
        return (self.clock_of(node).here(begun + round(at_s * 1e9)) - began_ns) / 1e9

    def journal(self, node: str, journal: Journal) -> Journal:
        """A node's journal by the controller's clock."""
        clock = self.clock_of(node)
        if clock.own:
            return journal
        began_ns = clock.here(journal.began_ns)

        def since(at_s: float) -> float:
            return (clock.here(journal.began_ns + round(at_s * 1e9)) - began_ns) / 1e9

        return Journal(
            began_ns,
            events=[event | {"at_s": since(event["at_s"])} for event in journal.events],
            samples=[(since(at_s), sample) for at_s, sample in journal.samples],
        )


#: All times of the run are by one clock.
ONE_MACHINE: Final = Machines(_NO_MACHINES, {}, {})
