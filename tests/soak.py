# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that works for a long time with everything going on in it, and what its processes hold meanwhile: `make soak`.

python -m tests.soak [MINUTES] [--name LAB] [--record FILE]      exit status 1 when memory, open files or threads of anything grew

FILE gets each sample (.json.gz).

A call, a camera and a flow through a switch; each ten seconds a change: a parameter, a wire unplugged, a router without power;
captures at all hosts by the run, a capture in a ring by the command, and somebody who asks for the status every few seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from ownership import state
from system import cores, processes
from testbed.description.yaml_source import read
from testbed.labs.lab import Lab
from tests.evidence import keep
from tests.soak_judgement import SAMPLE_S, WARM_UP, Sample, columns, judged, table

RESULTS = CHECKOUT / "results" / "bench"
NETBOXIT = [sys.executable, str(CHECKOUT / "netboxit.py")]
STATUS_EVERY_S = 5.0
#: Until the lab is up and its traffic flows.
UP_WITHIN_S = 120.0
#: From the end of the traffic until the run has been analysed; a long call and camera take as long to rate as they took.
DOWN_WITHIN_S = 600.0


def network(name: str, duration_s: float) -> dict[str, Any]:
    """The emergency network, with a switch beside it, and something that changes every ten seconds."""
    made: dict[str, Any] = dict(read(CHECKOUT / "topologies" / "emergency.yaml").data)
    made["name"] = name
    made["hosts"] |= {"desk": {"address": "10.30.0.1/24"}, "server": {"address": "10.30.0.2/24"}}
    made["switches"] = {"office": {"ports": {"desk": {"vlan": 10}, "server": {"vlan": 10}}}}
    made["wires"] += [["desk", "office.desk"], ["server", "office.server"]]
    made["traffic"] |= {
        "backup": {"application": "udp-flow", "from": "desk", "to": "server", "rate": "1 Mbit/s", "payload": "1000 B"}
    }
    made["realtime"] |= {"keep_awake": False, "limit": "50 ms"}
    jan = ["meoc.jan", "backhaul.meoc"]
    made["events"] = []
    for number, at in enumerate(range(10, int(duration_s) - 20, 10)):
        what: tuple[dict[str, Any], ...] = (
            {"netbox": "field", "set": {"distance": f"{60 + number % 40} m"}},
            {"wire": jan, "state": "down"},
            {"netbox": "backhaul", "set": {"fade": f"{number % 6} dB"}},
            {"node": "meoc", "reboot": "500 ms"},
            {"node": "meoc", "write": {"jan_shaper.rate": "1200kbps"}},
        )
        change = what[number % len(what)]
        made["events"].append({"at": f"{at} s", **change})
        if "wire" in change:
            made["events"].append({"at": f"{at + 0.3:g} s", "wire": jan, "state": "up"})
    return made


