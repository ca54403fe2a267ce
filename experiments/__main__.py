# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m experiments e6: runs an experiment of the thesis in real and in virtual time, and sets ours beside its figures.

Exit status 0 when the expected outcome came, and what is known to differ from the thesis differed; 1 when not; 2 for bad input.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from experiments import document, e4, e5, e6
from experiments.carrying import Carried, in_real_time
from testbed.run import RESULTS
from testbed.views import console, drawing

EXPERIMENTS = {"e4": e4.run, "e5": e5.run, "e6": e6.run}

app = typer.Typer(add_completion=False)


@app.command()
def main(
    name: Annotated[Literal["e4", "e5", "e6"], typer.Argument(help="Which experiment.")],
    write: Annotated[bool, typer.Option("--document", help="Write what was found into docs/experiments.md.")] = False,
    results: Annotated[Path, typer.Option("--results", metavar="FOLDER", help="Where `runs/` are.")] = RESULTS,
) -> None:
    """Run an experiment of the thesis and print ours beside the published figures."""
    with console.progress() as progress:

        def real(topology: Path) -> Carried:
            return in_real_time(topology, results.absolute(), lambda step: progress(f"{topology.stem}: {step}"))

        outcome = EXPERIMENTS[name](real)
    document.show(outcome)
    kept = document.keep(outcome)
    if write:
        document.write_down(outcome)
    drawing.say(f"kept: {kept} and, as these tables, {kept.with_suffix('.md').name}")
    for expectation in outcome.surprises:
        words = "met, but known to differ" if expectation.met else "not met"
        drawing.say(f"{words}: {expectation.what}", file=sys.stderr)
    raise typer.Exit(1 if outcome.surprises else 0)


if __name__ == "__main__":
    sys.exit(console.guarded(app))
