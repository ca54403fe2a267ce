# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node of a lab takes of the machine: CPU time and memory of all processes in its container."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from system import cores, processes
from testbed.labs.lab import Lab


def cpu_s(lab: Lab, node: str) -> float:
    """CPU time, user and system, that its command has taken so far, of a resolution that the kernel keeps it in."""
    return sum(_cpu_ns(process) for process in _command(lab, node)) / 1e9


def pss_bytes(lab: Lab, node: str) -> int:
    """Memory that is the node's share: what it has alone, and its part of what it shares with others (proportional set size)."""
    return sum(_pss(process) for process in _command(lab, node))


def _command(lab: Lab, node: str) -> list[int]:
    """LXC's init is left out: it only waits."""
    return [process for process in cores.processes(lab.node(node).container) if not processes.is_init(process)]


def _cpu_ns(process: int) -> int:
    """Of all its threads, by the scheduler's own account: /proc/…/stat counts in ticks of 10 ms."""
    taken = 0
    for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(OSError):
            taken += int(thread.read_text().split()[0])
    return taken


def _pss(process: int) -> int:
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
