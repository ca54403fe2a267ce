# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers: privileges, LXC, control groups, real-time service inside them."""

from __future__ import annotations

import os
from pathlib import Path

from contracts.installation import INSTALLATION, SETUP
from ownership import state
from system import apparmor, cores, foreign_text, limits, node_disks, users
from system.realtime_support import realtime_support
from testbed.documents.host import Ability
from testbed.probes import asking
from testbed.probes.finding import there

#: Bits of capabilities(7) that bringing a lab up takes.
_CAPABILITIES = {"net_admin": 12, "net_raw": 13, "sys_admin": 21, "sys_nice": 23}
#: Those that labs use, or that a user may want to know of.
_CONTROLLERS = {"cpu", "cpuset", "cpuacct", "memory", "io", "blkio", "pids", "freezer", "devices"}


def probe() -> tuple[Ability, ...]:
    return (
        privileges(),
        lxc(),
        user_namespaces(),
        control_groups(),
        limits_of_nodes(),
        realtime(),
        confinement_by_apparmor(),
    )


def privileges() -> Ability:
    mask = next(
        int(line.split()[1], 16) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff")
    )
    missing = [name for name, bit in _CAPABILITIES.items() if not mask >> bit & 1]
    folder = state.state_folder()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not missing and os.access(existing, os.W_OK):
        return Ability("privileges", "yes", f"root's capabilities, state in {folder}", needed=True)
    return Ability(
        "privileges",
        "no",
        f"missing: {', '.join(missing)}" if missing else f"{folder} cannot be written",
        "labs; check and plan work",
        "run as root, or as an operator (docs/rights.md)",
        needed=True,
    )


def lxc() -> Ability:
    try:
        return Ability("LXC", "yes", asking.ask(["lxc-execute", "--version"]).stdout.strip(), needed=True)
    except asking.NoAnswer as error:
        return Ability("LXC", "no", str(error), "containers", f"{SETUP} (it installs the package lxc)", needed=True)


def user_namespaces() -> Ability:
    support = users.support([state.state_folder(), INSTALLATION])
    if not support.refused and not support.unlimited:
        return Ability("user namespaces", "yes", "the root of all nodes is nobody on this host")
    return Ability(
        "user namespaces",
        "no" if support.refused else "partly",
        support.refused or f"not for netboxes and Click routers: {support.unlimited}",
        "one of several walls around nodes: their root is the host's own, with few capabilities",
        "docs/rights.md",
    )


def control_groups() -> Ability:
    cpuset = cores.hierarchy_of("cpuset")
    if cpuset is None:
        cause, remedy = cores.why_no_cpuset()
        return Ability(
            "cgroups",
            "no",
            cause,
            "nodes cannot be pinned to cores",
            f"{remedy}, and boot without cgroup_disable=cpuset",
            needed=True,
        )
    names = sorted({name for hierarchy in cores.hierarchies() for name in hierarchy.controllers & _CONTROLLERS})
    return Ability("cgroups", "yes", f"version {cpuset.version}: {', '.join(names)}", needed=True)


def limits_of_nodes() -> Ability:
    """What one node may take of this host, and what nothing bounds. Root tries whether a node's folder can have a disk."""
    support = limits.Support.read()
    unbounded = {
        what: f"mount a control group hierarchy with {controller} (systemd does), and boot without cgroup_disable={controller}"
        for what, controller, version in (("processes", "pids", support.processes), ("memory", "memory", support.memory))
        if version is None
    }
    # The kernel lists swap space below a heading (proc(5)).
    if support.memory is not None and support.swap is None and len(foreign_text.lines(Path("/proc/swaps"))) > 1:
        unbounded["swap"] = "boot with swapaccount=1, or without swap"
    is_root = os.geteuid() == 0
    if is_root and (why := node_disks.refused_when_tried()):
        unbounded["disk"] = why
    tried = ("processes", "memory", "disk") if is_root else ("processes", "memory")
    summary = f"bounded: {', '.join(what for what in tried if what not in unbounded) or 'none of them'}" + (
        "" if is_root else "; whether disk is, only root can try"
    )
    if not unbounded:
        return Ability("limits of nodes", "yes", summary)
    return Ability(
        "limits of nodes",
        "partly",
        f"{summary}; not bounded: {', '.join(unbounded)}",
        f"one node can use up this host's {' and '.join(unbounded)}",
        "; ".join(f"{what}: {remedy}" for what, remedy in unbounded.items()),
    )


def realtime() -> Ability:
    support = realtime_support()
    return Ability(
        "SCHED_FIFO in containers",
        there(support.fifo),
        support.reason,
        "netboxes run at ordinary priority: lateness of milliseconds on a busy host instead of tens of microseconds",
        "" if support.fifo else support.reason,
    )


def confinement_by_apparmor() -> Ability:
    support = apparmor.read()
    if support.refused is None:
        return Ability("AppArmor", "yes", f"confines containers by LXC's profile {apparmor.PROFILE}")
    return Ability(
        "AppArmor",
        "partly",
        support.refused,
        "one of several walls around nodes: namespaces, capabilities and seccomp alone confine them",
        support.remedy,
    )
