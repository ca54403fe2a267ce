# SPDX-License-Identifier: GPL-2.0-or-later
"""A bench from beginning to end: the benchmarks that were asked for, one after the other, and what is kept of them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench import report
from bench.bisection import NothingGood
from bench.machine import described, steal_told
from bench.outcome import Outcome
from bench.settings import Progress, Settings, Surroundings
from contracts.errors import NetBoxITError, WrongInput
from contracts.installation import CHECKOUT
from system.cores import available_cores
from testbed.description.input_errors import nearest
from testbed.documents import kinds

if TYPE_CHECKING:
    from testbed.documents.bench import Bench as BenchData

RESULTS = CHECKOUT / "results/bench"

#: In the order in which they run: the module of each, with a function `measure`.
BENCHMARKS = {
    "setup_a": "bench.setup_a",
    "chain": "bench.chain",
    "crossing": "bench.crossing",
    "lateness": "bench.lateness",
    "fidelity": "bench.fidelity_table",
    "lab": "bench.lab",
    "altering": "bench.altering",
    "generation": "bench.generation",
    "forwarding": "bench.forwarding",
    "switching": "bench.switching",
    "load": "bench.load",
    "services": "bench.services",
    "satellites": "bench.satellites",
    "virtual": "bench.virtual",
}


class NoSuchBenchmark(WrongInput):
    """A benchmark of that name does not exist."""


class TooFewCores(NetBoxITError):
    """Contestants need a core that the generator does not use."""


@dataclass(frozen=True)
class Bench:
    """What was measured, as data and as text, and the files that hold both."""

    data: BenchData
    markdown: str
    json_file: Path
    markdown_file: Path


def run(names: Sequence[str], settings: Settings, progress: Progress, command: str, results: Path = RESULTS) -> Bench:
    """Runs benchmarks; without names all of them.

    One that fails is told of in the result, and the others go on. Who interrupts it finds what was measured until then.
    Raises NoSuchBenchmark, TooFewCores before anything is done.
    """
    for name in names:
        if name not in BENCHMARKS:
            raise NoSuchBenchmark(f'there is no benchmark "{name}"; {nearest(name, BENCHMARKS)}')
    cores = available_cores()
    if len(cores) < 2:
        raise TooFewCores("benchmarks need two cores: one for the traffic, one for what is measured")
    chosen = [name for name in BENCHMARKS if not names or name in names]
    with _kept(settings, command, results) as (bench, folder):
        for name in chosen:
            around = Surroundings(settings, cores, folder, _about(name, progress))
            try:
                bench.outcomes[name] = importlib.import_module(BENCHMARKS[name]).measure(around)
            except (NetBoxITError, NothingGood) as error:
                bench.failures[name] = str(error)
                progress(f"{name}: {error}")
    return bench.result()


def _about(benchmark: str, progress: Progress) -> Progress:
    return lambda text: progress(f"{benchmark}: {text}")


class _Record:
    """What there is so far, and where it goes."""

    def __init__(self, settings: Settings, command: str, results: Path) -> None:
        self._settings, self._command, self._results = settings, command, results
        self.started = datetime.now(UTC)
        self.outcomes: dict[str, Outcome] = {}
        self.failures: dict[str, str] = {}
        self.machine = described()
        self._bench: Bench | None = None

    @property
    def stem(self) -> str:
        return f"{self.started:%Y%m%dT%H%M%SZ}"

    def write(self) -> None:
        data = report.to_json(
            self.outcomes,
            machine=self.machine,
            settings=self._settings.to_json(),
            command=self._command,
            failures=self.failures,
        )
        markdown = report.to_markdown(self.outcomes, data, f"{self.started:%Y-%m-%d %H:%M} UTC")
        json_file, markdown_file = (self._results / f"{self.stem}.{ending}" for ending in ("json", "md"))
        json_file.write_text(json.dumps(kinds.BENCH.of(data), indent=1) + "\n")
        markdown_file.write_text(markdown)
        self._bench = Bench(data, markdown, json_file, markdown_file)

    def result(self) -> Bench:
        if self._bench is None:
            raise RuntimeError("a bench is asked for its result before its end")
        return self._bench


@contextmanager
def _kept(settings: Settings, command: str, results: Path) -> Iterator[tuple[_Record, Path]]:
    """A record and a folder for what the benchmarks leave (topologies, runs); written at the end, whatever ends it."""
    record = _Record(settings, command, results)
    folder = results / record.stem
    folder.mkdir(parents=True)
    try:
        with steal_told(record.machine):
            yield record, folder
    except BaseException as error:
        record.failures["bench"] = f"ended early: {type(error).__name__}"
        raise
    finally:
        record.write()
