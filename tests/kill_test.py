# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills `netboxit` before each of its system calls that change something: `make kill-test`. Exit status 1 when anything was left.

python -m tests.kill_test [MOST] [--record FILE]      so many of them at most, evenly spread; FILE gets each outcome (.json.gz)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.evidence import keep
from tests.kill_trials import Moment, Outcome, count, moments, try_each
from tests.trial import all_cores, sample


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kill_test")
    parser.add_argument("most", nargs="?", type=int)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    counted = count()
    chosen = everything = moments(counted)
    if arguments.most is not None and arguments.most < len(everything):
        chosen = sample(everything, arguments.most)
    for command, children in counted.items():
        calls = {child: found.all for child, found in children.items()}
        own = calls.pop(0, 0)
        print(f"{command}: {own} calls of netboxit, {sum(calls.values())} of {len(calls)} children")
    print(f"{len(chosen)} of {len(everything)} moments", flush=True)
    started, outcomes = time.monotonic(), []
    for some in all_cores(_try, chosen):
        outcomes += some
        for outcome in some:
            if outcome.problem:
                print(outcome, flush=True)
        failed = sum(bool(outcome.problem) for outcome in outcomes)
        print(f"{len(outcomes)} tried, {failed} left something, {time.monotonic() - started:.0f} s", flush=True)
    late = sum(outcome.call is None for outcome in outcomes)
    print(f"{late} came after the end: a program does not wait equally often each time")
    if arguments.record:
        found = {
            "tried": len(outcomes),
            "came after the end": late,
            "left something": sum(bool(outcome.problem) for outcome in outcomes),
            "outcomes": [asdict(outcome) for outcome in sorted(outcomes, key=lambda one: one.moment)],
        }
        keep(arguments.record, "make kill-test", found)
    return 1 if any(outcome.problem for outcome in outcomes) else 0


def _try(portion: Sequence[Moment]) -> list[Outcome]:
    return list(try_each(portion))


if __name__ == "__main__":
    sys.exit(main())
