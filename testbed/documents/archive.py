# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives of runs, and runs that are made again: `export`, `import`, `run --again`, `campaign --again`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from results.metrics_document import Status


class Export(TypedDict):
    """An archive that was made."""

    file: str
    kind: Literal["run", "campaign"]
    #: Of the run's or campaign's folder.
    name: str
    runs: int
    #: In the folder, and beside it.
    files: int
    content_bytes: int
    archive_bytes: int
    notes: list[str]


class Import(TypedDict):
    """An archive that was taken into the results."""

    folder: str
    kind: Literal["run", "campaign"]
    name: str
    runs: int
    files: int
    content_bytes: int
    #: Commits of the NetBoxIT that made the runs.
    made_by: list[str]
    notes: list[str]


class RunAgain(TypedDict):
    """A run that was made again."""

    #: The run that was repeated.
    again: str
    #: The new one.
    folder: str
    clock: Literal["real", "virtual"]
    #: The verdict of the run that was repeated; null: it has none.
    before: Status | None
    status: Status
    #: Whether all tables are the same. Null in real time, in which no two runs are.
    same: bool | None
    #: Tables whose files are the same to the bit.
    identical: list[str]
    #: Tables with the same values in files that were written in another way.
    equal: list[str]
    #: In words, for each table that is different, the first row that is.
    differences: list[str]
    notes: list[str]


class RunDiffers(TypedDict):
    """A run of a campaign that is not the same when it is made again."""

    run: str
    #: The new one, which is kept.
    folder: str
    differences: list[str]


class CampaignAgain(TypedDict):
    """A campaign all of whose runs were made again."""

    again: str
    #: How many.
    runs: int
    #: Runs all of whose tables are the same to the bit.
    identical: int
    #: Runs with the same values, in a table that was written in another way.
    equal: int
    different: list[RunDiffers]
    notes: list[str]
