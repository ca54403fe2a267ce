# SPDX-License-Identifier: GPL-2.0-or-later
"""How results look on the terminal: of runs, benches, and the examination of the host."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from results.metrics_document import Metrics
    from testbed.documents.bench import Bench
    from testbed.documents.host import Doctor

#: Exit statuses of a run (docs/architecture.md).
_VERDICTS = {"valid": 0, "degraded": 3, "invalid": 4}
_RUN = {"real": "the run is ", "virtual": "the run, in virtual time, is "}


def show_outcome(folder: Path, metrics: Metrics, as_json: bool) -> int:
    """Prints a run's verdict and where its report is; returns the exit status that belongs to it."""
    verdict = metrics["verdict"]
    if as_json:
        drawing.print_json(kinds.RUN.of({"folder": str(folder), "metrics": metrics}))
    else:
        status = verdict["status"]
        drawing.console().print(drawing.coloured(_RUN[metrics["clock"]], (status, drawing.COLOURS[status])))
        drawing.say(
            *(f"  - {reason}" for reason in verdict["reasons"]),
            *(f"would help: {hint}" for hint in verdict["advice"]),
            *drawing.notes(verdict["notes"]),
            f"report: {folder / 'report.html'}",
        )
    return _VERDICTS[verdict["status"]]


def show_bench(tables: str, measured: Bench, file: Path, as_json: bool) -> int:
    """Prints what was measured and where it is kept; returns the exit status that belongs to it."""
    if as_json:
        drawing.print_json(kinds.BENCH.of(measured))
    else:
        from rich.markdown import Markdown

        drawing.console().print(Markdown(tables))
        drawing.say(f"kept: {file} and, as these tables, {file.with_suffix('.md')}")
    return 1 if measured["failures"] else 0


def show_examination(examined: Doctor, as_json: bool) -> int:
    """Prints what this host can do; returns the exit status that belongs to it."""
    if as_json:
        drawing.print_json(kinds.DOCTOR.of(examined))
    else:
        _draw("this host", examined)
        if examined["able"]:
            drawing.say("labs can run here")
        else:
            _say_unable("labs cannot run here", examined)
    return 0 if examined["able"] else 1


def show_machines(machines: dict[str, Doctor], as_json: bool) -> int:
    """The same of the machines of an inventory, by their names."""
    unable = {name: examined for name, examined in machines.items() if not examined["able"]}
    if as_json:
        drawing.print_json(kinds.MACHINES.of({"able": not unable, "machines": machines}))
    else:
        for name, examined in machines.items():
            _draw(name, examined)
        for name, examined in unable.items():
            _say_unable(f"no part of a lab can be on {name}", examined)
    return 1 if unable else 0


def _draw(title: str, examined: Doctor) -> None:
    drawing.print_table(
        title,
        ("what", "there", "found", "lost without it", "remedy"),
        (
            (
                finding.name,
                drawing.plain(finding.there, drawing.COLOURS[finding.there]),
                finding.found,
                *(("", "") if finding.there == "yes" else (finding.lost, finding.remedy)),
            )
            for finding in examined["findings"]
        ),
    )


def _say_unable(what: str, examined: Doctor) -> None:
    missing = ", ".join(finding.name for finding in examined["findings"] if finding.needed and finding.there == "no")
    drawing.console().print(drawing.coloured((what, "red"), f": {missing}"))
