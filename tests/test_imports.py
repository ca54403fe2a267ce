# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages import those that docs/architecture.md lists them with, and modules none that import them.

An import counts wherever in a file it stands, also one for types alone (`if TYPE_CHECKING`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT

_ROWS = (CHECKOUT / "docs/architecture.md").read_text().partition("| package | imports, of ours |")[2].partition("\n\n")[0]
MAY_IMPORT = {
    package: {word for word in re.findall(r"`(\w+)`", imported)}
    for package, imported in re.findall(r"^\| `(\w+)` \|(.*)\|$", _ROWS, re.MULTILINE)
}


def test_every_package_is_in_the_table() -> None:
    folders = {file.parent.name for file in CHECKOUT.glob("*/__init__.py")}
    assert folders == set(MAY_IMPORT)


def test_each_is_listed_after_those_that_it_imports() -> None:
    order = list(MAY_IMPORT)
    wrong = [(package, one) for package, may in MAY_IMPORT.items() for one in may if order.index(one) >= order.index(package)]
    assert not wrong


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_no_other(package: str) -> None:
    may = MAY_IMPORT if "all of these" in _row(package) else {package, *MAY_IMPORT[package]}
    wrong = [
        f"{file.relative_to(CHECKOUT)} imports {imported}"
        for file in _files(package)
        for imported in _imported(file)
        if (other := imported.partition(".")[0]) in MAY_IMPORT and other not in may
    ]
    assert not wrong, "; ".join(wrong)


def test_no_module_imports_one_that_imports_it() -> None:
    modules = {_module(file): file for package in MAY_IMPORT for file in _files(package)}
    known = {
        name: {one for path in _imported(file) for one in (path, path.rpartition(".")[0]) if one in modules} - {name}
        for name, file in modules.items()
    }
    # It raises CycleError, which names the modules.
    list(TopologicalSorter(known).static_order())


def _row(package: str) -> str:
    return next(row for row in _ROWS.splitlines() if row.startswith(f"| `{package}` |"))


def _files(package: str) -> Iterator[Path]:
    for file in sorted((CHECKOUT / package).rglob("*.py")):
        if not file.name.startswith("test_") and file.name != "conftest.py":
            yield file


def _module(file: Path) -> str:
    return ".".join(file.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")


def _imported(file: Path) -> Iterator[str]:
    """What each import names: a module, or something in one."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
