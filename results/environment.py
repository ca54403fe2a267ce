# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run was made on, read from the system: versions, kernel, cores, clock; and from the lab: scheduling, offloads."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from contracts.debian_program import DebianProgram
from contracts.environment import CpuTimes, Machine
from contracts.installation import CHECKOUT
from contracts.node_status import NodeStatus
from contracts.plan import Plan
from contracts.run_records import LabRecord
from results.commit import commit
from system import namespaces, wires

#: What is asked for its version in any case: Debian packages and Python ones.
_PACKAGES = ("lxc", "tshark", "openvswitch-switch", "libc6")
_DISTRIBUTIONS = ("ns3", "numpy", "polars", "pesq", "pydantic", "pyroute2", "ansible-core")

_CLOCK = Path("/sys/devices/system/clocksource/clocksource0")
_CPU = Path("/sys/devices/system/cpu")


def environment(programs: Iterable[DebianProgram] = ()) -> Machine:
    """For environment.json, with the versions of these programs' packages. What the system does not tell is None."""
    return {
        "netboxit": {"commit": commit(CHECKOUT)},
        "kernel": {"release": platform.release(), "version": platform.version(), "machine": platform.machine()},
        "system": _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"') or None,
        "processor": {
            "model": _field(Path("/proc/cpuinfo"), "model name") or None,
            "cores": os.cpu_count(),
            "governor": _read(_CPU / "cpu0/cpufreq/scaling_governor"),
            "isolated": _read(_CPU / "isolated"),
            "load": list(os.getloadavg()),
            "times": cpu_times(),
        },
        "memory_kib": int(_field(Path("/proc/meminfo"), "MemTotal").split()[0]),
        "clock_source": {
            "current": _read(_CLOCK / "current_clocksource"),
            "available": (_read(_CLOCK / "available_clocksource") or "").split(),
        },
        "realtime_runtime_us": _read(Path("/proc/sys/kernel/sched_rt_runtime_us")),
        "packages": _debian_packages(dict.fromkeys((*_PACKAGES, *(program.package for program in programs)))),
        "python": distributions(),
    }


def distributions() -> dict[str, str | None]:
    """Versions of Python and of its packages by their names; None of one that is not there."""
    return {"python": platform.python_version(), **{name: _distribution(name) for name in _DISTRIBUTIONS}}


def cpu_times() -> CpuTimes:
    """Ticks of each core (proc(5)): in all, idle, and taken by other guests of this machine ("steal")."""
    times: CpuTimes = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *values = line.split()
        if name.startswith("cpu"):
            ticks = list(map(int, values))
            times[name.removeprefix("cpu") or "all"] = {"all": sum(ticks[:8]), "idle": ticks[3] + ticks[4], "steal": ticks[7]}
    return times


def steal_ratios(before: CpuTimes, after: CpuTimes) -> dict[str, float | None]:
    """The share of time that other guests took between two readings, of each core and of all."""
    return {name: _steal_ratio(before[name], after[name]) for name in before.keys() & after.keys()}


def _steal_ratio(before: Mapping[str, int], after: Mapping[str, int]) -> float | None:
    whole = after["all"] - before["all"]
    return (after["steal"] - before["steal"]) / whole if whole > 0 else None


def lab_environment(
    plan: Plan, nodes: list[NodeStatus], before: CpuTimes, began_ns: int, began_s: Mapping[str, float]
) -> LabRecord:
    """For lab.json: its nodes, what offloads its interfaces really have, and the time stolen since `before` was read.

    `began_ns` is when the network's time began, CLOCK_REALTIME; `began_s` is the simulated time of each netbox at which it did.
    `ended_ns` is now.
    """
    ended_ns = time.time_ns()
    stolen = steal_ratios(before, cpu_times())
    return {
        "nodes": nodes,
        "offloads": {
            f"{node.name} {interface.name}": _offloads(node.namespace, interface.name)
            for node in plan.nodes
            for interface in plan.kernel_interfaces(node)
        },
        "steal_ratio": stolen.pop("all"),
        "steal_by_core": stolen,
        "began_ns": began_ns,
        "ended_ns": ended_ns,
        "began_s": dict(began_s),
    }


def _offloads(namespace: str, interface: str) -> list[str]:
    with namespaces.entered(namespace):
        try:
            return wires.offloads_on(interface)
        except wires.WireFailed:  # the node's user has removed it
            return []


def _debian_packages(names: Iterable[str]) -> dict[str, str | None]:
    command = ["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *names]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
    except (FileNotFoundError, subprocess.TimeoutExpired):
        answer = ""
    versions = dict(line.split(" ", 1) for line in answer.splitlines() if " " in line)
    return {name: versions.get(name) or None for name in names}


def _distribution(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _field(path: Path, name: str, separator: str = ":") -> str:
    """The first value of that name; "" when there is none."""
    lines = (line.partition(separator) for line in path.read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None
