# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run over several machines is judged by besides: its clocks, and what the wires between the machines added.

A tunnel is the testbed's, so what a frame spends there makes it late as a netbox's lateness does, and has the same limit. A frame
that one clock saw enter and another leave was surely late, or not, only beyond what the clocks may be wrong by.
"""

from __future__ import annotations

from contracts.machines import ClockReading
from contracts.plan import Plan
from results.metrics_document import MachineClock, SeveralMachines, Tunnel, TunnelDirection
from results.verdict import Verdict

#: Two clocks gain on each other by what their crystals differ (below 100 ppm), and by what steers them: the kernel's loop may
#: change a clock by 500 ppm (adjtimex(2)). What gains more was set, or is being pulled to another time (by chronyd up to 8 %).
STEADY_PPM = 600.0


def judge_machines(plan: Plan, several: SeveralMachines, verdict: Verdict) -> None:
    """Adds to a verdict; `found` is empty of a run on one machine."""
    if not several:
        return
    limit_us = plan.lateness_limit_s * 1e6
    for name, clock in several["machines"]["hosts"].items():
        if name != several["machines"]["here"]:
            _clock(name, clock, limit_us, verdict)
    for tunnel in several["tunnels"]:
        for direction in tunnel["directions"]:
            _tunnel(tunnel, direction, limit_us, verdict)


def _clock(name: str, clock: MachineClock, limit_us: float, verdict: Verdict) -> None:
    error_us, before, after = clock["error_us"], clock["before"], clock["after"]
    if error_us is None:
        verdict.invalid.append(
            f"machine {name}: its clock was not compared with this machine's, so delays between the two are not known"
            + _why(clock)
        )
        return
    if before is None or after is None:
        verdict.degraded.append(
            f"machine {name}: its clock was not compared {'after' if after is None else 'before'} the traffic, "
            f"so how it went meanwhile is not known{_why(clock)}"
        )
    if error_us > limit_us:
        verdict.degraded.append(
            f"machine {name}: its clock is known to {_us(error_us)} only, more than the limit of {_us(limit_us)}; "
            "a network between the machines with a shorter round trip, or less to do, makes that better"
        )
    drift_ppm = clock["drift_ppm"]
    if drift_ppm is None or before is None or after is None:
        return
    if abs(drift_ppm) > STEADY_PPM and (moved_us := _moved_us(before, after)) > limit_us:
        verdict.degraded.append(
            f"machine {name}: its clock went {_us(moved_us)} from this machine's while the run went on "
            f"({abs(drift_ppm):,.0f} ppm), so one of the two was set or is being set; let it settle, and run again"
        )


def _why(clock: MachineClock) -> str:
    return f": {clock['problem']}" if clock["problem"] else ""


def _moved_us(before: ClockReading, after: ClockReading) -> float:
    """How far the offset moved at the least, whatever the two readings are wrong by."""
    moved = abs(after["offset_ns"] - before["offset_ns"]) - before["error_ns"] - after["error_ns"]
    return float(max(0, moved)) / 1e3


def _tunnel(tunnel: Tunnel, direction: TunnelDirection, limit_us: float, verdict: Verdict) -> None:
    place = f"{tunnel['wire']}, from machine {direction['from']['host']} to {direction['to']['host']}"
    if not tunnel["switched"]:
        lost, frames = direction["lost"], direction["frames"]
        verdict.lost_here(lost, frames, f"{place}: {lost:,} of {frames:,} frames were lost between the machines")
    if direction["unseen"]:
        verdict.degraded.append(
            f"{place}: {direction['unseen']:,} frames crossed it and were captured at one end only, so the time that they "
            "took is not known; captures do not see what AF_XDP sends and takes"
        )
    delay, error_us = direction["delay_us"], direction["clock_error_us"]
    if delay is None or error_us is None:
        return
    if delay["min"] + error_us < 0:
        words = (
            f"{place}: a frame seems to have arrived {_us(-delay['min'])} before it was sent, and the clocks are said to be "
            f"{_us(error_us)} apart at most: one of them was set while the run went on"
        )
        (verdict.invalid if -delay["min"] - error_us > limit_us else verdict.degraded).append(words)
    elif delay["p99"] - error_us > limit_us:
        verdict.invalid.append(
            f"{place}: one in a hundred frames took {_us(delay['p99'])} or more, the limit is {_us(limit_us)}; join the machines "
            "by a faster network, or put both nodes on one"
        )
    elif delay["max"] - error_us > limit_us:
        verdict.degraded.append(f"{place}: a frame took {_us(delay['max'])}, the limit is {_us(limit_us)}")
    elif delay["p99"] + error_us > limit_us:
        verdict.degraded.append(
            f"{place}: one in a hundred frames took {_us(delay['p99'])} or more, which the clocks' {_us(error_us)} leave on both "
            f"sides of the limit of {_us(limit_us)}"
        )


def _us(value: float) -> str:
    return f"{value:,.0f} us"
