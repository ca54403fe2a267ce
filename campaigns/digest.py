# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run that is there is the one that the campaign's file and topologies mean now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.plan import Plan

#: Words for people, and what only says where on a machine a lab is.
_OF_NO_CONSEQUENCE: Final = ("topology", "notes", "lab", "awake_cores", "realtime_budget_us")
_OF_A_NODE: Final = ("cores", "container", "namespace", "realtime_priority")


def of_plan(plan: Plan, least_s: float) -> str:
    """SHA-256 of all that a run follows from but the program itself. A file that the plan names counts by its content."""
    data = plan.to_json()
    for key in _OF_NO_CONSEQUENCE:
        del data[key]
    for node in data["nodes"]:
        for key in _OF_A_NODE:
            del node[key]
    for wire in data["wires"]:
        del wire["reason"]
    text = json.dumps([data, least_s], sort_keys=True)
    for file in named_files(plan):
        text = text.replace(json.dumps(str(file)), json.dumps(hashlib.sha256(file.read_bytes()).hexdigest()))
    return hashlib.sha256(text.encode()).hexdigest()


def of_run(point: str, seed: int) -> str:
    """From the digest of its point."""
    return hashlib.sha256(f"{point} {seed}".encode()).hexdigest()


def named_files(plan: Plan) -> Iterator[Path]:
    """The files of the user's that applications read when they run: absolute paths (`contracts.files.find_file`)."""
    for entry in plan.traffic:
        for value in entry.options.values():
            if isinstance(value, str) and value.startswith("/") and Path(value).is_file():
                yield Path(value)
