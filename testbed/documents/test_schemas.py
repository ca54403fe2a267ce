# SPDX-License-Identifier: GPL-2.0-or-later
"""The schemas that users have are those of the types by which documents are made."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from contracts.document import Document
from contracts.installation import CHECKOUT
from contracts.plan import EquipmentPlan, Plan
from testbed.documents import kinds
from testbed.documents.schemas import FOLDER, documents, file_name, schema, text

DOCUMENTS = list(documents())
PAGE = (CHECKOUT / "docs/json.md").read_text()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.name))
def test_the_files_are_those_of_the_types(document: Document[Any]) -> None:
    Draft202012Validator.check_schema(schema(document))
    assert (FOLDER / file_name(document)).read_text() == text(document), (
        "a document has changed: write the schemas anew with .venv/bin/python -m testbed.documents.schemas, and look into "
        'docs/json.md ("Versions") whether its number grows'
    )


def test_there_is_no_other_file() -> None:
    assert {file.name for file in FOLDER.iterdir()} == set(map(file_name, DOCUMENTS))


def test_the_page_names_each_document_and_no_other() -> None:
    assert set(re.findall(r"\]\(json/([\w-]+\.schema\.json)\)", PAGE)) == set(map(file_name, DOCUMENTS))


def test_every_document_says_first_which_one_it_is() -> None:
    said = kinds.PROGRESS.of({"words": "waiting", "at": "2026-01-01T00:00:00.000+00:00"})
    assert list(said) == ["format", "version", "words", "at"]
    assert Draft202012Validator(schema(kinds.PROGRESS)).is_valid(said)


@pytest.mark.parametrize(
    ("key", "value"), [("format", "netboxit up"), ("version", 2), ("removed", None), ("removed", [1]), ("removd", [])]
)
def test_a_schema_sees_what_is_another_document(key: str, value: object) -> None:
    down: dict[str, Any] = kinds.DOWN.of({"removed": ["a"], "notes": []})
    assert Draft202012Validator(schema(kinds.DOWN)).is_valid(down)
    assert not Draft202012Validator(schema(kinds.DOWN)).is_valid(down | {key: value})


def test_a_line_of_a_watch_is_held_to_its_kind() -> None:
    lines = Draft202012Validator(schema(kinds.WATCH))
    gone = kinds.WATCH.of({"kind": "lab", "lab": "x", "state": "gone"})
    assert lines.is_valid(gone)
    assert not lines.is_valid({**gone, "kind": "event"})


def test_nothing_of_a_plan_is_left_out() -> None:
    own = ["load", "difference", "missing", "remarks"]
    kind = ["format", "version"]
    assert list(schema(kinds.PLAN)["properties"]) == [*kind, *(field.name for field in fields(Plan)), *own]
    equipment = [field.name for field in fields(EquipmentPlan)]
    assert list(schema(kinds.ATTACH)["properties"]) == [*kind, *equipment, "remarks"]
    assert list(schema(kinds.DETACH)["properties"]) == [*kind, *equipment, "notes"]
