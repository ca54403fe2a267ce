# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of an experiment in which chance decides: made one by one, kept as lines of JSON, and not made again."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ruamel.yaml import YAML

from contracts.installation import CHECKOUT
from experiments.carrying import RunFailed, Time

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: A run in real time that its verdict does not believe is made again; at most so many are made.
ATTEMPTS: Final = 3

Series = TypeVar("Series")
Line = TypeVar("Line", bound="DataclassInstance")
#: What `metrics.json` says.
Metrics = dict[str, Any]


def kept(file: Path, kind: type[Line]) -> list[Line]:
    return [kind(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def carry(file: Path, wanted: Sequence[Series], measure: Callable[[Series], Sequence[Line]], most: int) -> int:
    """Adds to `file` what is measured of the first `most` that are wanted; returns how many are left."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for series in wanted[:most]:
        lines = measure(series)
        with file.open("a") as opened:
            opened.writelines(json.dumps(asdict(line)) + "\n" for line in lines)
    return max(0, len(wanted) - most)


def run(topology: dict[str, Any], time: Time, *, warm_up_s: float = 0.0) -> tuple[Metrics, int]:
    """Runs a topology until a run is believed; returns what was measured, and how many runs were discarded. Raises RunFailed."""
    options = ["--virtual"] if time == "virtual" else []
    options += ["--warm-up", f"{warm_up_s:g} s"] if warm_up_s else []
    with tempfile.TemporaryDirectory(prefix="netboxit-") as folder:
        file = Path(folder) / f"{topology['name']}.yaml"
        with file.open("w") as opened:
            YAML(typ="safe").dump(topology, opened)
        return believed(lambda: _in_own_process(file, options))


def believed(make: Callable[[], Metrics]) -> tuple[Metrics, int]:
    """The first run that its verdict calls valid, or the last attempt; and how many were discarded before."""
    discarded = 0
    while (metrics := make())["verdict"]["status"] != "valid" and discarded + 1 < ATTEMPTS:
        print(f"{metrics['lab']}: {metrics['verdict']['reasons']}", file=sys.stderr)
        discarded += 1
    return metrics, discarded


def _in_own_process(file: Path, options: Sequence[str]) -> Metrics:
    """A run gives its rights up for good."""
    results = file.parent / "results"
    command: list[str | Path] = [sys.executable, CHECKOUT / "netboxit.py", "run", file, "--results", results, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RunFailed(f"the run of {file.stem} failed: {done.stderr.strip()} {done.stdout.strip()}")
    metrics: Metrics = json.loads((results / "latest/metrics.json").read_text())
    return metrics
