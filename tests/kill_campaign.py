# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills a campaign in real time at random moments, and compares its rows with those of one left alone: `make kill-campaign`.

Exit status 1 when a row is missing, there twice or another one, or when anything was left.

python -m tests.kill_campaign [--runs 20] [--kills 5] [--seed 1] [--record FILE]      FILE gets what happened (.json.gz)
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from contracts.campaign import INDEX_FILE, RUNS_FOLDER, campaign_folder
from contracts.installation import CHECKOUT
from contracts.run_folder import METRICS_FILE, PLAN_FILE
from tests.evidence import keep
from tests.waiting import until

_TOPOLOGY: Final = """
name: small
centre: b
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
netboxes: {line: {technology: link, stations: {a: {}, b: {}}, delay: 5 ms}}
wires: [[a, line.a], [line.b, b]]
traffic: {probe: {application: udp-flow, from: a, to: b, rate: 80 kbit/s, payload: 100 B, duration: 2 s}}
realtime: {limit: 1 s}
"""
_FILE: Final = """
campaign: killed
topology: small.yaml
parameters: {delay: {path: netboxes.line.delay, values: [5 ms, 30 ms]}}
repetitions: REPETITIONS
keep: figures
"""
#: A command is killed so long after it began: while it plans, brings the first lab up, or makes another run.
_MOST_S: Final = 60.0
#: Or so long after a lab of it was first there: while this comes up, carries traffic or goes down.
_MOST_OF_A_LAB_S: Final = 10.0
#: A machine may be busy.
_DEADLINE_S: Final = 300.0
#: Of a row: what differs from one making of a run to the next.
_OF_THE_MAKING: Final = {"took_s": None, "attempt": None, "status": None}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kill_campaign")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="netboxit-campaign-") as name:
        (place := Path(name)).chmod(0o711)  # the nodes of a lab are somebody else on the host
        os.environ["NETBOXIT_STATE"] = str(place / "state")
        (place / "small.yaml").write_text(_TOPOLOGY)
        (place / "killed.yaml").write_text(_FILE.replace("REPETITIONS", str(arguments.runs // 2)))
        kills = list(_killed(place, arguments.kills, random.Random(arguments.seed)))
        status = _begun(place, "killed").wait()
        alone_status = _begun(place, "alone").wait()
        killed, alone = _rows(place, "killed"), _rows(place, "alone")
        problems = [*_problems(place, killed, alone), *_left(place)]
        print(f"{len(killed)} rows after {len(kills)} kills, {len(alone)} of the one left alone; problems: {problems or 'none'}")
        if arguments.record:
            found: dict[str, Any] = {
                "kills": kills,
                "exit statuses": {"killed": status, "alone": alone_status},
                "problems": problems,
                "rows of the killed one": killed,
                "rows of the one left alone": alone,
            }
            words = f"python -m tests.kill_campaign --runs {arguments.runs} --kills {arguments.kills} --seed {arguments.seed}"
            keep(arguments.record, words, found)
    return 1 if problems or status or alone_status else 0


def _killed(place: Path, times: int, chance: random.Random) -> list[dict[str, Any]]:
    """Begins the campaign and kills it, so many times; returns what was there at each."""
    kills: list[dict[str, Any]] = []
    while len(kills) < times:
        command, of_a_lab, whole = _begun(place, "killed"), len(kills) % 2 == 0, chance.random() < 0.5
        after_s = chance.uniform(0.0, _MOST_OF_A_LAB_S if of_a_lab else _MOST_S)
        before = len(_rows(place, "killed"))
        if of_a_lab:
            until(lambda command=command: _labs(place) or command.poll() is not None, "a lab", _DEADLINE_S)  # type: ignore[misc]
        time.sleep(after_s)
        if command.poll() is not None:
            raise SystemExit(f"the campaign was over before it was killed {times} times; give it more --runs")
        labs = _labs(place)
        (os.killpg if whole else os.kill)(command.pid, signal.SIGKILL)
        command.wait()
        kills.append(
            {
                "after_s": round(after_s, 3),
                "since": "a lab was there" if of_a_lab else "it began",
                "killed": "all its processes" if whole else "its own process",
                "labs": labs,
                "rows": [before, len(_rows(place, "killed"))],
            }
        )
        print(kills[-1], flush=True)
    return kills


def _begun(place: Path, results: str) -> subprocess.Popen[bytes]:
    words: list[str | Path] = [
        sys.executable,
        CHECKOUT / "netboxit.py",
        "campaign",
        place / "killed.yaml",
        "--results",
        place / results,
    ]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)


def _rows(place: Path, results: str) -> list[dict[str, Any]]:
    index = campaign_folder(place / results, "killed") / INDEX_FILE
    return [json.loads(line) for line in index.read_text().splitlines()] if index.exists() else []


def _problems(place: Path, killed: list[dict[str, Any]], alone: list[dict[str, Any]]) -> list[str]:
    problems = []
    if [{**row, **_OF_THE_MAKING} for row in killed] != [{**row, **_OF_THE_MAKING} for row in alone]:
        problems.append("the rows are others, or in another order")
    names = [row["name"] for row in killed]
    folder = campaign_folder(place / "killed", "killed")
    if sorted(names) != sorted(run.name for run in (folder / RUNS_FOLDER).iterdir()):
        problems.append("the folders of runs are not those of the rows")
    for row in killed:
        run = folder / RUNS_FOLDER / row["name"]
        plan, metrics = (json.loads((run / file).read_text()) for file in (PLAN_FILE, METRICS_FILE))
        if plan["seed"] != row["seed"]:
            problems.append(f"{run.name} has another seed than its row says")
        (delay_ms,) = [flow["one_way_delay_ms"]["p50"] for flow in metrics["flows"] if flow["one_way_delay_ms"]]
        if not 0 <= delay_ms - float(row["parameters"]["delay"].removesuffix(" ms")) < 20:
            problems.append(f"{run.name} has a delay of {delay_ms} ms, and its row says {row['parameters']['delay']}")
    return problems


def _left(place: Path) -> list[str]:
    left = [f"lab {lab} was left" for lab in _labs(place)]
    folder = campaign_folder(place / "killed", "killed")
    return [*left, *(f"{file.name} was left" for file in (*folder.glob(".lab-*"), *folder.glob(".new")))]


def _labs(place: Path) -> list[str]:
    labs = place / "state/labs"
    return sorted(lab.name for lab in labs.iterdir()) if labs.is_dir() else []


if __name__ == "__main__":
    sys.exit(main())
