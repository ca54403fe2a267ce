# SPDX-License-Identifier: GPL-2.0-or-later
"""How results look on the terminal: of runs, benches, and the examination of the host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.probes.doctor import Examination

#: Exit statuses of a run (docs/architecture.md).
_VERDICTS = {"valid": 0, "degraded": 3, "invalid": 4}


def show_outcome(folder: Path, metrics: Mapping[str, Any], as_json: bool) -> int:
    """Prints a run's verdict and where its report is; returns the exit status that belongs to it."""
    verdict = metrics["verdict"]
    if as_json:
        drawing.print_json({"folder": str(folder), "metrics": metrics})
    else:
        drawing.console().print(f"the run is [{drawing.COLOURS[verdict['status']]}]{verdict['status']}[/]")
        for reason in verdict["reasons"]:
            print(f"  - {reason}")
        print(f"report: {folder / 'report.html'}")
    return _VERDICTS[verdict["status"]]


def show_bench(tables: str, measured: Mapping[str, Any], file: Path, as_json: bool) -> int:
    """Prints what was measured and where it is kept; returns the exit status that belongs to it."""
    if as_json:
        drawing.print_json(measured)
    else:
        from rich.markdown import Markdown

        drawing.console().print(Markdown(tables))
        drawing.console().print(f"kept: {file} and, as these tables, {file.with_suffix('.md')}", markup=False)
    return 1 if measured["failures"] else 0


def show_examination(examination: Examination, as_json: bool) -> None:
    if as_json:
        return drawing.print_json(examination.to_json())
    _draw("this host", examination)
    able = examination.able
    drawing.console().print("labs can run here" if able else f"[red]labs cannot run here[/red]: {_missing(examination)}")


def show_machines(examined: Mapping[str, Examination], as_json: bool) -> None:
    """Of those of an inventory, by their names."""
    if as_json:
        able = all(one.able for one in examined.values())
        return drawing.print_json({"able": able, "machines": {name: one.to_json() for name, one in examined.items()}})
    for name, one in examined.items():
        _draw(name, one)
    for name, one in examined.items():
        if not one.able:
            drawing.console().print(f"[red]no part of a lab can be on {name}[/red]: {_missing(one)}")


def _draw(title: str, examination: Examination) -> None:
    from rich.markup import escape

    table = drawing.table(title, "what", "there", "found", "lost without it", "remedy")
    for finding in examination.findings:
        lost, remedy = ("", "") if finding.there == "yes" else (finding.lost, finding.remedy)
        there = f"[{drawing.COLOURS[finding.there]}]{finding.there}[/]"
        table.add_row(finding.name, there, *map(escape, (finding.found, lost, remedy)))
    drawing.console().print(table)


def _missing(examination: Examination) -> str:
    return ", ".join(finding.name for finding in examination.findings if finding.needed and finding.there == "no")
