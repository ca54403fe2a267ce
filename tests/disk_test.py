# SPDX-License-Identifier: GPL-2.0-or-later
"""Has the disk be full, or fail, at each call of `netboxit` that it could refuse: `make full-disk-test`.

Exit status 1 when anything was left or not told.

python -m tests.disk_test [MOST] [--record FILE]      so many trials at most, evenly spread; FILE gets each outcome (.json.gz)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.disk_trials import Moment, Outcome, count, moments, try_each
from tests.evidence import keep
from tests.trial import all_cores, sample


def main() -> int:
    arguments = _arguments()
    counted = count()
    chosen = everything = moments(counted)
    if arguments.most is not None and arguments.most < len(everything):
        chosen = sample(everything, arguments.most)
    for command, children in counted.items():
        own = children.get(0, 0)
        print(f"{command}: {own} calls of netboxit, {sum(children.values()) - own} of what it started")
    print(f"{len(chosen)} of {len(everything)} trials", flush=True)
    started, outcomes = time.monotonic(), []
    for some in all_cores(_try, chosen):
        outcomes += some
        for outcome in some:
            if outcome.problem:
                print(outcome, flush=True)
        failed = sum(bool(outcome.problem) for outcome in outcomes)
        print(f"{len(outcomes)} tried, {failed} with something wrong, {time.monotonic() - started:.0f} s", flush=True)
    late = sum(outcome.call is None for outcome in outcomes)
    print(f"{late} came after the end: a program does not wait equally often each time")
    if arguments.record:
        _keep(arguments.record, outcomes)
    return 1 if any(outcome.problem for outcome in outcomes) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.disk_test")
    parser.add_argument("most", nargs="?", type=int)
    parser.add_argument("--record", type=Path)
    return parser.parse_args()


def _try(portion: Sequence[Moment]) -> list[Outcome]:
    return list(try_each(portion))


def _keep(file: Path, outcomes: Sequence[Outcome]) -> None:
    """All that is needed to see what was tried, where, and what came of it."""
    refused = Counter(f"{outcome.moment.failure} {outcome.call.split()[1]}" for outcome in outcomes if outcome.call)
    found = {
        "tried": len(outcomes),
        "refused": dict(sorted(refused.items())),
        "with something wrong": sum(bool(outcome.problem) for outcome in outcomes),
        "outcomes": [asdict(outcome) for outcome in sorted(outcomes, key=lambda one: one.moment)],
    }
    keep(file, "make full-disk-test", found)


if __name__ == "__main__":
    sys.exit(main())
