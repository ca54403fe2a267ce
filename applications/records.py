# SPDX-License-Identifier: GPL-2.0-or-later
"""What applications record of themselves, one JSON object a line: `record` says what kind of line it is, `flow` of which entry.

In real time a program writes a file in its application's folder; in virtual time a host writes the same into its journal.
"""

from __future__ import annotations

from pathlib import Path

from contracts.flow import ApplicationRecord
from contracts.run_files import DamagedRun, read_lines
from contracts.run_folder import JOURNAL_FILE
from contracts.shapes import OtherShape, Shape, shaped
from results import journal
from results.application_analysis import Evidence


def place(evidence: Evidence, record: ApplicationRecord, file: str | None, host: str) -> Path:
    """Where those of an entry are: in its application's `file`, or in the journal of the host where there is none."""
    if file is None:
        return evidence.run / "nodes" / host / JOURNAL_FILE
    return evidence.run / evidence.file(record, file)


def read(evidence: Evidence, record: ApplicationRecord, file: str | None, host: str, shape: type[Shape]) -> list[Shape]:
    """All of an entry, in order; see `place`. Raises DamagedRun."""
    path = place(evidence, record, file, host)
    if file is not None:
        return list(read_lines(path, shape))
    found = journal.read(path)
    lines = [] if found is None else [line for line in found.records if line.get("flow") == record.name]
    try:
        return [shaped(line, shape) for line in lines]
    except OtherShape as error:
        raise DamagedRun(path, str(error)) from None
