# SPDX-License-Identifier: GPL-2.0-or-later
"""What is on record of a lab: its plan, and while it is being changed all that it may be.

`plan.json` is what the lab is. From before the first step of a change until after its last there is `changing.json` beside it,
with every plan that a part of the lab may then be of: none when the lab comes up, the old and the new one when it is changed. A
change that did not end leaves it, and the next one starts from all of these plans.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from testbed.plan import Plan

PLAN = "plan.json"
CHANGING = "changing.json"


def states(folder: Path) -> list[Plan]:
    """The plans that parts of the lab may be of, the recorded one first; none: it never came up whole."""
    changing = folder / CHANGING
    if changing.exists():
        return [Plan.from_json(plan) for plan in json.loads(changing.read_text())]
    return [Plan.from_json(json.loads((folder / PLAN).read_text()))]


def is_changing(folder: Path) -> bool:
    """Whether a change goes on, or did not end."""
    return (folder / CHANGING).exists()


def begin(folder: Path, plans: Sequence[Plan]) -> None:
    """From here on the lab may be of any of these plans."""
    _replace(folder / CHANGING, [plan.to_json() for plan in plans])


def write(folder: Path, plan: Plan) -> None:
    """What the lab is."""
    _replace(folder / PLAN, plan.to_json())


def end(folder: Path) -> None:
    """The lab is what `plan.json` says."""
    (folder / CHANGING).unlink(missing_ok=True)


def _replace(file: Path, data: object) -> None:
    """Renamed when it is whole: a reader finds the old one or the new one."""
    new = file.with_name(f".{file.name}")
    new.write_text(json.dumps(data, indent=1) + "\n")
    new.rename(file)
