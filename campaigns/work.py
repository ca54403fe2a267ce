# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of a campaign in virtual time, as a worker makes it: from data alone, on whatever machine that is."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from applications.registry import analyses
from campaigns.engine import Done
from contracts import durable
from contracts.files import kept_at
from contracts.plan import Plan
from contracts.run_files import read
from contracts.run_folder import RUN_FILE
from contracts.run_records import RunRecord
from results.analyse import analyse
from results.retention import Keep, reduce
from testbed import virtual_run
from testbed.virtual_run import Computation


@dataclass(frozen=True)
class Work:
    """A run: its plan as JSON, the files that say what was asked for, its least length in seconds, what is kept of it."""

    plan: Mapping[str, Any]
    inputs: Mapping[str, bytes]
    #: Files that the plan names by their paths, and under which names the inputs have them.
    named: Mapping[str, str]
    least_s: float
    keep: Keep

    @staticmethod
    def of(computation: Computation, keep: Keep) -> Work:
        named = {str(path): kept_at(text) for text, path in computation.named.items()}
        return Work(computation.plan.to_json(), computation.inputs, named, computation.least_s, keep)

    def write(self, file: Path) -> None:
        """For another process of this machine. Raises NotWritten."""
        inputs = {name: base64.b64encode(content).decode() for name, content in self.inputs.items()}
        durable.write(file, json.dumps([self.plan, inputs, self.named, self.least_s, self.keep]))

    @staticmethod
    def read(file: Path) -> Work:
        plan, inputs, named, least_s, keep = json.loads(file.read_bytes())
        return Work(plan, {name: base64.b64decode(content) for name, content in inputs.items()}, named, least_s, keep)


def perform(work: Work, folder: Path, progress: Callable[[str], None] = lambda _: None) -> Done:
    """Makes the run in its folder, which is there and empty. `progress` is told how far it is.

    What fails in the run is told in the folder. Raises NotWritten.
    """
    began = time.monotonic()
    computation = Computation(Plan.from_json(work.plan), work.inputs, work.least_s)
    virtual_run.carry(computation, folder, progress)
    metrics = analyse(folder, analyses(), page=work.keep == "everything", frames_kept=work.keep != "figures")
    record = read(folder / RUN_FILE, RunRecord)
    reduce(folder, work.keep)
    return Done(metrics["verdict"]["status"], time.monotonic() - began, None if record is None else record["failure"])
