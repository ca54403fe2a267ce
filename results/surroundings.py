# SPDX-License-Identifier: GPL-2.0-or-later
"""The words of a report about the machine and the files of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.node_status import NetboxStatus, NodeStatus
from contracts.run_folder import (
    ENVIRONMENT_FILE,
    FLOWS_TABLE,
    FRAMES_TABLE,
    LAB_FILE,
    MACHINES_FILE,
    MEASURES_TABLE,
    METRICS_FILE,
    PLAN_FILE,
    RUN_FILE,
    SERIES_TABLE,
    TOPOLOGY_FILE,
)
from results.run_folder import RunFolder

#: What the files of a run folder are; the first pattern that fits tells.
_FILES = (
    (TOPOLOGY_FILE, "what was asked for"),
    ("traffic.yaml", "the traffic that was asked for, in a lab that was up"),
    (PLAN_FILE, "every name, address, core and file that was made of it"),
    (ENVIRONMENT_FILE, "versions, kernel, processor, clock"),
    (LAB_FILE, "scheduling and offloads as read from the lab"),
    (MACHINES_FILE, "the machines, their clocks and what joined them"),
    (RUN_FILE, "when the run began and ended, and what failed"),
    (METRICS_FILE, "all figures of this report, for programs"),
    (FRAMES_TABLE, "one row for each frame of each flow"),
    (SERIES_TABLE, "the netboxes' statistics over time"),
    (FLOWS_TABLE, "one row for each flow in one direction, with its figures"),
    (MEASURES_TABLE, "one row for each figure of queues, netboxes and the run"),
    ("events.jsonl", "what was changed and started, and how late"),
    ("captures/*.pcapng", "frames at a host's interface, nanoseconds"),
    ("nodes/*/frames.bin", "frames in and out of a netbox"),
    ("nodes/*/journal.jsonl", "what happened in a netbox"),
    ("nodes/*/statistics.json", "what a netbox counted"),
)


def describe(run: RunFolder) -> list[tuple[str, str]]:
    """The environment in words; nothing for what the system did not tell."""
    machine, lab = run.environment, run.lab
    processor, clock = machine.get("processor", {}), machine.get("clock_source", {})
    rows = [
        ("Version", machine.get("netboxit", {}).get("commit")),
        ("System", machine.get("system")),
        ("Kernel", machine.get("kernel", {}).get("release")),
        ("Processor", f"{processor.get('model')}, {processor.get('cores')} cores" if processor else None),
        ("Frequency governor", processor.get("governor")),
        ("Clock", clock.get("current")),
        ("Time taken by other guests of the machine", _percent(lab.get("steal_ratio"))),
        ("Cores", "; ".join(f"{node.name} on {', '.join(map(str, node.cores))}" for node in run.plan.nodes)),
        ("Scheduling", "; ".join(_scheduling(node, netbox) for node in lab.get("nodes", ()) if (netbox := node["netbox"]))),
        ("Offloads that were on", _offloads(lab.get("offloads"))),
        ("Packages", _versions(machine.get("packages"))),
        ("Python", _versions(machine.get("python"))),
    ]
    return [(name, str(value)) for name, value in rows if value]


@dataclass(frozen=True)
class FileOfRun:
    #: In the run folder.
    path: str
    what: str
    size: str


def table_of_files(folder: Path, of_applications: Sequence[tuple[str, str]]) -> list[FileOfRun]:
    """What is where in the run folder; files of applications are given as those here, by pattern."""
    return [
        FileOfRun(str(file.relative_to(folder)), what, _size(file.stat().st_size))
        for pattern, what in (*_FILES, *of_applications)
        for file in sorted(folder.glob(pattern))
    ]


def _scheduling(node: NodeStatus, netbox: NetboxStatus) -> str:
    scheduler = netbox["scheduler"]
    core = "core kept awake" if node["awake"] else "core may sleep"
    return f"{node['name']} {scheduler['policy']} {scheduler['priority']:g}, spins {scheduler.get('spin_us')} µs, {core}"


def _offloads(offloads: Mapping[str, list[str]] | None) -> str | None:
    if offloads is None:
        return None
    return "; ".join(f"{place}: {', '.join(names)}" for place, names in offloads.items() if names) or "none"


def _versions(versions: Mapping[str, str | None] | None) -> str:
    return ", ".join(f"{name} {version}" for name, version in (versions or {}).items() if version)


def _percent(ratio: float | None) -> str | None:
    return None if ratio is None else f"{100 * ratio:.2f} %"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
