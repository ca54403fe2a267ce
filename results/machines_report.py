# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a report that tells of several machines: who carried what, what their clocks showed, what lay between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib import rc_context
from typing_extensions import TypedDict

from contracts.run_records import MachineShare
from results.chart_style import PALETTE, STYLE, as_svg, panels
from results.metrics_document import MachineClock, Metrics, Summary, Tunnel, TunnelDirection
from results.run_folder import RunFolder


class MachineOfRun(MachineClock):
    """A machine and its clock. What is null is not known."""

    name: str
    nodes: list[str]
    processor: str | None
    kernel: str | None
    steal_ratio: float | None


class DirectionOfWire(TunnelDirection):
    wire: str
    kind: str
    mtu: int


class BetweenMachines(TypedDict):
    """What the template is given. Charts are SVG, null where nothing is known to be drawn."""

    #: The controller's name.
    here: str
    machines: list[MachineOfRun]
    directions: list[DirectionOfWire]
    tunnels: list[Tunnel]
    tunnel_chart: str | None
    clock_chart: str | None
    #: What one-way delays of flows may be wrong by.
    errors_ms: list[float]
    #: Of each frame's time outside of netboxes, what it spent between machines, and the rest.
    overhead: Summary | None
    rest: Summary | None


def between_machines(run: RunFolder, document: Metrics) -> BetweenMachines | None:
    """None for a run on one machine."""
    if "machines" not in document:
        return None
    here = document["machines"]["here"]
    directions: list[DirectionOfWire] = [
        {"wire": tunnel["wire"], "kind": tunnel["kind"], "mtu": tunnel["mtu"], **direction}
        for tunnel in document["tunnels"]
        for direction in tunnel["directions"]
    ]
    others = {name: clock for name, clock in document["machines"]["hosts"].items() if name != here}
    return {
        "here": here,
        "machines": [_machine(run, name, clock) for name, clock in document["machines"]["hosts"].items()],
        "directions": directions,
        "tunnels": document["tunnels"],
        "tunnel_chart": _tunnel_chart(document["tunnels"]) if any(direction["delay_us"] for direction in directions) else None,
        "clock_chart": _clock_chart(others) if any(clock["drift_ppm"] is not None for clock in others.values()) else None,
        "errors_ms": sorted({flow["clock_error_ms"] for flow in document["flows"] if flow["clock_error_ms"]}),
        "overhead": document["overhead_tunnels_us"],
        "rest": document["overhead_without_tunnels_us"],
    }


def _machine(run: RunFolder, name: str, clock: MachineClock) -> MachineOfRun:
    environment = run.machines.record["hosts"][name].get("environment", {})
    processor, kernel = environment.get("processor", {}), environment.get("kernel", {})
    share: MachineShare = run.lab if name == run.machines.record["here"] else run.lab.get("hosts", {}).get(name, {})
    return {
        **clock,
        "name": name,
        "nodes": [node.name for node in run.plan.nodes if node.host == name],
        "processor": f"{processor.get('model')}, {processor.get('cores')} cores" if processor else None,
        "kernel": kernel.get("release"),
        "steal_ratio": share.get("steal_ratio"),
    }


@rc_context(STYLE)
def _tunnel_chart(tunnels: Sequence[Tunnel]) -> str:
    """From the smallest delay to p99 with the median on it; the thin line is what the clocks may be wrong by."""
    directions = [
        (tunnel["wire"], direction, delay)
        for tunnel in tunnels
        for direction in tunnel["directions"]
        if (delay := direction["delay_us"])
    ]
    figure, (axis,) = panels(1, 0.9 + 0.42 * len(directions))
    for at, (_, direction, delay) in enumerate(directions):
        colour = PALETTE[at % 2]
        axis.plot([delay["min"], delay["p99"]], [at, at], color=colour, linewidth=6, alpha=0.35, solid_capstyle="round")
        axis.plot([delay["p50"]], [at], "o", color=colour, markersize=7)
        if error := direction["clock_error_us"]:
            axis.errorbar([delay["p50"]], [at], xerr=[error], color="#66727e", linewidth=1, capsize=4)
        axis.annotate(
            f"{delay['p50']:,.4g}", (delay["p50"], at), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=8.5
        )
    names = [f"{wire}\n{direction['from']['host']} to {direction['to']['host']}" for wire, direction, _ in directions]
    axis.set(xlabel="time between the machines (µs)", xmargin=0.08)
    axis.set(yticks=range(len(directions)), yticklabels=names, ylim=(len(directions) - 0.4, -0.8))
    return as_svg(figure)


@rc_context(STYLE)
def _clock_chart(clocks: Mapping[str, MachineClock]) -> str:
    """How far each clock went from the controller's since the first reading, with what each reading may be wrong by."""
    figure, (axis,) = panels(1, 2.4)
    for at, (name, clock) in enumerate(clocks.items()):
        first, last = clock["before"], clock["after"]
        if clock["drift_ppm"] is None or first is None or last is None:
            continue
        axis.errorbar(
            [(reading["at_ns"] - first["at_ns"]) / 1e9 for reading in (first, last)],
            [(reading["offset_ns"] - first["offset_ns"]) / 1e3 for reading in (first, last)],
            yerr=[reading["error_ns"] / 1e3 for reading in (first, last)],
            color=PALETTE[at % len(PALETTE)],
            capsize=4,
            marker="o",
            label=f"{name}, {clock['drift_ppm']:+.2f} ppm",
        )
    axis.set(xlabel="since the first comparison (s)", ylabel="clock moved by (µs)")
    axis.legend(loc="best")
    return as_svg(figure)
