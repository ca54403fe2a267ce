# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents say what the models say, and the examples of docs/topology.md are good ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from contracts.plan import RealtimeSupport
from testbed.description.equipment_section import Equipment, Replacement
from testbed.description.events import Event
from testbed.description.managed_link import ManagedLink
from testbed.description.reference import DOCUMENT, documents, written
from testbed.description.router import Router
from testbed.description.switch import Switch
from testbed.description.topology import Host, Netbox, Wire
from testbed.description.topology_file import load
from testbed.description.traffic_class import Match
from testbed.description.yaml_source import read
from testbed.plans.resolve import resolve

EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("document", documents(), ids=lambda document: str(document.parent.name))
def test_the_tables_are_those_of_the_models(document: Path) -> None:
    text = document.read_text()
    assert "<!-- table: " in text
    assert written(document) == text, (
        "a model has changed: write the tables anew with .venv/bin/python -m testbed.description.reference"
    )


@pytest.mark.parametrize("example", [text for text in EXAMPLES if text.startswith("name:")])
def test_a_whole_example_makes_a_plan(example: str, tmp_path: Path) -> None:
    file = tmp_path / "example.yaml"
    file.write_text(example)
    plan = resolve(load(file), cores=(0, 1), realtime=RealtimeSupport(True, 950_000, ""))
    assert len(plan.nodes) >= 2


@pytest.mark.parametrize("example", [text for text in EXAMPLES if not text.startswith("name:")])
def test_a_part_of_an_example_is_right_in_itself(example: str, tmp_path: Path) -> None:
    file = tmp_path / "example.yaml"
    file.write_text(example)
    (tmp_path / "site").mkdir()  # which a host of an example has a copy of
    ((section, entries),) = read(file).data.items()
    models: dict[str, Any] = {"hosts": Host, "classes": Match, "wires": Wire, "routers": Router, "events": Event}
    models |= {"equipment": Equipment, "netboxes": Netbox, "replace": Replacement, "switches": Switch, "management": ManagedLink}
    model = TypeAdapter(models[section])
    context = {"folder": tmp_path}
    assert all(
        model.validate_python(entry, context=context) for entry in (entries if isinstance(entries, list) else entries.values())
    )


def test_both_kinds_of_examples_are_there() -> None:
    assert sum(text.startswith("name:") for text in EXAMPLES) == 2
    assert len(EXAMPLES) == 18
