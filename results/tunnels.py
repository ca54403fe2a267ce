# SPDX-License-Identifier: GPL-2.0-or-later
"""What the wires between machines added: the testbed's own, since the network that is emulated does not have them.

Each end is captured, so a frame's time in the tunnel is the difference of two clocks. The sum of both directions is not: what one
clock is wrong by makes one direction longer and the other shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from contracts.flow import Flow
from contracts.machines import Wire, WireEnd
from contracts.plan import Plan
from results import metrics
from results.machines import Machines
from results.metrics_document import BothWays, ClockError, MachineClock, SeveralMachines, Tunnel, TunnelDelay, TunnelDirection
from results.run_folder import Measured
from results.statistics import Values, joined, summary
from results.timekeeping import switched_wires

_CROSSED = {"received_ns": pl.Int64, "near_ns": pl.Int64, "far_ns": pl.Int64, "lost": pl.Boolean}


def over_machines(machines: Machines, plan: Plan, measured: Sequence[Measured]) -> SeveralMachines:
    """What metrics.json has of a run over several machines besides what it has of any; nothing of one on a single machine."""
    if not machines.several:
        return {}
    parts = [metrics.overhead_by_tunnels_us(path, rows) for flow in measured for path, rows in flow.by_path()]
    return {
        "machines": {
            "here": machines.record["here"],
            "hosts": {name: _clock(machines, name) for name in machines.record["hosts"]},
        },
        "tunnels": [_tunnel(machines, plan, wire, measured) for wire in machines.record["wires"]],
        "overhead_tunnels_us": summary(joined(inside for inside, _ in parts)),
        "overhead_without_tunnels_us": summary(joined(outside for _, outside in parts)),
    }


def clock_error(machines: Machines, flow: Flow) -> ClockError:
    """What a flow's entry says besides: what its one-way delays may be wrong by because its hosts have two clocks."""
    if not machines.several:
        return {}
    error_ns = machines.error_ns(flow.source, flow.destination)
    return {"clock_error_ms": None if error_ns is None else error_ns / 1e6}


def _clock(machines: Machines, name: str) -> MachineClock:
    machine, clock = machines.record["hosts"][name], machines.clock(name)
    readings = machine["clock"]
    return {
        "address": machine.get("address"),
        "synchronised": machine.get("synchronised"),
        "before": readings.get("before"),
        "after": readings.get("after"),
        "drift_ppm": clock.drift * 1e6 if readings.get("before") and readings.get("after") else None,
        "problem": readings.get("problem"),
        "error_us": None if clock.error_ns is None else clock.error_ns / 1e3,
    }


def _tunnel(machines: Machines, plan: Plan, wire: Wire, measured: Sequence[Measured]) -> Tunnel:
    left, right = wire["ends"]
    directions = [_direction(machines, wire["wire"], *ends, measured) for ends in ((left, right), (right, left))]
    probe = wire.get("probe")
    return {
        "wire": wire["wire"],
        "kind": wire["kind"],
        "mtu": wire["mtu"],
        "directions": directions,
        "both_ways_us": _sum(*(direction["delay_us"] for direction in directions)),
        "probe_us": None if probe is None else probe["round_trip_ns"] / 1e3,
        "switched": any(wire["wire"] in switched_wires(plan, end["node"]) for end in (left, right)),
    }


def _sum(there: TunnelDelay | None, back: TunnelDelay | None) -> BothWays | None:
    if there is None or back is None:
        return None
    return {"mean": there["mean"] + back["mean"], "min": there["min"] + back["min"], "p50": there["p50"] + back["p50"]}


def _direction(machines: Machines, wire: str, near: WireEnd, far: WireEnd, measured: Sequence[Measured]) -> TunnelDirection:
    tables = [
        rows.select(
            "received_ns", near_ns=f"near_ns.{wire}", far_ns=f"far_ns.{wire}", lost=pl.col("lost_at").eq_missing(tunnel.name)
        )
        for flow in measured
        for path, rows in flow.whole().by_path()
        for tunnel in dict.fromkeys(path.tunnels)
        if (tunnel.wire, tunnel.near) == (wire, near["node"])
    ]
    crossed = pl.concat(tables) if tables else pl.DataFrame(schema=_CROSSED)
    entered = crossed.filter(pl.col("near_ns").is_not_null())
    half = pl.col("received_ns").is_not_null() & (pl.col("near_ns").is_null() != pl.col("far_ns").is_null())
    delays: Values = (entered["far_ns"] - entered["near_ns"]).drop_nulls().to_numpy().astype(float) / 1e3
    error_ns = machines.error_ns(near["node"], far["node"])
    return {
        "from": {"host": near["host"], "node": near["node"]},
        "to": {"host": far["host"], "node": far["node"]},
        "frames": entered.height,
        "lost": int(crossed["lost"].sum()),
        "unseen": crossed.filter(half).height,
        "delay_us": _summary(delays),
        "clock_error_us": None if error_ns is None else error_ns / 1e3,
        "reason": None if delays.size else "no frame of a flow was seen at both ends in this direction",
    }


def _summary(delays: Values) -> TunnelDelay | None:
    figures = summary(delays)
    return None if figures is None else {**figures, "p90": float(np.percentile(delays, 90, method="inverted_cdf"))}
