# SPDX-License-Identifier: GPL-2.0-or-later
"""How campaigns look on the terminal, before they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.quantities import SIZE, TIME
from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.documents.campaign import Amount, CampaignDryRun, Count

#: Of a parameter so many values are shown.
_SHOWN = 8


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
    drawing.say(*_lines(dry_run), *drawing.notes(dry_run["notes"]))


def _lines(dry_run: CampaignDryRun) -> Iterator[str]:
    finished = f", {dry_run['finished']} of them over" if dry_run["finished"] else ""
    yield (
        f"{drawing.counted(len(dry_run['points']), 'point')}, {_count(dry_run['repetitions'])} repetitions of each: "
        f"{_count(dry_run['runs'])} runs in {dry_run['clock']} time{finished}"
    )
    yield f"each {_amount(dry_run['length_s'], TIME.write)} of the network's time, {dry_run['workers']} at a time"
    ends = [end for end in (dry_run["ends"]["least"], dry_run["ends"]["most"]) if end is not None]
    until = f", until {' or '.join(dict.fromkeys(ends))}" if ends else ""
    yield f"takes {_amount(dry_run['takes_s'], _time)}{until}"
    yield f"disk: {_amount(dry_run['disk_bytes'], _size)}; {_size(dry_run['disk_free_bytes'])} are free"


def _values(values: Sequence[object]) -> str:
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown}, … ({len(values)})"


def _count(count: Count) -> str:
    return str(count["least"]) if count["least"] == count["most"] else f"{count['least']} to {count['most']}"


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
