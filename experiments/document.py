# SPDX-License-Identifier: GPL-2.0-or-later
"""An outcome in words: on the terminal, as files of results/experiments, and as its section of docs/experiments.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from contracts.installation import CHECKOUT
from experiments.charts import draw
from experiments.outcome import Expectation, Outcome, Table
from testbed.views import drawing

DOCUMENT = CHECKOUT / "docs" / "experiments.md"
PLOTS = CHECKOUT / "docs" / "experiments"
RESULTS = CHECKOUT / "results" / "experiments"


def show(outcome: Outcome) -> None:
    """Tables and expectations, on the terminal."""
    for table in outcome.tables:
        drawn = drawing.table(table.title, *table.headers)
        for row in table.rows:
            drawn.add_row(*row)
        drawing.console().print(drawn)
    drawn = drawing.table("expected", "what", "required", "measured", "met")
    for expectation in outcome.expectations:
        answer = drawing.plain(_answer(expectation), drawing.COLOURS["yes" if expectation.is_as_known else "no"])
        drawn.add_row(expectation.what, expectation.required, expectation.measured, answer)
    drawing.console().print(drawn)
    for verdict in outcome.verdicts:
        status = (verdict.status, drawing.COLOURS[verdict.status])
        drawing.console().print(drawing.coloured(f"run {verdict.run}: ", status))
        for reason in verdict.reasons:
            drawing.say(f"  - {reason}")


def keep(outcome: Outcome) -> Path:
    """Writes `results/experiments/<time>-<name>.json`, the same as `.md`, and the plots beside them; returns the JSON file."""
    now = datetime.now(UTC)
    RESULTS.mkdir(parents=True, exist_ok=True)
    base = RESULTS / f"{now:%Y%m%dT%H%M%SZ}-{outcome.name}"
    for plot in outcome.plots:
        Path(f"{base}-{plot.name}.svg").write_text(draw(plot))
    Path(f"{base}.md").write_text(f"# {outcome.title}\n\n{section(outcome, f'{base.name}-')}\n")
    file = Path(f"{base}.json")
    file.write_text(json.dumps(outcome.to_json(), indent=1) + "\n")
    return file


def write_down(outcome: Outcome) -> None:
    """Puts the outcome into its section of docs/experiments.md, and its plots beside that. The rest of the document stays."""
    PLOTS.mkdir(exist_ok=True)
    for plot in outcome.plots:
        (PLOTS / f"{plot.name}.svg").write_text(draw(plot))
    begin, end = f"<!-- experiment: {outcome.name} -->", "<!-- end -->"
    markup = f"{begin}\n\n{section(outcome, 'experiments/')}\n\n{end}"
    text = re.sub(rf"{begin}.*?{end}", lambda _: markup, DOCUMENT.read_text(), flags=re.DOTALL)
    DOCUMENT.write_text(text)


def section(outcome: Outcome, plots: str) -> str:
    """Markdown; `plots` stands before the names of the plots' files."""
    return "\n\n".join(_parts(outcome, plots))


def _parts(outcome: Outcome, plots: str) -> Iterator[str]:
    yield outcome.text
    for table in outcome.tables:
        yield f"**{table.title}**\n\n{markdown(table)}"
    for plot in outcome.plots:
        yield f"![{plot.title}]({plots}{plot.name}.svg)"
    rows = [
        (expectation.what, expectation.required, expectation.measured, _answer(expectation))
        for expectation in outcome.expectations
    ]
    met = sum(expectation.met for expectation in outcome.expectations)
    title = f"Expected outcome: {met} of {len(rows)} met"
    yield f"**{title}**\n\n{markdown(Table('', ('what', 'required', 'measured', 'met'), rows))}"
    if differences := dict.fromkeys(expectation.differs for expectation in outcome.expectations if expectation.differs):
        yield "Known to differ from the thesis:\n\n" + "\n".join(f"- {difference}" for difference in differences)
    judged = [
        f"- {verdict.run}: {verdict.status}" + "".join(f"\n    - {reason}" for reason in verdict.reasons)
        for verdict in outcome.verdicts
    ]
    yield "Runs in real time, as their reports judge them:\n\n" + "\n".join(judged)


def markdown(table: Table) -> str:
    lines = [table.headers, ["---"] * len(table.headers), *table.rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _answer(expectation: Expectation) -> str:
    words = "yes" if expectation.met else "no"
    return f"{words}, known to differ" if expectation.differs else words
