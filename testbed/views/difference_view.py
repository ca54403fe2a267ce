# SPDX-License-Identifier: GPL-2.0-or-later
"""How what `apply` does, or would do, looks on the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from testbed.changing.alteration import Applied
    from testbed.changing.comparison import Compared
    from testbed.documents.plan import Changed
    from testbed.plans.difference import Difference

#: Each action as people read it, and what colour it has: of those that nobody's traffic feels, none.
_WORDS = {
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
    nodes, wires = _counts([one.action for one in difference.nodes]), _counts([one.action for one in difference.wires])
    equipment = _counts([one.action for one in difference.equipment])
    return f"`apply` {verb} this: nodes: {nodes}; wires: {wires}" + (f"; equipment: {equipment}" if difference.equipment else "")


def _counts(actions: list[str]) -> str:
    found = Counter(actions)
    return ", ".join(f"{found[action]} {words}" for action, words in _WORDS.items() if found[action]) or "none"


def _print_table(difference: Difference) -> None:
    rows = [(f"{node.kind} {node.name}", node.action, node.reasons) for node in difference.nodes]
    rows += [(f"wire {wire.name}", wire.action, wire.reasons) for wire in difference.wires]
    rows += [(f"equipment {port.equipment}", port.action, port.reasons) for port in difference.equipment]
    rows = [row for row in rows if row[1] != "unchanged"]
    if rows:
        table = drawing.table("", "what", "is", "why")
        for what, action, reasons in rows:
            colour = _COLOURS.get(action)
            words = drawing.plain(_WORDS[action], colour or "")
            table.add_row(what, words, "\n".join(reasons))
        drawing.console().print(table)
    for line in difference.common:
        drawing.say(f"the lab: {line}")
    for line in difference.recorded:
        drawing.say(f"its record: {line}")
