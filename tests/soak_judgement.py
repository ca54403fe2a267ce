# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether what processes hold grows with time, by samples of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

SAMPLE_S: Final = 2.0
#: Share of the time after which what is made once has been made.
WARM_UP: Final = 0.25
#: What counts of a program that is not there all the time: one that is started for a moment grows with nothing.
_MOSTLY: Final = 0.8
#: How much more may be held at the end than after the warm-up, by the line through the samples: memory in KiB and as a share
#: (allocators keep some in store; a terminal's recording grows in files), files and threads in whole ones.
MOST_MORE_KIB, MOST_MORE_SHARE, MOST_MORE_COUNT = 2048.0, 0.03, 0.5
#: What comes and goes (a connection that asks for the status) tilts the line of a short soak: so many standard errors of its rise
#: are no growth. After ten minutes they are less than the above.
_STANDARD_ERRORS: Final = 3.0
_KINDS: Final = ("memory_kib", "files", "threads")


@dataclass(frozen=True)
class Sample:
    """What programs held at a time (s): by node and name, memory in KiB, open files, threads."""

    at_s: float
    held: Mapping[str, tuple[int, int, int]]


@dataclass(frozen=True)
class Held:
    """What one program held after the warm-up: at first and at last by the line through the samples, and at most."""

    program: str
    first: tuple[float, ...]
    last: tuple[float, ...]
    most: tuple[int, ...]
    problems: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        by_kind = {
            kind: {"first": round(first, 1), "last": round(last, 1), "most": most}
            for kind, first, last, most in zip(_KINDS, self.first, self.last, self.most, strict=True)
        }
        return {"program": self.program, **by_kind}


def columns(samples: Sequence[Sample]) -> dict[str, Any]:
    """Each sample: `at_s`, and by program what it held at those times by kind; None where it was not there."""
    programs = sorted({program for sample in samples for program in sample.held})
    absent = (None,) * len(_KINDS)
    held = {}
    for program in programs:
        rows = [sample.held.get(program, absent) for sample in samples]
        held[program] = dict(zip(_KINDS, zip(*rows, strict=True), strict=True))
    return {"at_s": [sample.at_s for sample in samples], "held": held}


def judged(samples: Sequence[Sample]) -> list[Held]:
    """Of each program that was there most of the time; `problems` are empty for one that holds no more than it did."""
    warm = [sample for sample in samples if sample.at_s >= WARM_UP * samples[-1].at_s]
    programs = sorted({program for sample in warm for program in sample.held})
    there = {program: [(sample.at_s, sample.held[program]) for sample in warm if program in sample.held] for program in programs}
    return [_held(program, found) for program, found in there.items() if len(found) >= _MOSTLY * len(warm)]


def _held(program: str, found: Sequence[tuple[float, tuple[int, int, int]]]) -> Held:
    times, values = np.array([at for at, _ in found]), np.array([held for _, held in found], dtype=float)
    slope, base = np.polyfit(times - times[0], values, 1)
    first, last = base, base + slope * (times[-1] - times[0])
    # Of the rise from end to end of a line through n values evenly spread: their scatter around it, by the square root of n / 12.
    scatter = np.std(values - (base + np.outer(times - times[0], slope)), axis=0) * np.sqrt(12.0 / len(times))
    problems = []
    for kind, before, after, error in zip(_KINDS, first, last, scatter, strict=True):
        allowed = MOST_MORE_KIB + MOST_MORE_SHARE * before if kind == "memory_kib" else MOST_MORE_COUNT
        allowed = max(allowed, _STANDARD_ERRORS * error)
        if after - before > allowed:
            problems.append(f"{program}: {kind} grew from {before:.1f} to {after:.1f}, {allowed:.1f} more are allowed")
    return Held(program, tuple(first), tuple(last), tuple(int(most) for most in values.max(axis=0)), problems)


def table(held: Sequence[Held]) -> str:
    """For people, in Markdown."""
    lines = ["| program | memory, KiB | at most | open files | threads |", "|---|---|---|---|---|"]
    for one in held:
        kib, files, threads = (f"{first:.0f} → {last:.0f}" for first, last in zip(one.first, one.last, strict=True))
        lines.append(f"| {one.program} | {kib} | {one.most[0]} | {files} | {threads} |")
    return "\n".join(lines) + "\n"
