# SPDX-License-Identifier: GPL-2.0-or-later
"""How many runs a campaign has, and what they would take: as those took that are over, or a few that are computed for this."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Final

from campaigns import trial
from campaigns.campaign import Campaign
from campaigns.checking import Checked
from campaigns.description import TOPOLOGY
from campaigns.design import point_key
from campaigns.lab_runs import sets_of_cores
from contracts.campaign import INDEX_FILE, RUNS_FOLDER, CampaignRun, campaign_folder
from contracts.run_files import read_lines
from results.retention import size_of
from system.cores import available_cores
from testbed.documents.campaign import Amount, CampaignCluster, CampaignDryRun, CampaignParameter, Count
from testbed.labs.deployment import Progress

#: So many folders of runs are measured: the last ones.
_MEASURED: Final = 50
_UNKNOWN: Final[Amount] = {"least": None, "most": None}


@dataclass(frozen=True)
class _Each:
    """What a run takes on average: of the machine's time, and of the disk in bytes. None: not known."""

    takes_s: Amount
    size: float | None
    #: What it follows from.
    notes: Sequence[str]


def workers(checked: Checked) -> int:
    """How many runs are made at the same time: a computed run takes a core, a lab a set of them."""
    return len(available_cores() if checked.campaign.file.virtual else sets_of_cores(checked.cores_needed()))


def estimate(checked: Checked, results: Path, progress: Progress, cluster: CampaignCluster | None = None) -> CampaignDryRun:
    """`results` may have runs of the campaign already; the cluster makes the others, or this machine where there is none.

    Where there is no run yet, some are computed here to see (`campaigns.trial`). Raises DamagedRun, and what a trial raises.
    """
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
    together = workers(checked) if cluster is None else _accepted(cluster)
    each = _from_finished(finished, folder) if finished else _tried(checked, progress) if file.virtual else _from_length(length)
    takes = _times(left, each.takes_s, together)
    free = shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.exists())).free
    disk = _times(left, {"least": each.size, "most": each.size}, 1)
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
        "cluster": cluster,
        "takes_s": takes,
        "ends": {"least": _from_now(takes["least"]), "most": _from_now(takes["most"])},
        "disk_bytes": disk,
        "disk_free_bytes": free,
        "notes": [*checked.notes(), *each.notes, *_notes(campaign, disk, free)],
    }


def _accepted(cluster: CampaignCluster) -> int:
    return sum(worker["refused"] is None for worker in cluster["workers"])


def _from_finished(finished: Sequence[CampaignRun], folder: Path) -> _Each:
    again, each_s = sum(run["attempt"] - 1 for run in finished), fmean(run["took_s"] for run in finished)
    own_s = fmean(run["took_s"] * run["attempt"] for run in finished)
    folders = [own for run in finished[-_MEASURED:] if (own := folder / RUNS_FOLDER / run["name"]).is_dir()]
    note = (
        f"the time is that of {len(finished)} runs that are over, {each_s:.1f} s each on average; "
        f"runs that were made again for one of them: {again}"
    )
    return _Each({"least": own_s, "most": own_s}, fmean(map(size_of, folders)) if folders else None, [note])


def _from_length(length: Amount) -> _Each:
    note = "the time is that of the traffic alone; what bringing labs up and analyses take is known after the first run"
    return _Each({"least": length["least"], "most": None}, None, [note])


def _tried(checked: Checked, progress: Progress) -> _Each:
    tried = trial.attempt(checked.campaign, [point for point in checked.points if point.number in checked.plans], progress)
    failed = [
        f"a run with {run.point.words or 'the topology as it is'} was computed here for this, and fails: {run.done.failure}"
        for run in tried.over
        if run.done.failure is not None
    ]
    if not tried.over:
        note = f"runs were computed here for this, and none was over after {tried.waited_s:.0f} s; the first runs tell more"
        return _Each({"least": tried.waited_s, "most": None}, None, [note])
    took_s = [run.done.took_s for run in tried.over]
    size = fmean(run.size for run in tried.over)
    if ended := tried.begun - len(took_s):
        least_s = fmean([*took_s, *[tried.waited_s] * ended])
        note = f"{tried.begun} runs were computed here for this; {ended} were ended after {tried.waited_s:.0f} s, so it is longer"
        return _Each({"least": least_s, "most": None}, size, [note, *failed])
    note = f"the time is that of {tried.begun} runs that were computed here for this, {fmean(took_s):.1f} s each, and not kept"
    return _Each({"least": fmean(took_s), "most": fmean(took_s)}, size, [note, *failed])


def _times(left: Count, each: Amount, together: int) -> Amount:
    least, most = each["least"], each["most"]
    return {
        "least": None if least is None else left["least"] * least / together,
        "most": None if most is None else left["most"] * most / together,
    }


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


def _notes(campaign: Campaign, disk: Amount, free: int) -> Iterator[str]:
    if disk["most"] is None:
        yield "how much a run's folder takes on the disk is known after the first run"
    elif disk["most"] > free:
        yield "the disk has not that much free; say keep: figures, or --results with a folder on another disk"
    if not campaign.file.virtual and campaign.file.retry:
        yield f"degraded and invalid runs are made again, each {campaign.file.retry} times at most; that comes on top"
