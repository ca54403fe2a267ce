# SPDX-License-Identifier: GPL-2.0-or-later
"""What metrics.json says of flows, segments, gaps and lateness; definitions and their sources are in docs/measuring.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from results.jitter import running_jitter, settled, unwrap_timestamps
from results.statistics import Values, summary
from results.way import Gap, Way
from traffic.flow import Flow

DIRECTIONS = ("return", "forward")


def delays_ms(rows: pl.DataFrame) -> Values:
    """One-way delay of each frame that arrived, in the order of sending."""
    arrived = rows.filter(pl.col("received_ns").is_not_null())
    return (arrived["received_ns"] - arrived["sent_ns"]).to_numpy() / 1e6


def jitter_ms(rows: pl.DataFrame, rtp_clock_hz: int | None) -> Values:
    """RFC 3550's estimate after each packet, in the order of arrival. A flow without RTP takes the captured time of sending."""
    arrived = rows.filter(pl.col("received_ns").is_not_null()).sort("received_ns")
    if rtp_clock_hz is None:
        sent_ms = arrived["sent_ns"].to_numpy().astype(float) / 1e6
    else:
        arrived = arrived.filter(pl.col("rtp_timestamp").is_not_null())
        if arrived.is_empty():
            return np.zeros(0)
        sent_ms = unwrap_timestamps(arrived["rtp_timestamp"].to_numpy()).astype(float) * (1e3 / rtp_clock_hz)
    if arrived.height < 2:
        return np.zeros(0)
    received_ms = (arrived["received_ns"] - arrived["received_ns"][0]).to_numpy() / 1e6
    return settled(running_jitter(received_ms - (sent_ms - sent_ms[0])))


def goodput_kbps(rows: pl.DataFrame) -> float | None:
    """Payload of the transport protocol per time of arrival; the first frame's payload came before that time began."""
    arrived = rows.filter(pl.col("received_ns").is_not_null()).sort("received_ns")
    if arrived.height < 2:
        return None
    span_ns = arrived["received_ns"][-1] - arrived["received_ns"][0]
    return int(arrived["payload_bytes"][1:].sum()) * 8e6 / span_ns if span_ns > 0 else None


