# SPDX-License-Identifier: GPL-2.0-or-later
"""What is a plug-in is named by nobody else: all that belongs to a technology is in its folder."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from netboxes.technology import technologies

#: These words also mean other things, and `netboxit calibrate` measures this machine with these netboxes.
_ALSO_OTHER_THINGS = {"ethernet", "generator", "link", "sink"}


@pytest.mark.parametrize("package", ["contracts", "ownership", "system", "results", "testbed"])
def test_the_core_names_no_technology(package: str) -> None:
    named = {"meoc", *technologies()} - _ALSO_OTHER_THINGS
    assert "satellite" in named
    found = [f"{file.relative_to(CHECKOUT)}:{line}: {text}" for file, line, text in _texts(package) if text in named]
    assert not found, found


def _texts(package: str) -> Iterator[tuple[Path, int, str]]:
    for file in sorted((CHECKOUT / package).rglob("*.py")):
        if not file.name.startswith("test_") and file.name != "conftest.py":
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield file, node.lineno, node.value
