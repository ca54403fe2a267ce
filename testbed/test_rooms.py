# SPDX-License-Identifier: GPL-2.0-or-later
"""The rooms of the testbed know those above them in docs/architecture.md, and none below."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from contracts.installation import CHECKOUT

TESTBED = CHECKOUT / "testbed"
#: The first column of the table, from `ownership/` to `commands/`.
_TABLE = (CHECKOUT / "docs/architecture.md").read_text().partition("### The rooms")[2]
ROOMS = re.findall(r"^\| `(\w+)/` \|", _TABLE, re.MULTILINE)
#: Those who may know all rooms.
ABOVE_ALL = ("run.py", "lab_traffic.py", "where.py", "conftest.py")


def test_every_room_is_in_the_map() -> None:
    assert sorted(ROOMS) == sorted(folder.parent.name for folder in TESTBED.glob("*/__init__.py"))


def test_no_room_knows_one_below_it() -> None:
    wrong = []
    for file in sorted(TESTBED.rglob("*.py")):
        own = file.parent.name if file.parent != TESTBED else None
        if file.name.startswith("test_") or (own is None and file.name in ABOVE_ALL):
            continue
        height = ROOMS.index(own) if own else -1
        wrong += [f"{file.relative_to(TESTBED)} knows {room}" for room in _known(file) if ROOMS.index(room) > height]
    assert not wrong, "; ".join(wrong)


def _known(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            words = name.split(".")
            if words[0] == "testbed" and len(words) > 1 and words[1] in ROOMS:
                yield words[1]
