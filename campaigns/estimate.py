# SPDX-License-Identifier: GPL-2.0-or-later
"""How many runs a campaign has, and what they would take: as those took that are over. What nobody has measured is not told."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Final

from campaigns.campaign import Campaign
from campaigns.checking import Checked
from campaigns.description import TOPOLOGY
from campaigns.design import point_key
from contracts.campaign import INDEX_FILE, RUNS_FOLDER, CampaignRun, campaign_folder
from contracts.run_files import read_lines
from system.cores import available_cores
from testbed.documents.campaign import Amount, CampaignDryRun, CampaignParameter, Count

#: So many folders of runs are measured: the last ones.
_MEASURED: Final = 50
_UNKNOWN: Final[Amount] = {"least": None, "most": None}


def workers(campaign: Campaign) -> int:
    """How many runs are made at the same time: a computed run takes a core; labs would disturb each other's time."""
    return len(available_cores()) if campaign.file.virtual else 1


def estimate(checked: Checked, results: Path) -> CampaignDryRun:
    """`results` is the folder of results, in which the campaign may have runs already. Raises DamagedRun."""
    campaign = checked.campaign
    file, folder = campaign.file, campaign_folder(results, campaign.name)
    keys = {point.key for point in checked.points}
    index = {run["name"]: run for run in read_lines(folder / INDEX_FILE, CampaignRun)}
    finished = [run for run in index.values() if point_key(run["parameters"]) in keys]
    repetitions: Count = {"least": file.repetitions.at_least, "most": file.repetitions.at_most}
    runs: Count = {
        "least": len(checked.points) * repetitions["least"],
        "most": len(checked.points) * repetitions["most"],
    }
    left: Count = {"least": max(0, runs["least"] - len(finished)), "most": max(0, runs["most"] - len(finished))}
    length: Amount = {"least": checked.shortest_s(), "most": checked.longest_s()}
    together = workers(campaign)
    takes = _takes(campaign, finished, left, length, together)
    free = shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.exists())).free
    sizes = [size for run in finished[-_MEASURED:] if (size := _size(folder / RUNS_FOLDER / run["name"])) is not None]
    disk = _times(left, fmean(sizes)) if sizes else _UNKNOWN
    return {
        "file": str(campaign.path),
        "campaign": campaign.name,
        "clock": "virtual" if file.virtual else "real",
        "parameters": list(_parameters(checked)),
        "points": [{"point": point.number, "parameters": dict(point.parameters)} for point in checked.points],
        "repetitions": repetitions,
        "runs": runs,
        "finished": len(finished),
        "length_s": length,
        "workers": together,
        "takes_s": takes,
        "ends": {"least": _from_now(takes["least"]), "most": _from_now(takes["most"])},
        "disk_bytes": disk,
        "disk_free_bytes": free,
        "notes": [*checked.notes(), *_notes(campaign, finished, disk, free)],
    }


def _takes(campaign: Campaign, finished: Sequence[CampaignRun], left: Count, length: Amount, together: int) -> Amount:
    if finished:
        return _times(left, fmean(run["took_s"] * run["attempt"] for run in finished) / together)
    if campaign.file.virtual:
        return _UNKNOWN
    return {"least": left["least"] * (length["least"] or 0.0) / together, "most": None}


def _times(left: Count, each: float) -> Amount:
    return {"least": left["least"] * each, "most": left["most"] * each}


def _size(folder: Path) -> int | None:
    """Of a folder's files in bytes; None where there is none."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else None


def _from_now(takes_s: float | None) -> str | None:
    try:
        return None if takes_s is None else (datetime.now(UTC) + timedelta(seconds=takes_s)).isoformat(timespec="seconds")
    except OverflowError:  # after the year 9999
        return None


def _parameters(checked: Checked) -> Iterator[CampaignParameter]:
    file = checked.campaign.file
    for name in file.names():
        values = dict.fromkeys(point.parameters[name] for point in checked.points)
        known = [] if name == TOPOLOGY else [file.parameters[name].paths(topology) for topology in file.topologies or ("",)]
        yield {"name": name, "paths": list(dict.fromkeys(path for paths in known for path in paths)), "values": list(values)}


def _notes(campaign: Campaign, finished: Sequence[CampaignRun], disk: Amount, free: int) -> Iterator[str]:
    if finished:
        again, each_s = sum(run["attempt"] - 1 for run in finished), fmean(run["took_s"] for run in finished)
        yield (
            f"the time is that of {len(finished)} runs that are over, {each_s:.1f} s each on average; "
            f"runs that were made again for one of them: {again}"
        )
    elif campaign.file.virtual:
        yield "how fast this machine computes the network is known after the first run; then --dry-run says when all are over"
    else:
        yield "the time is that of the traffic alone; what bringing labs up and analyses take is known after the first run"
    if disk["most"] is None:
        yield "how much a run's folder takes on the disk is known after the first run"
    elif disk["most"] > free:
        yield "the disk has not that much free; say keep: figures, or --results with a folder on another disk"
    if not campaign.file.virtual and campaign.file.retry:
        yield f"degraded and invalid runs are made again, each {campaign.file.retry} times at most; that comes on top"
