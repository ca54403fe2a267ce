# SPDX-License-Identifier: GPL-2.0-or-later
"""What pages for people are made with: Jinja, and how numbers are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from contracts.errors import printable_lines


def environment() -> Environment:
    """Of the templates beside this file, with the filters below. What is not Markup is text, whatever is in it."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_harmless,
    )
    found.filters.update(number=number, signed=signed, percent=percent, count=count, statistic=statistic, causes=causes)
    return found


def _harmless(value: object) -> object:
    """Text of nodes and files without what turns its direction round or is not seen; pictures are made here."""
    return printable_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def number(value: float | None) -> str:
    """Three or four figures that matter; a dash for what could not be measured."""
    if value is None:
        return "–"
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def signed(value: float) -> str:
    return ("" if value == 0 else "+" if value > 0 else "−") + number(abs(value))


def causes(counts: Mapping[str, int] | None) -> str:
    """How many of each cause, without those that did not occur."""
    if counts is None:
        return "–"
    return ", ".join(f"{count} {cause}" for cause, count in counts.items() if count) or "0"


def percent(ratio: float | None) -> str:
    return "–" if ratio is None else "0 %" if ratio == 0 else f"{100 * ratio:.3g} %"


def count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def statistic(values: Mapping[str, object] | None, name: str) -> str:
    value = (values or {}).get(name)
    return number(value if isinstance(value, int | float) else None)
