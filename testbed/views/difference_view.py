# SPDX-License-Identifier: GPL-2.0-or-later
"""How what `apply` does, or would do, looks on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.changing.alteration import Applied
    from testbed.changing.comparison import Compared
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


def show_compared(compared: Compared) -> None:
    """Below a plan: what `apply` would do to the lab that is up."""
    if compared.unknown:
        drawing.print_notes([compared.unknown])
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
        drawing.say(f"lab {applied.plan.lab} was not up, and is now: {drawing.counted(len(applied.plan.nodes), 'node')}")
        return drawing.print_notes(applied.plan.notes)
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
    counts = f"nodes: {_counts(difference.nodes)}; wires: {_counts(difference.wires)}"
    return f"`apply` {verb} this: {counts}" + (f"; equipment: {_counts(difference.equipment)}" if difference.equipment else "")


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
    for line in difference.common:
        drawing.say(f"the lab: {line}")
    for line in difference.recorded:
        drawing.say(f"its record: {line}")
