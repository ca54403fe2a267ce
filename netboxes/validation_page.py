# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes docs/validation.md: every technology measured in virtual time beside what is expected of it.

python -m netboxes.validation_page [TECHNOLOGY…]     all of them, or only the parts of these

Exit status 1 when a figure is outside its tolerance.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from netboxes.technology import FOLDER
from netboxes.validation import Chapter
from netboxes.validation_plot import draw

PAGE = FOLDER.parent / "docs" / "validation.md"
_PART = re.compile(r"<!-- technology: (.+?) -->\n(.*?)<!-- end -->\n", re.DOTALL)
_INTRODUCTION = """# Validation

What the emulated segments do, beside what a formula, a standard or the literature says that they should. Everything here is
measured in virtual time, where no machine's speed matters, by `netboxes/<technology>/validation.py`; `make validate` measures it
all again and writes this page, and fails when a figure is outside its tolerance. That real time gives the same is shown by
`netboxit bench fidelity` (`performance.md`).

In the plots lines are expected and points measured. What each technology does not model is in its README.
"""
_TEMPLATE = Environment(trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined).from_string("""\
{% macro number(value) %}{{ "%.4g" | format(value) }}{% endmacro %}
## {{ technology }}

[Its page](../netboxes/{{ technology }}/README.md)
{% for chapter in chapters %}

### {{ chapter.title }}

{{ chapter.text.strip() }}
{% for plot in chapter.plots %}

![{{ plot.title }}](validation/{{ plot.name }}.svg)
{% endfor %}
{% if chapter.figures %}

| what | expected | measured | unit | difference | may differ by | |
|---|---|---|---|---|---|---|
{% for figure in chapter.figures %}
| {{ figure.what }} | {{ number(figure.expected) }} | {{ number(figure.measured) }} | {{ figure.unit }} {# the same line #}
| {{ number(figure.measured - figure.expected) }} | {{ number(figure.tolerance) }} {# the same line #}
| {{ "" if figure.holds else "**outside**" }} |
{% endfor %}
{% endif %}
{% endfor %}
""")


def technologies() -> list[str]:
    """Those that have a validation."""
    return sorted(file.parent.name for file in FOLDER.glob("*/validation.py"))


def chapters(technology: str) -> list[Chapter]:
    """Measures all that a technology shows."""
    module = importlib.import_module(f"netboxes.{technology}.validation")
    return list(module.chapters())


def part(technology: str, shown: Sequence[Chapter]) -> str:
    """A technology's part of the page."""
    return _TEMPLATE.render(technology=technology, chapters=shown)


def page(parts: Mapping[str, str]) -> str:
    """The whole page of the parts by technology."""
    contents = "\n".join(f"- [{technology}](#{technology})" for technology in sorted(parts))
    whole = "\n".join(f"<!-- technology: {technology} -->\n{parts[technology]}<!-- end -->\n" for technology in sorted(parts))
    return f"{_INTRODUCTION}\n{contents}\n\n{whole}"


def parts_of(text: str) -> dict[str, str]:
    """The parts by technology of a page that was written before."""
    return dict(_PART.findall(text))


def write(names: Sequence[str], file: Path = PAGE) -> list[str]:
    """Measures these technologies, writes their parts and plots; returns what is outside its tolerance, in words."""
    parts = parts_of(file.read_text()) if file.exists() else {}
    outside = []
    with ProcessPoolExecutor(max_workers=2) as processes:
        for technology, shown in zip(names, processes.map(chapters, names), strict=True):
            parts[technology] = part(technology, shown)
            for plot in (plot for chapter in shown for plot in chapter.plots):
                picture = file.parent / "validation" / f"{plot.name}.svg"
                picture.parent.mkdir(exist_ok=True)
                picture.write_text(draw(plot))
            figures = [figure for chapter in shown for figure in chapter.figures]
            print(f"{technology}: {sum(figure.holds for figure in figures)} of {len(figures)} figures within their tolerance")
            outside += [
                f"{technology}: {figure.what}: {figure.measured:.4g} {figure.unit} instead of {figure.expected:.4g}"
                for figure in figures
                if not figure.holds
            ]
    known_names = set(technologies())
    file.write_text(page({technology: text for technology, text in parts.items() if technology in known_names}))
    return outside


def main(arguments: Sequence[str]) -> int:
    if unknown := set(arguments) - set(technologies()):
        print(f"no validation of {', '.join(sorted(unknown))}; there are {', '.join(technologies())}", file=sys.stderr)
        return 2
    outside = write(list(arguments) or technologies())
    for line in outside:
        print(f"outside its tolerance: {line}", file=sys.stderr)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