class Soak:
    """One run, watched from outside."""

    def __init__(self, name: str, folder: Path, duration_s: float) -> None:
        self.name, self.folder, self.duration_s = name, folder, duration_s
        self.polls = 0
        (file := folder / "soak.yaml").write_text(json.dumps(network(name, duration_s)))  # JSON is YAML
        argv = [*NETBOXIT, "run", str(file), "--duration", f"{duration_s:g} s", "--results", str(folder / "results"), "--json"]
        self.output = (folder / "run.log").open("wb")
        self.run = subprocess.Popen(argv, stdout=self.output, stderr=subprocess.STDOUT)

    def samples(self) -> list[Sample]:
        """What all processes hold, every few seconds, from when the traffic flows until just before its end."""
        lab = self._lab_with_traffic()
        ring = [*NETBOXIT, "capture", "field.responder", "backhaul.hub", str(self.folder / "ring.pcapng")]
        ring += ["--ring", "1 MB x 3", "--lab", self.name]
        capture = subprocess.Popen(ring, stdout=self.output, stderr=subprocess.STDOUT)
        began, polled, found = time.monotonic(), 0.0, []
        try:
            while (now := time.monotonic() - began) < self.duration_s - 20.0 and self.run.poll() is None:
                found.append(
                    Sample(round(now, 1), self._held(lab, {"netboxit run": self.run.pid, "netboxit capture": capture.pid}))
                )
                if now - polled >= STATUS_EVERY_S:
                    polled = now
                    self._poll()
                time.sleep(SAMPLE_S)
            if capture.poll() is not None:
                raise NetBoxITError(f"the capture ended: {(self.folder / 'run.log').read_text()[-500:]}")
        finally:
            capture.terminate()
            capture.wait(30.0)
        return found

    def _lab_with_traffic(self) -> Lab:
        deadline = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < deadline:
            with suppress(NetBoxITError):
                lab = Lab.open(self.name)
                if len(cores.processes(lab.node("fr1").container)) > 2:
                    return lab
            if self.run.poll() is not None:
                break
            time.sleep(0.2)
        raise NetBoxITError(f"no traffic: {(self.folder / 'run.log').read_text()[-1000:]}")

    def _poll(self) -> None:
        argv = [*NETBOXIT, "status", self.name, "--json"]
        subprocess.run(argv, check=True, capture_output=True, timeout=60)
        self.polls += 1

    def _held(self, lab: Lab, own: dict[str, int]) -> dict[str, tuple[int, int, int]]:
        """By node and program: memory (KiB), open files, threads."""
        owners = {process: node.name for node in lab.plan.nodes for process in cores.processes(node.container)}
        # Each by itself: that of a router which is without power is not there, and all together would seem to hold less.
        monitors = {node.name: cores.processes(f"{node.container}.monitor") for node in lab.plan.nodes}
        owners |= {process: f"{name}'s monitor" for name, there in monitors.items() for process in there}
        for name, top in own.items():
            waiting = [top]
            while waiting:
                process = waiting.pop()
                owners.setdefault(process, name)
                waiting += processes.children(process)
        found: dict[str, tuple[int, int, int]] = {}
        for process, owner in owners.items():
            with suppress(OSError, IndexError):  # it has ended meanwhile
                status = Path(f"/proc/{process}/status").read_text()
                values = {key: value.split() for key, _, value in (line.partition(":") for line in status.splitlines())}
                files = len(list(Path(f"/proc/{process}/fd").iterdir()))
                key = f"{owner}: {values['Name'][0]}"
                held = (int(values.get("VmRSS", ["0"])[0]), files, int(values["Threads"][0]))
                before = found.get(key, (0, 0, 0))
                found[key] = (before[0] + held[0], before[1] + held[1], before[2] + held[2])
        return found

    def end(self) -> int | None:
        """The exit status of the run; None when it did not come to its end."""
        try:
            return self.run.wait(max(DOWN_WITHIN_S, self.duration_s))
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.run.kill()
            self.run.wait()
            self.output.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("--name", default=f"soak{os.getpid()}")
    parser.add_argument("--record", type=Path)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        soak = Soak(said.name, folder, said.minutes * 60.0)
        try:
            samples = soak.samples()
        finally:
            status = soak.end()
        run = json.loads((folder / "results" / "latest" / "run.json").read_text())
        changes = len((folder / "results" / "latest" / "events.jsonl").read_text().splitlines())
    grown = judged(samples)
    problems = [line for one in grown for line in one.problems]
    if run["failure"] is not None or status not in (0, 3, 4):
        problems.append(f"the run ended with {status}: {run['failure']}")
    if said.name in state.lab_names():
        problems.append(f"lab {said.name} is still there")
    outcome = {
        "minutes": said.minutes,
        "load_average": os.getloadavg(),
        "run_exit_status": status,
        "changes": changes,
        "status_polls": soak.polls,
        "samples": len(samples),
        "warm_up": WARM_UP,
        "held": [one.to_json() for one in grown],
        "problems": problems,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-soak.json"
    file.write_text(json.dumps(outcome, indent=1) + "\n")
    if said.record:
        keep(said.record, f"make soak MINUTES={said.minutes:g}", {**outcome, "sampled": columns(samples)})
    text = table(grown)
    file.with_suffix(".md").write_text(text)
    print(
        f"{text}\n{len(samples)} samples, {changes} changes, {soak.polls} times status, exit status {status} of the run: {file}"
    )
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
