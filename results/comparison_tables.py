# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a comparison for other programs and for papers: CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from contracts.errors import printable
from results.comparison import Comparison
from results.parameter_axis import words

_Cell = str | float | int | None
#: What LaTeX takes for something else than a letter, and signs that it has in mathematics alone.
_LATEX: Final[Mapping[str, str]] = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "–": r"\textendash{}"},
    # At the beginning of a row they would be an argument of the \\ before it.
    **{"[": "{[}", "*": "{*}"},
    # Two of them, or one behind a question mark, are another sign (ligatures).
    **{"`": "{`}", "'": "{'}"},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "≈": r"$\approx$", "∞": r"$\infty$", "−": "$-$"},
    **{"μ": r"\textmu{}", "Ω": r"\textohm{}", "Δ": r"$\Delta$"},
}


@dataclass(frozen=True)
class Table:
    """Cells are text, numbers, or None where nothing is known."""

    #: Of a file, without its ending.
    name: str
    headers: Sequence[str]
    rows: Sequence[Sequence[_Cell]]

    def files(self) -> dict[str, bytes]:
        """By the ending of a file's name."""
        return {"csv": self.csv().encode(), "tex": self.latex().encode()}

    def csv(self) -> str:
        """RFC 4180, but for ends of lines; numbers with all their digits, nothing where a value is not known."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(printable, self.headers))
        writer.writerows([printable(cell) if isinstance(cell, str) else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def latex(self) -> str:
        r"""A tabular environment, to be put into a table by \input; it needs no package (LaTeX of 2020 and later).

        Letters that LaTeX has not of itself stay as they are: another encoding of fonts, or another engine, may have them.
        """
        numeric = [all(not isinstance(row[at], str) for row in self.rows) for at in range(len(self.headers))]
        columns = "".join("r" if is_number else "l" for is_number in numeric)
        lines = [self._line(self.headers), "\\hline", *map(self._line, self.rows)]
        return "\n".join((f"\\begin{{tabular}}{{{columns}}}", "\\hline", *lines, "\\hline", "\\end{tabular}", ""))

    @staticmethod
    def _line(cells: Sequence[_Cell]) -> str:
        return " & ".join(map(_latex, cells)) + r" \\"


def _latex(cell: _Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "--"
    if isinstance(cell, str):
        text = "".join(_LATEX.get(character, character) for character in printable(cell))
        return re.sub("-(?=-)", "-{}", text)  # two of them would be a dash
    if isinstance(cell, int):
        return f"${cell}$"
    if math.isinf(cell):
        return r"$\infty$" if cell > 0 else r"$-\infty$"
    text = f"{cell:.4g}"
    number, _, exponent = text.partition("e")
    return f"${number} \\cdot 10^{{{int(exponent)}}}$" if exponent else f"${text}$"


def tables(comparison: Comparison) -> list[Table]:
    """Means of points, differences between them, values far from the others."""
    return [_means(comparison), _differences(comparison), _outliers(comparison)]


def of_points(comparison: Comparison) -> dict[int, dict[str, str]]:
    """By the number of a point its values for people, by the axes' names."""
    return {
        row["point"]: {axis.name: words(row[axis.column]) for axis in comparison.axes} for row in comparison.points.to_dicts()
    }


def _means(comparison: Comparison) -> Table:
    points, names = of_points(comparison), [axis.name for axis in comparison.axes]
    columns = ("name", "count", "mean", "low", "high", "deviation", "method")
    rows = [[*points[point].values(), *rest] for point, *rest in comparison.estimates.select("point", *columns).iter_rows()]
    headers = [*names, "measure", "runs", "mean", "low", "high", "standard deviation", "interval"]
    return Table("means", headers, rows)


def _differences(comparison: Comparison) -> Table:
    points, axes = of_points(comparison), {axis.column: axis.name for axis in comparison.axes}
    rows = [
        [
            row["name"],
            axes[row["axis"]],
            points[row["base"]][axes[row["axis"]]],
            *points[row["point"]].values(),
            *(row[column] for column in ("count", "difference", "low", "high", "p", "p_corrected")),
            row["verdict"],
        ]
        for row in comparison.differences.to_dicts()
    ]
    headers = ["measure", "changed", "from", *axes.values(), "pairs", "difference", "low", "high", "p", "p (Holm)", "verdict"]
    return Table("differences", headers, rows)


def _outliers(comparison: Comparison) -> Table:
    points, names = of_points(comparison), [axis.name for axis in comparison.axes]
    columns = ("name", "value", "median", "score")
    rows: list[list[Any]] = [
        [run, *points[point].values(), *rest]
        for run, point, *rest in comparison.outliers.select("run", "point", *columns).iter_rows()
    ]
    return Table("outliers", ["run", *names, "measure", "value", "median of the point", "score"], rows)


def counts(runs: pl.DataFrame) -> dict[str, int]:
    """How many runs have each status."""
    return dict(runs.group_by("status").len().iter_rows())
