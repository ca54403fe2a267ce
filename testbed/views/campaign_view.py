# SPDX-License-Identifier: GPL-2.0-or-later
"""How campaigns look on the terminal."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.quantities import SIZE, TIME
from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.documents.campaign import (
        Amount,
        CampaignDryRun,
        CampaignOutcome,
        CampaignStanding,
        CampaignWorker,
        Compare,
        ComparedMean,
        Count,
    )

#: Of a parameter so many values are shown.
_SHOWN = 8
#: The report has more.
_MEANS_SHOWN, _DIFFERENCES_SHOWN = 60, 30
#: Where each step is a line of its own.
_BETWEEN_LINES_S = 10.0


def show_check(file: Path, points: int, notes: Sequence[str], as_json: bool) -> None:
    document = kinds.CHECK.of({"file": str(file), "sound": True, "machines": {}, "notes": list(notes)})
    drawing.show(as_json, document, f"{file} is sound: a campaign of {drawing.counted(points, 'point')}", *drawing.notes(notes))


def show_dry_run(dry_run: CampaignDryRun, as_json: bool) -> None:
    if as_json:
        return drawing.print_json(kinds.CAMPAIGN_DRY_RUN.of(dry_run))
    rows = (
        (parameter["name"], ", ".join(parameter["paths"]), _values(parameter["values"])) for parameter in dry_run["parameters"]
    )
    drawing.print_table(f"campaign {dry_run['campaign']}", ("parameter", "in the topology", "values"), rows)
    if (cluster := dry_run["cluster"]) is not None:
        drawing.print_table(f"cluster {cluster['scheduler']}", ("machine", "workers", "make runs"), _machines(cluster["workers"]))
    drawing.say(*_lines(dry_run), *drawing.notes(dry_run["notes"]))


def _machines(workers: Sequence[CampaignWorker]) -> Iterator[tuple[str, str, str]]:
    """A line for all workers of a machine that are judged alike."""
    judged = Counter((worker["address"].rpartition(":")[0], worker["refused"] or "") for worker in workers)
    for (machine, why), count in judged.items():
        yield machine, str(count), f"no: {why}" if why else "yes"


def telling(progress: Callable[[str], None]) -> Callable[[CampaignStanding], None]:
    """Tells how far a campaign is: at the beginning, at the end, and now and then."""
    told_s = -math.inf

    def tell(standing: CampaignStanding) -> None:
        nonlocal told_s
        now_s = time.monotonic()
        if sys.stderr.isatty() or now_s - told_s >= _BETWEEN_LINES_S or standing["over"] == standing["runs"]["most"]:
            told_s = now_s
            progress(_standing(standing))

    return tell


def _standing(standing: CampaignStanding) -> str:
    known = standing["left_s"]["least"] is not None
    found = f", {standing['found']} of them were there" if standing["found"] else ""
    left = f", {_amount(standing['left_s'], _time)} left" if known and standing["over"] < standing["runs"]["most"] else ""
    widest = f"; {standing['widest']}" if standing["widest"] else ""
    return f"{standing['over']} of {_count(standing['runs'], 'run')} are over{found}{left}{widest}"


def show_carried(outcome: CampaignOutcome, as_json: bool) -> int:
    """Prints what came of a campaign; returns the exit status that belongs to it."""
    counts = outcome["runs"]
    told = {"valid": counts["valid"], "degraded": counts["degraded"], "invalid": counts["invalid"]}
    if as_json:
        drawing.print_json(kinds.CAMPAIGN.of(outcome))
    else:
        verdicts = ", ".join(f"{count} {status}" for status, count in told.items() if count)
        made = f"{outcome['made']} of them made now" if outcome["made"] < sum(told.values()) else "all made now"
        drawing.say(
            f"campaign {outcome['campaign']}: {drawing.counted(sum(told.values()), 'run')}: {verdicts}; {made}",
            *drawing.notes(outcome["notes"]),
            f"runs: {outcome['folder']}",
            *([f"report: {outcome['report']}"] if outcome["report"] else []),
        )
    return 4 if counts["invalid"] else 3 if counts["degraded"] else 0


def show_compared(compared: Compare, as_json: bool) -> None:
    """Prints what runs say: of many points only that there is a report."""
    if as_json:
        return drawing.print_json(kinds.COMPARE.of(compared))
    where = {point["point"]: _parameters(point["parameters"]) for point in compared["points"]}
    if len(compared["means"]) <= _MEANS_SHOWN:
        rows = ((mean["measure"], where[mean["point"]], str(mean["count"]), *_estimate(mean)) for mean in compared["means"])
        drawing.print_table("means", ("measure", "point", "runs", "mean", "95 % interval"), rows)
    if len(compared["differences"]) <= _DIFFERENCES_SHOWN:
        drawing.print_table(
            "differences",
            ("measure", "point", "compared with", "pairs", "difference", "95 % interval", "result"),
            (
                (
                    *(one["measure"], where[one["point"]], where[one["base"]], str(one["pairs"]), f"{one['difference']:+.4g}"),
                    *(_interval(one["low"], one["high"]), one["verdict"] or "not known"),
                )
                for one in compared["differences"]
            ),
        )
    runs = compared["runs"]
    left_out = {"invalid": runs["invalid"], "unreadable": runs["unreadable"]}
    beside = "".join(f", {count} {why} left out" for why, count in left_out.items() if count)
    counted = drawing.counted(runs["valid"] + runs["degraded"], "run")
    degraded = f" ({runs['degraded']} of them degraded)" if runs["degraded"] else ""
    drawing.say(
        f"{counted}{degraded} at {drawing.counted(len(compared['points']), 'point')}{beside}",
        *drawing.notes(compared["notes"]),
        f"report: {compared['report']}",
        *([f"{len(compared['files']) - 1} figures and tables are beside it"] if len(compared["files"]) > 1 else []),
    )


def _parameters(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {'–' if value is None else value}" for name, value in values.items()) or "all"


def _estimate(mean: ComparedMean) -> tuple[str, str]:
    return f"{mean['mean']:.4g}", _interval(mean["low"], mean["high"])


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.4g} … {high:.4g}"


def _lines(dry_run: CampaignDryRun) -> Iterator[str]:
    finished = f", {dry_run['finished']} of them over" if dry_run["finished"] else ""
    yield (
        f"{drawing.counted(len(dry_run['points']), 'point')}, {_count(dry_run['repetitions'], 'repetition')} of each: "
        f"{_count(dry_run['runs'], 'run')} in {dry_run['clock']} time{finished}"
    )
    yield f"each {_amount(dry_run['length_s'], TIME.write)} of the network's time, {dry_run['workers']} at a time"
    ends = [end for end in (dry_run["ends"]["least"], dry_run["ends"]["most"]) if end is not None]
    until = f", until {' or '.join(dict.fromkeys(ends))}" if ends else ""
    yield f"takes {_amount(dry_run['takes_s'], _time)}{until}"
    yield f"disk: {_amount(dry_run['disk_bytes'], _size)}; {_size(dry_run['disk_free_bytes'])} are free"


def _values(values: Sequence[object]) -> str:
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown}, … ({len(values)})"


def _count(count: Count, noun: str) -> str:
    if count["least"] == count["most"]:
        return drawing.counted(count["least"], noun)
    return f"{count['least']} to {drawing.counted(count['most'], noun)}"


def _amount(amount: Amount, write: Callable[[float], str]) -> str:
    least, most = amount["least"], amount["most"]
    if least is None:
        return "not known yet"
    if most is None:
        return f"{write(least)} at least"
    return write(least) if least == most else f"{write(least)} to {write(most)}"


def _time(seconds: float) -> str:
    """By a clock: 3 d 4 h 10 min."""
    minutes = round(seconds / 60)
    days, hours = minutes // 1440, minutes % 1440 // 60
    parts = ((days, "d"), (hours, "h"), (minutes % 60, "min"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or f"{seconds:.0f} s"


def _size(size: float) -> str:
    return SIZE.write(float(f"{size:.2g}"))
