# SPDX-License-Identifier: GPL-2.0-or-later
"""How changes of a running lab look on the terminal, and what its routers answer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.changing.handlers import Element
    from testbed.plan import EquipmentPlan


def show_made(made: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """What was changed, in its order."""
    if as_json:
        return drawing.print_json({"changes": list(made)})
    for one in made:
        drawing.say(one["words"])


def show_put_back(done: tuple[str, Sequence[Mapping[str, Any]]] | None, as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"drill": done[0] if done else None, "changes": list(done[1]) if done else []})
    if done is None:
        return drawing.say("no drill was left unfinished")
    drawing.say(f"{done[0]} was cut short; put back:")
    show_made(done[1], as_json)


def show_drills(as_json: bool) -> None:
    from testbed.description.drills import DRILLS
    from testbed.description.reference import rows

    drills = {name: (inspect.getdoc(kind) or "", rows(kind)) for name, kind in DRILLS.items()}
    if as_json:
        keys = ("option", "value", "default", "meaning")
        told = [
            {"drill": name, "about": about, "options": [dict(zip(keys, row, strict=True)) for row in options]}
            for name, (about, options) in drills.items()
        ]
        return drawing.print_json({"drills": told})
    for name, (about, options) in drills.items():
        drawing.say(f"{name}: {about}")
        for option, value, default, meaning in options:
            drawing.say(f"    {option}={value}{'' if default == '–' else f' ({default})'}: {meaning}")


def show_read(router: str, handler: str, text: str, as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"router": router, "handler": handler, "value": text})
    drawing.say(text, end="" if text.endswith("\n") or not text else "\n")


def show_written(router: str, handler: str, warnings: str, as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"router": router, "handler": handler, "warnings": warnings.splitlines()})
    drawing.say(f"{router}: {handler} written{f'; {warnings}' if warnings else ''}")


def show_handlers(elements: Sequence[Element], as_json: bool) -> None:
    if as_json:
        return drawing.print_json({"elements": [asdict(element) for element in elements]})
    table = drawing.table("", "element", "class", "handlers (r: can be read, w: written)")
    for element in elements:
        table.add_row(element.name, element.kind, ", ".join(f"{name} {allowed}" for name, allowed in element.handlers.items()))
    drawing.console().print(table)


def show_attached(port: EquipmentPlan, remarks: Sequence[str], as_json: bool) -> None:
    if as_json:
        return drawing.print_json({**asdict(port), "remarks": list(remarks)})
    drawing.say(f"{port.words()} is {port.end.node}.{port.end.interface} now; `netboxit detach {port.name}` gives it back")
    drawing.print_notes(remarks)


def show_detached(port: EquipmentPlan, notes: Sequence[str], as_json: bool) -> None:
    """`notes` are what could not be put back."""
    if as_json:
        return drawing.print_json({**asdict(port), "notes": list(notes)})
    drawing.say(f"{port.words()} is no longer {port.end.node}.{port.end.interface}")
    drawing.print_notes(notes)
