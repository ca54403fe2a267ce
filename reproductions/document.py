# SPDX-License-Identifier: GPL-2.0-or-later
"""What was compared, in words: on the terminal, as a record, and as a study's section of docs/reproductions.md."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from contracts.installation import CHECKOUT
from reproductions.comparison import Comparison
from reproductions.experiment import Compared, Experiment
from reproductions.study import Study
from testbed.views import drawing

DOCUMENT = CHECKOUT / "docs" / "reproductions.md"
RECORDS = CHECKOUT / "docs" / "records"
_HEADERS = ("figure", "published", "ours", "tolerance", "verdict")

#: By experiment, what came of it.
Carried = Mapping[Experiment, Compared]


def show(carried: Carried) -> None:
    """On the terminal."""
    for experiment, compared in carried.items():
        table = drawing.table(f"{experiment.id}: {experiment.title}", *_HEADERS)
        for one in compared.comparisons:
            colour = drawing.COLOURS["yes" if one.is_as_known else "no"]
            table.add_row(one.what, one.published, one.ours, one.tolerance, drawing.plain(one.verdict, colour))
        drawing.console().print(table)


def keep(study: Study, carried: Carried, folder: Path = RECORDS) -> Path:
    """Writes what each figure was made of: every value of every run. Returns the file."""
    content = {
        "study": study.name,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "experiments": [
            {
                "id": experiment.id,
                "how": compared.how,
                "comparisons": [asdict(comparison) for comparison in compared.comparisons],
                "values": compared.record,
            }
            for experiment, compared in carried.items()
        ],
    }
    file = _record(study, folder)
    # The same content is the same file.
    file.write_bytes(gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0))
    return file


def kept(study: Study, folder: Path = RECORDS) -> Carried:
    """What the record has of the study's experiments."""
    file = _record(study, folder)
    entries = json.loads(gzip.decompress(file.read_bytes()))["experiments"] if file.exists() else []
    found = {
        entry["id"]: Compared(entry["how"], [Comparison(**one) for one in entry["comparisons"]], entry["values"])
        for entry in entries
    }
    return {one: found[one.id] for one in study.experiments if one.id in found}


def _record(study: Study, folder: Path) -> Path:
    return folder / f"reproduction-{study.name}.json.gz"


def write_down(study: Study, carried: Carried) -> None:
    """Puts the study into its section; the rest of the document stays."""
    begin, end = f"<!-- study: {study.name} -->", "<!-- end -->"
    markup = f"{begin}\n\n{section(study, carried)}\n\n{end}"
    text = re.sub(rf"{begin}.*?{end}", lambda _: markup, DOCUMENT.read_text(), flags=re.DOTALL)
    DOCUMENT.write_text(text)


def section(study: Study, carried: Carried) -> str:
    """Markdown."""
    return "\n\n".join(_parts(study, carried))


def _parts(study: Study, carried: Carried) -> Iterator[str]:
    counts = Counter(comparison.verdict for compared in carried.values() for comparison in compared.comparisons)
    yield f"Of {counts.total()} figures: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + "."
    yield "\n".join(f"- **{word}**: {source}" for word, source in study.sources.items())
    for experiment, compared in carried.items():
        yield f"### {experiment.id}: {experiment.title}"
        yield f"{experiment.text} {compared.how}"
        yield _table(_HEADERS, [(c.what, c.published, c.ours, c.tolerance, c.verdict) for c in compared.comparisons])
        if reasons := [f"- {c.what}: {c.reason}" for c in compared.comparisons if c.reason]:
            yield "Why not:\n\n" + "\n".join(reasons)


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
