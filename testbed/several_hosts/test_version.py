# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from testbed.several_hosts import version


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(version, "CHECKOUT", tmp_path)
    for file in ("contracts/plan.py", "netboxes/wifi/segment.cc", "click/meoc.click", "results/metrics.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(file)
    return tmp_path


@pytest.mark.parametrize("file", ["contracts/plan.py", "netboxes/wifi/segment.cc", "click/meoc.click", "results/metrics.py"])
def test_another_source_is_another_version(checkout: Path, file: str) -> None:
    before = version.version.__wrapped__()
    (checkout / file).write_text("changed")
    assert version.version.__wrapped__() != before


@pytest.mark.parametrize(
    "file", ["results/runs/1/nodes/meoc/meoc.click", "results/experiments/e4/x.py", "testbed/test_plan.py", "netboxes/README.md"]
)
def test_what_runs_leave_and_tests_are_no_part_of_it(checkout: Path, file: str) -> None:
    """After `make demo` a machine would have worked with no other."""
    before = version.version.__wrapped__()
    (checkout / file).parent.mkdir(parents=True, exist_ok=True)
    (checkout / file).write_text("anything")
    assert version.version.__wrapped__() == before