def losses(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Where and why frames were lost, most frequent first."""
    lost = rows.filter(pl.col("received_ns").is_null())
    counted = (
        lost.group_by("lost_at", "lost_why").len("frames").sort("frames", "lost_at", "lost_why", descending=[True, False, False])
    )
    return [{"at": row["lost_at"], "why": row["lost_why"], "frames": row["frames"]} for row in counted.iter_rows(named=True)]


def flow_metrics(flow: Flow, rows: pl.DataFrame) -> dict[str, Any]:
    """An entry of `flows`. What cannot be told is None, and `reason` says why."""
    received = int(rows["received_ns"].is_not_null().sum())
    delay, jitter = summary(delays_ms(rows)), summary(jitter_ms(rows, flow.rtp_clock_hz))
    return {
        "name": flow.name,
        "kind": flow.kind,
        "direction": flow.direction,
        "source": flow.source,
        "destination": flow.destination,
        "packets": rows.height,
        "received": received,
        "loss_ratio": 1.0 - received / rows.height if rows.height else None,
        "losses": losses(rows),
        "goodput_kbps": goodput_kbps(rows),
        "one_way_delay_ms": delay,
        "jitter_ms": jitter,
        "reason": _missing(rows.height, received),
    }


def segment_metrics(netbox: str, direction: str, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """An entry of `segments`: all flows of one direction through one netbox; `flows` has each of them by name."""
    inside = {name: _inside_ms(rows, netbox) for name, rows in tables.items()}
    fates = pl.concat([rows.select(pl.col(f"fate.{netbox}").alias("fate")) for rows in tables.values()])
    seen, lost = fates["fate"].is_not_null().sum(), (fates["fate"].fill_null(0) > 0).sum()
    return {
        "netbox": netbox,
        "direction": direction,
        "packets": int(seen),
        "lost": int(lost),
        "one_way_delay_ms": summary(np.concatenate(list(inside.values()))),
        "flows": {name: summary(values) for name, values in inside.items()},
        "reason": None if seen > lost else "no frame of a flow left this netbox in this direction",
    }


def gap_metrics(way: Way, direction: str, tables: Iterable[pl.DataFrame]) -> list[dict[str, Any]]:
    """Entries of `gaps`: the time between two points of measurement, in us: routers, switches, or wires and the hosts' stacks."""
    rows = list(tables)
    return [
        {
            "name": gap.name,
            "direction": direction,
            "routers": list(gap.routers),
            "switches": list(gap.switches),
            "us": summary(np.concatenate([_difference(table, leave, enter) / 1e3 for table in rows])),
            **({"tunnels": [tunnel.wire for tunnel in gap.tunnels]} if gap.tunnels else {}),
        }
        for gap, leave, enter in _points(way)
    ]


def overhead_us(way: Way, rows: pl.DataFrame, routers: bool = True) -> Values:
    """For each frame whose passage through all netboxes is known: the time from host to host that was spent outside of them.

    Without `routers`, the gaps in which there is one or a switch are left out too: what remains is wires and the hosts' stacks.
    What a real network takes is none of the testbed's.
    """
    crossed = [
        pl.col(enter) - pl.col(leave) for gap, leave, enter in _emulated(way) if routers or not (gap.routers or gap.switches)
    ]
    return _sums_us(rows.filter(_whole(way)), crossed)


def overhead_by_tunnels_us(way: Way, rows: pl.DataFrame) -> tuple[Values, Values]:
    """Of each frame whose passage is known, also at both ends of each tunnel: the overhead in tunnels, and all that is not."""
    inside = [pl.col(f"far_ns.{one.wire}") - pl.col(f"near_ns.{one.wire}") for gap, _, _ in _emulated(way) for one in gap.tunnels]
    known = rows.filter(_whole(way) & pl.all_horizontal(pl.lit(True), *(one.is_not_null() for one in inside)))
    tunnels = _sums_us(known, inside)
    return tunnels, overhead_us(way, known) - tunnels


def _emulated(way: Way) -> list[tuple[Gap, str, str]]:
    return [point for point in _points(way) if not point[0].equipment]


def _whole(way: Way) -> pl.Expr:
    return pl.all_horizontal(pl.col(enter).is_not_null() & pl.col(leave).is_not_null() for _, leave, enter in _emulated(way))


def _sums_us(rows: pl.DataFrame, times: Iterable[pl.Expr]) -> Values:
    return rows.select(pl.sum_horizontal(pl.lit(0), *times).alias("ns"))["ns"].to_numpy().astype(float) / 1e3


def _points(way: Way) -> list[tuple[Gap, str, str]]:
    """For each gap the columns with the times at which a frame leaves the point before it and enters the one after it."""
    leaves = ["sent_ns", *(f"out_ns.{netbox}" for netbox in way.netboxes)]
    enters = [*(f"in_ns.{netbox}" for netbox in way.netboxes), "received_ns"]
    return list(zip(way.gaps, leaves, enters, strict=True))


def lateness_us(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of `lateness_us`: of departing frames at its top, of the simulator's events under `event`."""
    measured = statistics["lateness_us"]
    wanted = ("count", "p50", "p90", "p99", "p99_9", "max")
    frame, event = ({name: measured[kind].get(name) for name in wanted} for kind in ("frame", "event"))
    return {**frame, "event": event, "missed": statistics["missed"]}


def _inside_ms(rows: pl.DataFrame, netbox: str) -> Values:
    return _difference(rows, f"in_ns.{netbox}", f"out_ns.{netbox}") / 1e6


def _difference(rows: pl.DataFrame, before: str, after: str) -> Values:
    return rows.select((pl.col(after) - pl.col(before)).alias("ns"))["ns"].drop_nulls().to_numpy().astype(float)


def _missing(sent: int, received: int) -> str | None:
    if sent == 0:
        return "no frame of this flow was sent"
    if received == 0:
        return "no frame of this flow arrived"
    return None if received > 1 else "one frame is too few for jitter and goodput"
