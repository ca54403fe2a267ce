# SPDX-License-Identifier: GPL-2.0-or-later
"""A bench as data and as a page of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bench.machine import in_words
from bench.outcome import Outcome, Table
from bench.pairs import Ratio
from bench.targets import to_reach

if TYPE_CHECKING:
    from testbed.documents.bench import Bench, Figures, Machine, Settings, Target


def to_json(
    outcomes: Mapping[str, Outcome],
    *,
    machine: Machine,
    settings: Settings,
    command: str,
    failures: Mapping[str, str],
) -> Bench:
    ratios = _ratios(outcomes)
    figures: Figures = {}
    for outcome in outcomes.values():
        figures.update(outcome.figures)
    return {
        "command": command,
        "machine": machine,
        "settings": settings,
        "ratios": {name: ratio.to_json() for name, ratio in ratios.items()},
        "figures": figures,
        "to_reach": to_reach(ratios, figures),
        "failures": dict(failures),
    }


def to_markdown(outcomes: Mapping[str, Outcome], data: Bench, when: str) -> str:
    """The same for people; `when` is in its first line."""
    parts = [
        f"Measured {when} by `{data['command']}` on {in_words(data['machine'])}.",
        "",
        *_failures(data["failures"]),
        *([_table_to_reach(data["to_reach"]).to_markdown()] if data["to_reach"] else []),
        *([_table_of_ratios(_ratios(outcomes)).to_markdown()] if _ratios(outcomes) else []),
        *(table.to_markdown() for outcome in outcomes.values() for table in outcome.tables),
    ]
    return "\n".join(parts)


def _ratios(outcomes: Mapping[str, Outcome]) -> dict[str, Ratio]:
    return {name: ratio for outcome in outcomes.values() for name, ratio in outcome.ratios.items()}


def _table_to_reach(judged: Sequence[Target]) -> Table:
    rows = tuple(
        (
            row["figure"],
            row["target"],
            f"{row['measured']:.3g} {row['unit']}".strip(),
            "yes" if row["reached"] else "**no**",
        )
        for row in judged
    )
    return Table("To reach", ("figure", "target", "measured", "reached"), rows)


def _table_of_ratios(ratios: Mapping[str, Ratio]) -> Table:
    rows = tuple(
        (f"`{name}`", f"{ratio.median:.2f}", f"{min(ratio.values):.2f}", f"{max(ratio.values):.2f}", str(len(ratio.pairs)))
        for name, ratio in ratios.items()
    )
    return Table("Ratios, by pairs in turns", ("ratio", "median", "min", "max", "pairs"), rows)


def _failures(failures: Mapping[str, str]) -> list[str]:
    return [f"**{name} could not be measured:** {why}\n" for name, why in failures.items()]
