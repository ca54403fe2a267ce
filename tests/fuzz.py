# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends hostile frames into every port of a network that has every kind of node: `make fuzz`. Exit status 1 when one did harm.

python -m tests.fuzz [FRAMES] [--seed 1] [--rate 40000] [--record FILE]      so many frames in all, at so many a second

FILE gets what was sent, counted and held (.json.gz).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from contracts.installation import CHECKOUT
from tests.evidence import keep
from tests.fuzzed_network import Fuzzed, Resources

RESULTS = CHECKOUT / "results" / "bench"
#: Portions in which frames are sent; memory is compared from after the first ones on, when what is made once is made.
PORTIONS, WARM_UP = 20, 4
#: A channel of 7.2 kbit/s has a queue to work off before anything else passes.
REACHED_WITHIN_S = 400.0
#: What a process may take more at the end than after the warm-up, in KiB: what its allocator keeps in store.
MOST_MORE_KIB = 4096
#: What nodes that remember flows may take more. Open vSwitch's user space keeps each flow for ten seconds after its last frame:
#: memory follows the rate of new flows. A NAPT router keeps each mapping for hours: at most 40 000 of TCP and UDP and 65 536 of
#: pings (click/nat.click). A mapping of UDP took 97 bytes when measured, so all of them take some 10 MB, and then no more.
MOST_MORE_WITH_FLOWS_KIB = {"switch": 262_144, "r-nat": 12_288}


def fuzz(fuzzed: Fuzzed, seed: int, frames: int, rate: int) -> dict[str, Any]:
    """What was sent and what became of it: `problems` is empty when nothing did harm."""
    each = -(-frames // (PORTIONS * len(fuzzed.hosts)))
    problems: list[str] = []
    taken = 0
    samples: list[dict[str, Resources]] = [fuzzed.resources()]
    started = time.monotonic()
    for portion in range(PORTIONS):
        taken += fuzzed.send(seed * PORTIONS + portion, each, rate)
        problems = fuzzed.complaints()
        samples.append(fuzzed.resources())
        print(f"{each * len(fuzzed.hosts) * (portion + 1)} frames, {time.monotonic() - started:.0f} s", flush=True)
        if problems:
            break
    else:
        problems += [*grown(samples[0], samples[WARM_UP], samples[-1]), *fuzzed.unreached(REACHED_WITHIN_S)]
    return {
        "seed": seed,
        "frames": each * len(fuzzed.hosts) * (len(samples) - 1),
        "frames_each_port": each * (len(samples) - 1),
        "ports": len(fuzzed.hosts),
        "taken_by_the_kernel": taken,
        "cut_tags": sum(fuzzed.cut.values()),
        "seconds": round(time.monotonic() - started, 1),
        "load_average": os.getloadavg()[1],
        "nodes": {
            name: {
                "memory_kib": [sum(sample[name].memory_kib.values()) for sample in samples],
                "files": [sum(sample[name].files.values()) for sample in samples],
            }
            for name in samples[0]
        },
        "counted": fuzzed.counted(),
        "problems": problems,
    }


def grown(first: dict[str, Resources], warm: dict[str, Resources], last: dict[str, Resources]) -> list[str]:
    """Processes that ended or came, and those that hold more memory or files after all frames than after the first ones."""
    wrong = []
    for name in first:
        most = MOST_MORE_WITH_FLOWS_KIB.get(name, MOST_MORE_KIB)
        if first[name].memory_kib.keys() != last[name].memory_kib.keys():
            wrong.append(f"{name}: processes {sorted(first[name].memory_kib)} were there, then {sorted(last[name].memory_kib)}")
            continue
        for process, memory in last[name].memory_kib.items():
            if (more := memory - warm[name].memory_kib[process]) > most:
                wrong.append(f"{name}, process {process}: {more} KiB more than after the warm-up, {most} are allowed")
            if (files := last[name].files[process]) > warm[name].files[process]:
                wrong.append(f"{name}, process {process}: {files} open files, {warm[name].files[process]} after the warm-up")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("frames", nargs="?", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=40_000)
    parser.add_argument("--record", type=Path)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        Path(folder).chmod(0o711)
        with Fuzzed.up(f"fuzz{os.getpid()}", Path(folder)) as fuzzed:
            outcome = fuzz(fuzzed, said.seed, said.frames, said.rate)
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-fuzz.json"
    file.write_text(json.dumps(outcome, indent=1) + "\n")
    if said.record:
        keep(said.record, f"python -m tests.fuzz {said.frames} --seed {said.seed} --rate {said.rate}", outcome)
    for name, node in outcome["nodes"].items():
        memory, files = node["memory_kib"], node["files"]
        at = min(WARM_UP, len(memory) - 1)
        print(
            f"{name:14} {memory[0]:7} KiB, {memory[at]:7} warm, {memory[-1]:7} at the end; open files {files[0]} and {files[-1]}"
        )
    print(f"{outcome['frames']} frames, {outcome['frames_each_port']} into each of {outcome['ports']} ports: {file}")
    for problem in outcome["problems"]:
        print(problem)
    return 1 if outcome["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
