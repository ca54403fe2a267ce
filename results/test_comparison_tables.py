# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as LaTeX reads them: what it takes for a command, an argument or a ligature (Lamport, LaTeX, 1994, 2.2 and C.1)."""

from __future__ import annotations

import math

import pytest

from results.comparison_tables import Table


def cell(value: str | float | int | None) -> str:
    """The only cell of a table as LaTeX gets it."""
    begin, _, rest = Table("x", ["h"], [[value]]).latex().partition("h \\\\\n\\hline\n")
    assert begin.startswith("\\begin{tabular}{") and rest.endswith(" \\\\\n\\hline\n\\end{tabular}\n")
    return rest.removesuffix(" \\\\\n\\hline\n\\end{tabular}\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("distance_km", r"distance\_km"),
        ("50 % & more", r"50 \% \& more"),
        ("#1 costs $2", r"\#1 costs \$2"),
        ("{a}", r"\{a\}"),
        (r"C:\x", r"C:\textbackslash{}x"),
        ("a^2~b", r"a\textasciicircum{}2\textasciitilde{}b"),
        ("^^41", r"\textasciicircum{}\textasciicircum{}41"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        # Behind the end of a row, as in `\\ [2cm]` and `\\ *`.
        ("[2cm]", "{[}2cm]"),
        ("* all", "{*} all"),
        # Ligatures.
        ("--set", "-{}-set"),
        ("---", "-{}-{}-"),
        ("?`", "?{`}"),
        ("''", "{'}{'}"),
        ("3 ± 1 µs, 20 °", "3 ± 1 µs, 20 °"),
        ("≤ ∞", r"$\leq$ $\infty$"),
        ("500 m – 1 km", r"500 m \textendash{} 1 km"),
        ("Größe", "Größe"),
        ("two\nlines", r"two\textbackslash{}nlines"),
    ],
)
def test_text_is_printed_as_it_is(text: str, expected: str) -> None:
    assert cell(text) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (3.14159, "$3.142$"),
        (-0.5, "$-0.5$"),
        (1.5e-7, r"$1.5 \cdot 10^{-7}$"),
        (2e20, r"$2 \cdot 10^{20}$"),
        (123456, "$123456$"),
        (math.inf, r"$\infty$"),
        (-math.inf, r"$-\infty$"),
        (math.nan, "--"),
        (None, "--"),
    ],
)
def test_numbers_are_mathematics_and_counts_have_all_their_digits(number: float | int | None, expected: str) -> None:
    assert cell(number) == expected
