# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m reproductions STUDY: runs a study's campaigns, and sets ours beside what its sources published.

The same command goes on where it was ended. Exit status 0 when all came as it is known, 1 when not, 2 for bad input.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from reproductions import document
from reproductions.management import MANAGEMENT
from reproductions.queues import QUEUES
from reproductions.services import SERVICES
from testbed.run import RESULTS
from testbed.views import campaign_view, console, drawing

STUDIES = {study.name: study for study in (QUEUES, MANAGEMENT, SERVICES)}

app = typer.Typer(add_completion=False)


@app.command()
def main(
    name: Annotated[Literal["queues", "management", "services"], typer.Argument(help="Which study.")],
    full: Annotated[
        bool, typer.Option("--full", help="All experiments and repetitions, in place of those of the ordinary run.")
    ] = False,
    only: Annotated[str | None, typer.Option("--only", metavar="ID", help="One experiment, by its id.")] = None,
    write: Annotated[
        bool,
        typer.Option("--document", help="Write what was found into docs/, with its record; of the others stays what is there."),
    ] = False,
    results: Annotated[Path, typer.Option("--results", metavar="FOLDER", help="Where `campaigns/` are.")] = RESULTS,
) -> None:
    """Run a study and print ours beside the published figures."""
    wanted = STUDIES[name]
    experiments = [one for one in wanted.experiments if one.id == only or (only is None and (full or not one.is_only_full))]
    if not experiments:
        raise typer.BadParameter(f"--only: there is no {only}; there are {', '.join(one.id for one in wanted.experiments)}")
    with console.progress() as progress:
        telling = campaign_view.telling(progress)
        carried = {one: one.carry(results.absolute(), telling, full=full) for one in experiments}
    document.show(carried)
    if write:
        known = {**document.kept(wanted), **carried}
        everything = {one: known[one] for one in wanted.experiments if one in known}
        document.write_down(wanted, everything)
        drawing.say(f"written: {document.DOCUMENT}, {document.keep(wanted, everything)}")
    surprises = [one for compared in carried.values() for one in compared.comparisons if not one.is_as_known]
    for surprise in surprises:
        words = "reproduced, but known not to be" if surprise.reason else "not reproduced"
        drawing.say(f"{words}: {surprise.what}", file=sys.stderr)
    raise typer.Exit(1 if surprises else 0)


if __name__ == "__main__":
    sys.exit(console.guarded(app))
