# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print with `--json`, and metrics.json, held against the schemas that users have (docs/json/)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NoReturn

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from contracts.installation import CHECKOUT


def documents(output: str) -> list[dict[str, Any]]:
    """Each line is a whole document."""
    return [document(line) for line in output.splitlines()]


def document(text: str) -> dict[str, Any]:
    """Agrees with the schema of its name."""
    found: dict[str, Any] = json.loads(text, parse_constant=_no_json)
    name = found["format"].removeprefix("netboxit ")
    wrong = [f"{error.json_path}: {error.message}" for error in _validator(name).iter_errors(found)]
    assert not wrong, f"{name}: {wrong[:3]}"
    return found


def result(output: str, of: str) -> dict[str, Any]:
    """The document that a command ends with; before it there is nothing but its progress."""
    *steps, last = documents(output)
    assert {step["format"] for step in steps} <= {"netboxit progress"}
    assert last["format"] == f"netboxit {of}", last
    return last


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((CHECKOUT / f"docs/json/{name}.schema.json").read_text()))


def _no_json(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")
