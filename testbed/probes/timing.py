# SPDX-License-Identifier: GPL-2.0-or-later
"""Time and cores: what decides how late an emulated frame can be."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from system import awake, cores
from testbed.probes import asking
from testbed.probes.finding import Finding, There

_CPUS = Path("/sys/devices/system/cpu")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0")
#: Sources that are read without leaving user space on x86 and arm64.
_FAST_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
_STEAL_WATCH_S = 0.3
_MUCH_STEAL = 0.01


def probe() -> Iterator[Finding]:
    yield kernel_version()
    yield clock_source()
    yield timers()
    yield preemption()
    yield core_count()
    yield threads()
    yield interrupts()
    yield frequency()
    yield idling()
    yield steal()


def kernel_version() -> Finding:
    return Finding("kernel", "yes", f"{platform.release()} ({platform.machine()})")


def clock_source() -> Finding:
    source = (_CLOCK / "current_clocksource").read_text().strip()
    others = (_CLOCK / "available_clocksource").read_text().split()
    fast = source in _FAST_CLOCKS
    remedy = f"choose one of {', '.join(others)} in {_CLOCK}/current_clocksource, or boot with clocksource=tsc"
    return Finding(
        "clock source", "yes" if fast else "partly", source, "reading the clock takes a system call, microseconds each", remedy
    )


def timers() -> Finding:
    resolution_ns = time.clock_getres(time.CLOCK_MONOTONIC) * 1e9
    fine = resolution_ns < 1000
    remedy = "a kernel with HIGH_RES_TIMERS, booted without highres=off"
    return Finding(
        "high resolution timers", "yes" if fine else "no", f"{resolution_ns:.0f} ns", "any timing better than 1 to 10 ms", remedy
    )


def preemption() -> Finding:
    version = platform.version()
    model = next((word for word in ("PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT") if word in version.split()), "none")
    chosen = _chosen_preemption() if model == "PREEMPT_DYNAMIC" else None
    found: There = "no" if model == "none" else "partly" if chosen in ("none", "voluntary") else "yes"
    remedy = "boot with preempt=full (PREEMPT_DYNAMIC), or install linux-image-rt-amd64"
    words = f"{model}, {chosen} chosen" if chosen else model
    return Finding("preemption", found, words, "netboxes wait for long system calls of others on their core", remedy)


def _chosen_preemption() -> str | None:
    """What a kernel that can do all kinds does, as debugfs or its log say; None where neither may be read."""
    with suppress(OSError):
        if chosen := re.search(r"\((\w+)\)", Path("/sys/kernel/debug/sched/preempt").read_text()):
            return chosen[1]
    with suppress(OSError):
        log, _ = asking.said(["dmesg"]) or ("", "")
        if said := re.findall(r"Dynamic Preempt: (\w+)", log):
            return str(said[-1])
    return None


def core_count() -> Finding:
    number, isolated = len(cores.available_cores()), len(cores.isolated_cores())
    found = f"{number} usable" + (f", {isolated} of them isolated: for emulators alone" if isolated else "")
    lost = "a core for each netbox: they share cores and make each other late"
    return Finding("cores", "yes" if number >= 4 else "partly", found, lost, "a host with one core per netbox, and one more")


def threads() -> Finding:
    siblings = {file.read_text().strip() for file in _CPUS.glob("cpu[0-9]*/topology/thread_siblings_list")}
    shared = sorted(group for group in siblings if "," in group or "-" in group)
    found = f"threads share a core: {'; '.join(shared)}" if shared else "each core is a thread of its own"
    return Finding(
        "hyper-threads",
        "partly" if shared else "yes",
        found,
        "steady speed of a core",
        "echo off > /sys/devices/system/cpu/smt/control",
    )


def interrupts() -> Finding:
    """Which cores devices interrupt; the first is where the planner puts no netbox while it has others."""
    taken: set[str] = set()
    for file in Path("/proc/irq").glob("[0-9]*/effective_affinity_list"):
        taken.update(file.read_text().split())
    first = str(cores.available_cores()[0])
    found = f"devices interrupt cores {', '.join(sorted(taken))}" if taken else "the kernel does not say where devices interrupt"
    remedy = f"stop irqbalance and write {first} to /proc/irq/*/smp_affinity_list"
    return Finding("interrupts", "yes" if taken <= {first} else "partly", found, "steady speed of the netboxes' cores", remedy)


def frequency() -> Finding:
    governors = {file.read_text().strip() for file in _CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not governors:
        return Finding("frequency governor", "yes", "none: the frequency is not changed from here")
    steady = governors == {"performance"}
    remedy = "cpupower frequency-set -g performance"
    return Finding(
        "frequency governor", "yes" if steady else "partly", ", ".join(sorted(governors)), "steady speed of a core", remedy
    )


def idling() -> Finding:
    """Whether a lab can keep a core from halting (`realtime: keep_awake`)."""
    able = all(map(awake.possible, cores.available_cores()))
    driver = _CPUS / "cpuidle/current_driver"
    halts = driver.read_text().strip() if driver.exists() else "none"
    found = f"{'cores can be kept awake' if able else 'no writable pm_qos_resume_latency_us'}; idle driver {halts}"
    remedy = "be root, on a kernel with CPU_IDLE and PM; or boot with idle=poll"
    return Finding("idle cores", "yes" if able else "no", found, "wake-up takes tens of microseconds and more", remedy)


def steal() -> Finding:
    """How much of the time that this machine wanted its host gave to others."""
    before = _times()
    time.sleep(_STEAL_WATCH_S)
    after = _times()
    total = sum(after) - sum(before)
    share = (after[7] - before[7]) / total if total else 0.0  # the eighth figure of proc(5), /proc/stat
    remedy = "a machine of its own, or a virtual one with dedicated cores"
    return Finding(
        "stolen time", "yes" if share < _MUCH_STEAL else "partly", f"{share:.1%} just now", "lateness whenever others run", remedy
    )


def _times() -> list[int]:
    with Path("/proc/stat").open() as file:
        return list(map(int, file.readline().split()[1:9]))
