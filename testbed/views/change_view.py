# SPDX-License-Identifier: GPL-2.0-or-later
"""How changes of a running lab look on the terminal, and what its routers answer."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from contracts.plan import EquipmentPlan
    from testbed.changing.handlers import Element
    from testbed.documents.changes import Change, Drill, Equipment


def show_made(made: Sequence[Change], as_json: bool) -> None:
    """What was changed, in its order."""
    if as_json:
        return drawing.print_json(kinds.CHANGES.of({"changes": list(made)}))
    for change in made:
        drawing.say(change["words"])


def show_put_back(done: tuple[str, Sequence[Change]] | None, as_json: bool) -> None:
    if as_json:
        name, made = done or (None, ())
        return drawing.print_json(kinds.PUT_BACK.of({"drill": name, "changes": list(made)}))
    if done is None:
        return drawing.say("no drill was left unfinished")
    drawing.say(f"{done[0]} was cut short; put back:")
    show_made(done[1], as_json)


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
    if as_json:
        return drawing.print_json(kinds.DRILLS.of({"drills": drills}))
    for drill in drills:
        drawing.say(f"{drill['drill']}: {drill['about']}")
        for option in drill["options"]:
            default = "" if option["default"] == "–" else f" ({option['default']})"
            drawing.say(f"    {option['option']}={option['value']}{default}: {option['meaning']}")


def show_read(router: str, handler: str, text: str, as_json: bool) -> None:
    if as_json:
        return drawing.print_json(kinds.HANDLER_VALUE.of({"router": router, "handler": handler, "value": text}))
    drawing.say(text, end="" if text.endswith("\n") or not text else "\n")


def show_written(router: str, handler: str, warnings: str, as_json: bool) -> None:
    if as_json:
        return drawing.print_json(
            kinds.HANDLER_WRITTEN.of({"router": router, "handler": handler, "warnings": warnings.splitlines()})
        )
    drawing.say(f"{router}: {handler} written{f'; {warnings}' if warnings else ''}")


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
    if as_json:
        return drawing.print_json(kinds.ATTACH.of({**_equipment(port), "remarks": list(remarks)}))
    drawing.say(f"{port.words()} is {port.end.node}.{port.end.interface} now; `netboxit detach {port.name}` gives it back")
    drawing.print_notes(remarks)


def show_detached(port: EquipmentPlan, notes: Sequence[str], as_json: bool) -> None:
    """`notes` are what could not be put back."""
    if as_json:
        return drawing.print_json(kinds.DETACH.of({**_equipment(port), "notes": list(notes)}))
    drawing.say(f"{port.words()} is no longer {port.end.node}.{port.end.interface}")
    drawing.print_notes(notes)


def _equipment(port: EquipmentPlan) -> Equipment:
    return {
        "name": port.name,
        "kind": port.kind,
        "device": port.device,
        "end": port.end,
        "wire": port.wire,
        "mtu": port.mtu,
        "vlan": port.vlan,
        "mode": port.mode,
        "user": port.user,
        "vni": port.vni,
        "local": port.local,
        "remote": port.remote,
        "udp_port": port.udp_port,
        "attached": port.attached,
    }
