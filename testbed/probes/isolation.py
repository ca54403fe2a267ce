# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers: privileges, LXC, control groups, real-time service inside them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from contracts.installation import INSTALLATION, SETUP
from ownership import state
from system import apparmor, cores, foreign_text, limits, node_disks, users
from system.realtime_support import realtime_support
from testbed.probes import asking
from testbed.probes.finding import Finding, there

#: Bits of capabilities(7) that bringing a lab up takes.
_CAPABILITIES = {"net_admin": 12, "net_raw": 13, "sys_admin": 21, "sys_nice": 23}


def probe() -> Iterator[Finding]:
    yield privileges()
    yield lxc()
    yield user_namespaces()
    yield control_groups()
    yield limits_of_nodes()
    yield realtime()
    yield confinement_by_apparmor()


def privileges() -> Finding:
    mask = next(
        int(line.split()[1], 16) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff")
    )
    missing = [name for name, bit in _CAPABILITIES.items() if not mask >> bit & 1]
    folder = state.state_folder()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if missing or not os.access(existing, os.W_OK):
        found = f"missing: {', '.join(missing)}" if missing else f"{folder} cannot be written"
        return Finding(
            "privileges",
            "no",
            found,
            "labs; check and plan work",
            "run as root, or as an operator (docs/rights.md)",
            needed=True,
        )
    return Finding("privileges", "yes", f"root's capabilities, state in {folder}", needed=True)


def lxc() -> Finding:
    lost, remedy = "containers", f"{SETUP} (it installs the package lxc)"
    if shutil.which("lxc-execute") is None:
        return Finding("LXC", "no", "lxc-execute is not installed", lost, remedy, needed=True)
    told = asking.said(["lxc-execute", "--version"])
    if told is None:
        return Finding("LXC", "no", asking.silent("lxc-execute"), lost, remedy, needed=True)
    return Finding("LXC", "yes", told[0].strip(), needed=True)


def user_namespaces() -> Finding:
    lost = "one of several walls around nodes: their root is the host's own, with few capabilities"
    support = users.support([state.state_folder(), INSTALLATION])
    if support.refused:
        return Finding("user namespaces", "no", support.refused, lost, "docs/rights.md")
    if support.unlimited:
        return Finding(
            "user namespaces", "partly", f"not for netboxes and Click routers: {support.unlimited}", lost, "docs/rights.md"
        )
    return Finding("user namespaces", "yes", "the root of all nodes is nobody on this host")


def control_groups() -> Finding:
    cpuset = cores.hierarchy_of("cpuset")
    if cpuset is None:
        cause, remedy = cores.why_no_cpuset()
        remedy += ", and boot without cgroup_disable=cpuset"
        return Finding("cgroups", "no", cause, "nodes cannot be pinned to cores", remedy, needed=True)
    known = {"cpu", "cpuset", "cpuacct", "memory", "io", "blkio", "pids", "freezer", "devices"}
    names = sorted({name for hierarchy in cores.hierarchies() for name in hierarchy.controllers & known})
    return Finding("cgroups", "yes", f"version {cpuset.version}: {', '.join(names)}", needed=True)


def limits_of_nodes() -> Finding:
    """What one node may take of this host, and what nothing bounds. Root tries whether a node's folder can have a disk."""
    support = limits.Support.read()
    unbounded = {
        what: f"mount a control group hierarchy with {controller} (systemd does), and boot without cgroup_disable={controller}"
        for what, controller, version in (("processes", "pids", support.processes), ("memory", "memory", support.memory))
        if version is None
    }
    if support.memory is not None and support.swap is None and _swaps():
        unbounded["swap"] = "boot with swapaccount=1, or without swap"
    tried = os.geteuid() == 0
    if tried and (why := node_disks.refused_when_tried()):
        unbounded["disk"] = why
    every = ("processes", "memory", "disk") if tried else ("processes", "memory")
    found = f"bounded: {', '.join(one for one in every if one not in unbounded) or 'none of them'}"
    if not tried:
        found += "; whether disk is, only root can try"
    if not unbounded:
        return Finding("limits of nodes", "yes", found)
    return Finding(
        "limits of nodes",
        "partly",
        f"{found}; not bounded: {', '.join(unbounded)}",
        f"one node can use up this host's {' and '.join(unbounded)}",
        "; ".join(f"{what}: {remedy}" for what, remedy in unbounded.items()),
    )


def _swaps() -> bool:
    """Whether this host swaps at all: a heading, and a line for each place (proc(5))."""
    return len(foreign_text.lines(Path("/proc/swaps"))) > 1


def realtime() -> Finding:
    support = realtime_support()
    lost = "netboxes run at ordinary priority: lateness of milliseconds on a busy host instead of tens of microseconds"
    return Finding("SCHED_FIFO in containers", there(support.fifo), support.reason, lost, "" if support.fifo else support.reason)


def confinement_by_apparmor() -> Finding:
    found = apparmor.read()
    if found.refused is None:
        return Finding("AppArmor", "yes", f"confines containers by LXC's profile {apparmor.PROFILE}")
    lost = "one of several walls around nodes: namespaces, capabilities and seccomp alone confine them"
    return Finding("AppArmor", "partly", found.refused, lost, found.remedy)
