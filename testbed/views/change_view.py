# SPDX-License-Identifier: GPL-2.0-or-later
"""How changes of a running lab look on the terminal, those that `apply` would make too, and what its routers answer."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from contracts.plan import EquipmentPlan
    from testbed.changing.alteration import Applied
    from testbed.changing.comparison import Compared
    from testbed.changing.handlers import Element
    from testbed.documents.changes import Attach, Change, Detach, Drill
    from testbed.documents.plan import Changed
    from testbed.plans.difference import Action, Difference, PartDifference

#: Each action as people read it, and what colour it has: of those that nobody's traffic feels, none.
_WORDS: dict[Action, str] = {
    "created": "made",
    "removed": "removed",
    "replaced": "made anew",
    "restarted": "starts again",
    "changed": "changed while it runs",
    "unchanged": "unchanged",
}
_COLOURS = {"removed": "red", "replaced": "red", "restarted": "yellow", "created": "green"}


def show_made(changes: Sequence[Change], as_json: bool) -> None:
    """What was changed, in its order."""
    drawing.show(as_json, kinds.CHANGES.of({"changes": list(changes)}), *(change["words"] for change in changes))


def show_put_back(done: tuple[str, Sequence[Change]] | None, as_json: bool) -> None:
    name, changes = done or (None, ())
    words = f"{name} was cut short; put back:" if name else "no drill was left unfinished"
    document = kinds.PUT_BACK.of({"drill": name, "changes": list(changes)})
    drawing.show(as_json, document, words, *(change["words"] for change in changes))


def show_drills(as_json: bool) -> None:
    from testbed.description.drills import all_drills
    from testbed.description.reference import rows

    drills: list[Drill] = [
        {
            "drill": name,
            "about": inspect.getdoc(kind) or "",
            "options": [
                {"option": option, "value": value, "default": default, "meaning": meaning}
                for option, value, default, meaning in rows(kind)
            ],
        }
        for name, kind in all_drills().items()
    ]
    drawing.show(as_json, kinds.DRILLS.of({"drills": drills}), *(line for drill in drills for line in _drill(drill)))


def _drill(drill: Drill) -> Iterator[str]:
    yield f"{drill['drill']}: {drill['about']}"
    for option in drill["options"]:
        default = "" if option["default"] == "–" else f" ({option['default']})"
        yield f"    {option['option']}={option['value']}{default}: {option['meaning']}"


def show_read(router: str, handler: str, text: str, as_json: bool) -> None:
    document = kinds.HANDLER_VALUE.of({"router": router, "handler": handler, "value": text})
    drawing.show(as_json, document, text, end="" if text.endswith("\n") or not text else "\n")


def show_written(router: str, handler: str, warnings: str, as_json: bool) -> None:
    document = kinds.HANDLER_WRITTEN.of({"router": router, "handler": handler, "warnings": warnings.splitlines()})
    drawing.show(as_json, document, f"{router}: {handler} written{f'; {warnings}' if warnings else ''}")


def show_handlers(elements: Sequence[Element], as_json: bool) -> None:
    if as_json:
        return drawing.print_json(
            kinds.HANDLERS.of(
                {"elements": [{"name": element.name, "kind": element.kind, "handlers": element.handlers} for element in elements]}
            )
        )
    drawing.print_table(
        "",
        ("element", "class", "handlers (r: can be read, w: written)"),
        (
            (element.name, element.kind, ", ".join(f"{name} {allowed}" for name, allowed in element.handlers.items()))
            for element in elements
        ),
    )


def show_attached(port: EquipmentPlan, remarks: Sequence[str], as_json: bool) -> None:
    drawing.show(
        as_json,
        kinds.ATTACH.of(cast("Attach", {**vars(port), "remarks": list(remarks)})),
        f"{port.words()} is {port.end.node}.{port.end.interface} now; `netboxit detach {port.name}` gives it back",
        *drawing.notes(remarks),
    )


def show_detached(port: EquipmentPlan, notes: Sequence[str], as_json: bool) -> None:
    """`notes` are what could not be put back."""
    drawing.show(
        as_json,
        kinds.DETACH.of(cast("Detach", {**vars(port), "notes": list(notes)})),
        f"{port.words()} is no longer {port.end.node}.{port.end.interface}",
        *drawing.notes(notes),
    )


def show_compared(compared: Compared) -> None:
    """Below a plan: what `apply` would do to the lab that is up."""
    if compared.unknown:
        drawing.say(f"note: {compared.unknown}")
    if compared.difference is not None:
        drawing.say(f"lab {compared.plan.lab} is up; {_summary(compared.difference, 'would do')}")
        _print_table(compared.difference)


def show_applied(applied: Applied, as_json: bool) -> None:
    difference = applied.difference
    if as_json:
        return drawing.print_json(
            kinds.APPLY.of({"lab": applied.plan.lab, "brought_up": difference is None, "difference": as_data(difference)})
        )
    if difference is None:
        nodes = drawing.counted(len(applied.plan.nodes), "node")
        return drawing.say(f"lab {applied.plan.lab} was not up, and is now: {nodes}", *drawing.notes(applied.plan.notes))
    drawing.say(f"lab {applied.plan.lab}: {_summary(difference, 'did')}")
    _print_table(difference)


def as_data(difference: Difference | None) -> Changed | None:
    if difference is None:
        return None
    return {
        "lab": difference.lab,
        "nothing": difference.nothing(),
        "nodes": difference.nodes,
        "wires": difference.wires,
        "equipment": difference.equipment,
        "common": difference.common,
        "recorded": difference.recorded,
    }


def _summary(difference: Difference, verb: str) -> str:
    if difference.nothing():
        return "it is what the file says: nothing to do"
    return f"`apply` {verb} this: nodes: {_counts(difference.nodes)}; wires: {_counts(difference.wires)}" + (
        f"; equipment: {_counts(difference.equipment)}" if difference.equipment else ""
    )


def _counts(parts: Sequence[PartDifference]) -> str:
    counts = Counter(part.action for part in parts)
    return ", ".join(f"{counts[action]} {words}" for action, words in _WORDS.items() if counts[action]) or "none"


def _print_table(difference: Difference) -> None:
    names = [
        *(f"{node.kind} {node.name}" for node in difference.nodes),
        *(f"wire {wire.name}" for wire in difference.wires),
        *(f"equipment {port.equipment}" for port in difference.equipment),
    ]
    drawing.print_table(
        "",
        ("what", "is", "why"),
        (
            (name, drawing.plain(_WORDS[part.action], _COLOURS.get(part.action, "")), "\n".join(part.reasons))
            for name, part in zip(names, difference.parts(), strict=True)
            if part.action != "unchanged"
        ),
    )
    drawing.say(*(f"the lab: {line}" for line in difference.common), *(f"its record: {line}" for line in difference.recorded))
