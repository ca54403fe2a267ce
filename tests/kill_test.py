# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills `netboxit` before each of its system calls that change something: `make kill-test`. Exit status 1 when anything was left.

python -m tests.kill_test [MOST]      so many of them at most, evenly spread
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.kill_trials import Moment, Outcome, count, moments, try_each
from tests.trial import all_cores, sample


def main() -> int:
    counted = count()
    chosen = everything = moments(counted)
    if len(sys.argv) > 1 and int(sys.argv[1]) < len(everything):
        chosen = sample(everything, int(sys.argv[1]))
    for command, children in counted.items():
        calls = {child: found.all for child, found in children.items()}
        own = calls.pop(0, 0)
        print(f"{command}: {own} calls of netboxit, {sum(calls.values())} of {len(calls)} children")
    print(f"{len(chosen)} of {len(everything)} moments", flush=True)
    started, tried, failed, late = time.monotonic(), 0, 0, 0
    for outcomes in all_cores(_try, chosen):
        tried += len(outcomes)
        late += sum(outcome.call is None for outcome in outcomes)
        for outcome in outcomes:
            if outcome.problem:
                failed += 1
                print(f"{outcome.moment} ({outcome.call})\n{outcome.problem}", flush=True)
        print(f"{tried} tried, {failed} left something, {time.monotonic() - started:.0f} s", flush=True)
    print(f"{late} came after the end: a program does not wait equally often each time")
    return 1 if failed else 0


def _try(portion: Sequence[Moment]) -> list[Outcome]:
    return list(try_each(portion))


if __name__ == "__main__":
    sys.exit(main())
