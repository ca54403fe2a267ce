# SPDX-License-Identifier: GPL-2.0-or-later
"""How changes of a running lab look on the terminal, and what its routers answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from testbed import drawing

if TYPE_CHECKING:
    from testbed.handlers import Element


def show_change(netbox: str, answer: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"netbox": netbox, **answer})
    print(f"{netbox}: {answer['parameter']} is now {answer['written']}")


def show_read(router: str, handler: str, text: str, as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"router": router, "handler": handler, "value": text})
    print(text, end="" if text.endswith("\n") or not text else "\n")


def show_written(router: str, handler: str, warnings: str, as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"router": router, "handler": handler, "warnings": warnings.splitlines()})
    print(f"{router}: {handler} written{f'; {warnings}' if warnings else ''}")


def show_handlers(elements: Sequence[Element], as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"elements": [asdict(element) for element in elements]})
    table = drawing.table("", "element", "class", "handlers (r: can be read, w: written)")
    for element in elements:
        table.add_row(element.name, element.kind, ", ".join(f"{name} {allowed}" for name, allowed in element.handlers.items()))
    drawing.console().print(table)
