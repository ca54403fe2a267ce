# SPDX-License-Identifier: GPL-2.0-or-later
"""How late the machine itself is: a thread that only wakes up, by cyclictest of the rt-tests. Nothing of ours can be better."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from contracts.errors import NetBoxITError

#: Between two wake-ups, and the longest lateness that is told apart, in microseconds.
_INTERVAL_US, _LONGEST_US = 1000, 100_000
_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}


class NoCyclictest(NetBoxITError):
    """cyclictest is missing, or could not measure."""


def lateness_us(core: int, lasts_s: float, folder: Path) -> dict[str, float]:
    """Percentiles and maximum of a SCHED_FIFO timer on a core that is kept awake, as cyclictest does it. Raises NoCyclictest."""
    file = folder / "cyclictest.json"
    loops = round(lasts_s * 1e6 / _INTERVAL_US)
    argv = ["cyclictest", "--mlockall", "--priority=50", f"--affinity={core}", f"--interval={_INTERVAL_US}", f"--loops={loops}"]
    argv += ["--quiet", f"--histogram={_LONGEST_US}", f"--json={file}"]
    try:
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=lasts_s + 30)
    except FileNotFoundError:
        raise NoCyclictest("cyclictest is not installed: install Debian's rt-tests, or run `make setup`") from None
    except subprocess.SubprocessError as error:
        raise NoCyclictest(f"cyclictest on core {core} failed: {getattr(error, 'stderr', None) or error}") from error
    (thread,) = json.loads(file.read_text())["thread"].values()
    return percentiles(thread["histogram"]) | {"max": float(thread["max"])}


def percentiles(histogram: Mapping[str, int]) -> dict[str, float]:
    """Of a histogram as cyclictest writes it: microseconds, as text, to how often."""
    counts = sorted((int(us), count) for us, count in histogram.items())
    lateness: dict[str, float] = {}
    for level, share in _SHARES.items():
        wanted, passed = share * sum(count for _, count in counts), 0
        for us, count in counts:
            passed += count
            if passed >= wanted:
                lateness[level] = float(us)
                break
    return lateness
