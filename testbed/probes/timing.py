# SPDX-License-Identifier: GPL-2.0-or-later
"""Time and cores: what decides how late an emulated frame can be."""

from __future__ import annotations

import platform
import re
import time
from contextlib import suppress
from pathlib import Path

from results.environment import cpu_times, steal_ratios
from system import awake, cores
from testbed.documents.host import Ability, There
from testbed.probes import asking
from testbed.probes.finding import there

_CPUS = Path("/sys/devices/system/cpu")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0")
#: Sources that are read without leaving user space on x86 and arm64.
_FAST_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
#: Of the kernel's models of preemption, those with which a netbox may have to wait; all others are good.
_PREEMPTION: dict[str, There] = {
    "none": "no",
    "PREEMPT_DYNAMIC, none chosen": "partly",
    "PREEMPT_DYNAMIC, voluntary chosen": "partly",
}
_STEAL_WATCH_S = 0.3
_MUCH_STEAL = 0.01


def probe() -> tuple[Ability, ...]:
    return (
        kernel_version(),
        clock_source(),
        timers(),
        preemption(),
        core_count(),
        threads(),
        interrupts(),
        frequency(),
        idling(),
        steal(),
    )


def kernel_version() -> Ability:
    return Ability("kernel", "yes", f"{platform.release()} ({platform.machine()})")


def clock_source() -> Ability:
    source = (_CLOCK / "current_clocksource").read_text().strip()
    others = (_CLOCK / "available_clocksource").read_text().split()
    return Ability(
        "clock source",
        there(source in _FAST_CLOCKS, "partly"),
        source,
        "reading the clock takes a system call, microseconds each",
        f"choose one of {', '.join(others)} in {_CLOCK}/current_clocksource, or boot with clocksource=tsc",
    )


def timers() -> Ability:
    resolution_ns = time.clock_getres(time.CLOCK_MONOTONIC) * 1e9
    return Ability(
        "high resolution timers",
        there(resolution_ns < 1000),
        f"{resolution_ns:.0f} ns",
        "any timing better than 1 to 10 ms",
        "a kernel with HIGH_RES_TIMERS, booted without highres=off",
    )


def preemption() -> Ability:
    words = platform.version().split()
    model = next((word for word in ("PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT") if word in words), "none")
    if model == "PREEMPT_DYNAMIC" and (chosen := _chosen_preemption()):
        model = f"{model}, {chosen} chosen"
    return Ability(
        "preemption",
        _PREEMPTION.get(model, "yes"),
        model,
        "netboxes wait for long system calls of others on their core",
        "boot with preempt=full (PREEMPT_DYNAMIC), or install linux-image-rt-amd64",
    )


def _chosen_preemption() -> str | None:
    """What a kernel that can do all kinds does, as debugfs or its log say; None where neither may be read."""
    with suppress(OSError):
        if chosen := re.search(r"\((\w+)\)", Path("/sys/kernel/debug/sched/preempt").read_text()):
            return chosen[1]
    with suppress(OSError, asking.NoAnswer):
        if logged := re.findall(r"Dynamic Preempt: (\w+)", asking.ask(["dmesg"]).stdout):
            return str(logged[-1])
    return None


def core_count() -> Ability:
    number, isolated = len(cores.available_cores()), len(cores.isolated_cores())
    return Ability(
        "cores",
        there(number >= 4, "partly"),
        f"{number} usable" + (f", {isolated} of them isolated: for emulators alone" if isolated else ""),
        "a core for each netbox: they share cores and make each other late",
        "a host with one core per netbox, and one more",
    )


def threads() -> Ability:
    siblings = {file.read_text().strip() for file in _CPUS.glob("cpu[0-9]*/topology/thread_siblings_list")}
    shared = sorted(group for group in siblings if "," in group or "-" in group)
    return Ability(
        "hyper-threads",
        there(not shared, "partly"),
        f"threads share a core: {'; '.join(shared)}" if shared else "each core is a thread of its own",
        "steady speed of a core",
        "echo off > /sys/devices/system/cpu/smt/control",
    )


def interrupts() -> Ability:
    """Which cores devices interrupt; the first is where the planner puts no netbox while it has others."""
    taken = {core for file in Path("/proc/irq").glob("[0-9]*/effective_affinity_list") for core in file.read_text().split()}
    first = str(cores.available_cores()[0])
    return Ability(
        "interrupts",
        there(taken <= {first}, "partly"),
        f"devices interrupt cores {', '.join(sorted(taken))}" if taken else "the kernel does not say where devices interrupt",
        "steady speed of the netboxes' cores",
        f"stop irqbalance and write {first} to /proc/irq/*/smp_affinity_list",
    )


def frequency() -> Ability:
    governors = {file.read_text().strip() for file in _CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not governors:
        return Ability("frequency governor", "yes", "none: the frequency is not changed from here")
    return Ability(
        "frequency governor",
        there(governors == {"performance"}, "partly"),
        ", ".join(sorted(governors)),
        "steady speed of a core",
        "cpupower frequency-set -g performance",
    )


def idling() -> Ability:
    """Whether a lab can keep a core from halting (`realtime: keep_awake`)."""
    able = all(map(awake.possible, cores.available_cores()))
    driver = _CPUS / "cpuidle/current_driver"
    halts = driver.read_text().strip() if driver.exists() else "none"
    return Ability(
        "idle cores",
        there(able),
        f"{'cores can be kept awake' if able else 'no writable pm_qos_resume_latency_us'}; idle driver {halts}",
        "wake-up takes tens of microseconds and more",
        "be root, on a kernel with CPU_IDLE and PM; or boot with idle=poll",
    )


def steal() -> Ability:
    """How much of the time that this machine wanted its host gave to others."""
    before = cpu_times()
    time.sleep(_STEAL_WATCH_S)
    share = steal_ratios(before, cpu_times())["all"] or 0.0
    return Ability(
        "stolen time",
        there(share < _MUCH_STEAL, "partly"),
        f"{share:.1%} just now",
        "lateness whenever others run",
        "a machine of its own, or a virtual one with dedicated cores",
    )
