# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/capabilities.md names a test for each thing that NetBoxIT can do, and leaves none of its parts out."""

from __future__ import annotations

import ast
import re
from typing import get_args

import pytest
import typer

from applications.registry import applications
from contracts.installation import CHECKOUT
from netboxes.queueing.queue import Discipline
from netboxes.technology import technologies
from netboxit import app

_TEXT = (CHECKOUT / "docs" / "capabilities.md").read_text()
#: "tests/test_kill.py::test_…", or a whole file.
_TEST = re.compile(r"`([\w/]+/test_\w+\.(?:py|cc))(?:::(\w+))?`")
_ROWS = [line.split(" | ") for line in _TEXT.splitlines() if line.startswith("| ") and not line.startswith("| **")][1:]


@pytest.mark.parametrize(("capability", "tests"), [(row[0].lstrip("| "), row[1]) for row in _ROWS])
def test_each_capability_has_tests_that_are_there(capability: str, tests: str) -> None:
    named = _TEST.findall(tests)
    assert named, f"{capability}: no test is named"
    for file, function in named:
        text = (CHECKOUT / file).read_text()
        if file.endswith(".cc"):
            assert "TEST" in text
            continue
        found = {part.name for part in ast.walk(ast.parse(text)) if isinstance(part, ast.FunctionDef)}
        assert function in found if function else any(name.startswith("test_") for name in found)


def test_no_part_is_left_out() -> None:
    commands = {name for name, command in typer.main.get_group(app).commands.items() if not command.hidden}
    parts = {*commands, *technologies().ours, *applications().ours, *get_args(Discipline)}
    assert not {part for part in parts if f"`{part}`" not in _TEXT}
