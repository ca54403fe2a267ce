# SPDX-License-Identifier: GPL-2.0-or-later
"""A bench as a whole, with benchmarks that measure nothing."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench import session
from bench.outcome import Outcome
from bench.session import BENCHMARKS, NoSuchBenchmark
from bench.settings import Surroundings, quick
from contracts.errors import NetBoxITError
from system.cores import available_cores
from testbed.documents import kinds

pytestmark = pytest.mark.skipif(len(available_cores()) < 2, reason="benchmarks need two cores")


def benchmarks(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> None:
    for name, measure in functions.items():
        module = ModuleType(f"bench.{name}")
        module.measure = measure  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, f"bench.{name}", module)
    monkeypatch.setattr(session, "BENCHMARKS", {name: f"bench.{name}" for name in functions})


def run(tmp_path: Path, *names: str) -> session.Bench:
    return session.run(names, quick(1), lambda _: None, "netboxit bench", tmp_path)


def test_a_benchmark_that_fails_is_told_of_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(around: Surroundings) -> Outcome:
        raise NetBoxITError("the lab did not come up")

    benchmarks(monkeypatch, first=fails, second=lambda around: Outcome(figures={"satellites_valid": 42}))
    bench = run(tmp_path)
    assert bench.data["failures"] == {"first": "the lab did not come up"}
    assert bench.data["figures"] == {"satellites_valid": 42}
    assert json.loads(bench.json_file.read_text()) == json.loads(json.dumps(kinds.BENCH.of(bench.data)))
    assert bench.markdown_file.read_text() == bench.markdown


def test_only_what_was_asked_for_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    benchmarks(
        monkeypatch,
        first=lambda around: Outcome(figures={"lab_up_s": 1}),
        second=lambda around: Outcome(figures={"lab_down_s": 2}),
    )
    assert run(tmp_path, "second").data["figures"] == {"lab_down_s": 2}


def test_an_unknown_name_is_refused_with_the_nearest_one_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(NoSuchBenchmark, match="setup_a"):
        run(tmp_path, "setup-a")
    assert not list(tmp_path.iterdir())


def test_who_interrupts_it_finds_what_was_measured_until_then(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(around: Surroundings) -> Outcome:
        raise KeyboardInterrupt

    benchmarks(monkeypatch, first=lambda around: Outcome(figures={"lab_up_s": 1}), second=interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    (kept,) = tmp_path.glob("*.json")
    assert json.loads(kept.read_text())["figures"] == {"lab_up_s": 1}
    assert json.loads(kept.read_text())["failures"] == {"bench": "ended early: KeyboardInterrupt"}


@pytest.mark.parametrize("module", BENCHMARKS.values())
def test_every_benchmark_is_a_module_that_measures(module: str) -> None:
    assert callable(importlib.import_module(module).measure)
