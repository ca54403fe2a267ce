# SPDX-License-Identifier: GPL-2.0-or-later
"""What users' own programs did in a run. What they sent is told as conversations (results.conversations)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import TypedDict

from applications.command.application import CommandFacts
from contracts.flow import ApplicationRecord
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, MeasuredValues
from results.measure import Measure

#: What a user's own program did (`command`).
Program = TypedDict(
    "Program",
    {
        "traffic": str,
        "from": str,
        "to": str,
        "run": str,
        "server": str | None,
        "took_s": float | None,
        "absent": list[str],
        #: Why `took_s` is null though it ended by itself.
        "reason": str | None,
    },
)


class ProgramsPart(TypedDict):
    """What the template of the report is given."""

    programs: Sequence[Program]


def judge(evidence: Evidence) -> Findings:
    """Raises DamagedRun."""
    programs = [_program(evidence, record) for record in evidence.records]
    return Findings(
        programs,
        drawn=partial(ProgramsPart, programs=programs),
        measured=[MeasuredValues({"program_took_s": program["took_s"]}, program["traffic"]) for program in programs],
    )


def _program(evidence: Evidence, record: ApplicationRecord) -> Program:
    entry, facts = evidence.planned[record.name], evidence.facts(record, CommandFacts)
    told: Program = {"traffic": record.name, "from": entry.source, "to": entry.destination, **facts, "reason": None}
    if facts["took_s"] is not None and evidence.warm_up_of(record):
        return {**told, "took_s": None, "reason": "it began in the warm-up, so how long it took does not count"}
    return told


ANALYSIS: Final = ApplicationAnalysis(
    key="programs",
    entry=Program,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    beside_flows=True,
    measures=(Measure("program_took_s", "s", "how long the program ran", of="traffic"),),
)
