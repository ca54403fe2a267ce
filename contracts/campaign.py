# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a campaign: `campaign.yaml` as it ran, `runs.jsonl` with a line for each run that is over, and `runs/NAME/`.

A run's folder is that of any run (docs/architecture.md, "Run folder").
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from typing_extensions import TypedDict

#: The campaign's file as it was when its runs began.
CAMPAIGN_FILE: Final = "campaign.yaml"
#: The index: a `CampaignRun` a line, appended with one write. An incomplete last line is ignored.
INDEX_FILE: Final = "runs.jsonl"
#: The runs' folders, by their names.
RUNS_FOLDER: Final = "runs"


def campaign_folder(results: Path, name: str) -> Path:
    """Of a campaign, in a folder of results: beside `runs`."""
    return results / "campaigns" / name


class CampaignRun(TypedDict):
    """A run that is over. Of several lines with the same name the last one counts."""

    #: Of its folder: the numbers of its point and its repetition, as 0003-02.
    name: str
    #: Which combination of parameters, from 0.
    point: int
    repetition: int
    seed: int
    #: The topology file's name, without its suffix.
    topology: str
    #: Values by the names of the campaign's parameters, as its file writes them.
    parameters: dict[str, Any]
    clock: Literal["real", "virtual"]
    #: Its verdict.
    status: Literal["valid", "degraded", "invalid"]
    #: The first is 1; more where a degraded or invalid run was made again.
    attempt: int
    #: Of all that the run follows from: the same digest, in virtual time, is the same run.
    digest: str
    took_s: float
    #: What ended it before its time; null when nothing did.
    failure: str | None
