# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.run_folder import VERSION


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run, with as little as an archive needs."""
    folder = tmp_path / "results/runs/20260101T000000.000Z-x"
    (folder / "nodes/a").mkdir(parents=True)
    documents = {
        "plan.json": {"lab": "x", "clock": "virtual", "nodes": []},
        "run.json": {"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:01:00+00:00", "failure": None},
        "environment.json": {"run_folder": VERSION, "netboxit": {"commit": "0123456789ab"}},
        "request.json": {"duration_s": 60.0},
    }
    for name, content in documents.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "topology.yaml").write_text("name: x\n")
    (folder / "nodes/a/frames.bin").write_bytes(bytes(range(256)) * 40)
    return folder
