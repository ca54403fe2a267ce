# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print with `--json`, held against the schemas that users have (docs/json/)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NoReturn

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from testbed.installation import CHECKOUT


def documents(output: str) -> list[dict[str, Any]]:
    """Each line is a whole document, and agrees with the schema of its name."""
    found = [json.loads(line, parse_constant=_no_json) for line in output.splitlines()]
    for one in found:
        name = one["format"].removeprefix("netboxit ")
        wrong = [f"{error.json_path}: {error.message}" for error in _validator(name).iter_errors(one)]
        assert not wrong, f"{name}: {wrong[:3]}"
    return found


def result(output: str, of: str) -> dict[str, Any]:
    """The document that a command ends with; before it there is nothing but its progress."""
    *steps, last = documents(output)
    assert {step["format"] for step in steps} <= {"netboxit progress"}
    assert (last["format"], last["version"]) == (f"netboxit {of}", 1), last
    return last


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((CHECKOUT / f"docs/json/{name}.schema.json").read_text()))


def _no_json(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")
