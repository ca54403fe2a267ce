# SPDX-License-Identifier: GPL-2.0-or-later
"""Each package of the testbed imports those above it in docs/architecture.md, and none below."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from contracts.installation import CHECKOUT

TESTBED = CHECKOUT / "testbed"
#: The first column of the table, from `ownership/` to `commands/`.
_TABLE = (CHECKOUT / "docs/architecture.md").read_text().partition("### The packages of `testbed/`")[2]
PACKAGES = re.findall(r"^\| `(\w+)/` \|", _TABLE, re.MULTILINE)
#: Modules that may import all of them.
ABOVE_ALL = ("run.py", "virtual_run.py", "repeated_run.py", "lab_traffic.py", "where.py", "conftest.py")


def test_every_package_is_in_the_map() -> None:
    assert sorted(PACKAGES) == sorted(folder.parent.name for folder in TESTBED.glob("*/__init__.py"))


def test_no_package_imports_one_below_it() -> None:
    wrong = []
    for file in sorted(TESTBED.rglob("*.py")):
        own = file.parent.name if file.parent != TESTBED else None
        if file.name.startswith("test_") or (own is None and file.name in ABOVE_ALL):
            continue
        height = PACKAGES.index(own) if own else -1
        wrong += [
            f"{file.relative_to(TESTBED)} imports {package}" for package in _known(file) if PACKAGES.index(package) > height
        ]
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
            if words[0] == "testbed" and len(words) > 1 and words[1] in PACKAGES:
                yield words[1]
