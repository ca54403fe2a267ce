# SPDX-License-Identifier: GPL-2.0-or-later
"""What metrics.json says of flows, segments, gaps and lateness; definitions and their sources are in docs/measuring.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from contracts import statistics
from contracts.flow import Direction
from results.flow_path import FlowPath, Gap
from results.jitter import running_jitter, settled, unwrap_timestamps
from results.metrics_document import (
    FlowFigures,
    GapFigures,
    Lateness,
    LatenessOfNetbox,
    Loss,
    PathChange,
    PathFigures,
    PathTaken,
    Seconds,
    Segment,
)
from results.run_folder import Measured
from results.statistics import Values, joined, summary

DIRECTIONS: tuple[Direction, Direction] = ("return", "forward")

#: Changes of path of a flow that are told, all are counted: a router that spreads packets over paths makes one with each.
_MOST_CHANGES = 100


def delays_ms(rows: pl.DataFrame) -> Values:
    """One-way delay of each frame that arrived, in the order of sending."""
    arrived = rows.filter(pl.col("received_ns").is_not_null())
    return (arrived["received_ns"] - arrived["sent_ns"]).to_numpy() / 1e6


def jitter_ms(rows: pl.DataFrame, rtp_clock_hz: int | None) -> Values:
    """RFC 3550's estimate after each packet, in the order of arrival. A flow without RTP takes the captured time of sending."""
    stamped = pl.lit(True) if rtp_clock_hz is None else pl.col("rtp_timestamp").is_not_null()
    arrived = rows.filter(pl.col("received_ns").is_not_null() & stamped).sort("received_ns")
    if arrived.height < 2:
        return np.zeros(0)
    if rtp_clock_hz is None:
        sent_ms = arrived["sent_ns"].to_numpy().astype(float) / 1e6
    else:
        sent_ms = unwrap_timestamps(arrived["rtp_timestamp"].to_numpy()).astype(float) * (1e3 / rtp_clock_hz)
    received_ms = (arrived["received_ns"] - arrived["received_ns"][0]).to_numpy() / 1e6
    return settled(running_jitter(received_ms - (sent_ms - sent_ms[0])))


def goodput_kbps(rows: pl.DataFrame) -> float | None:
    """Payload of the transport protocol per time of arrival; the first frame's payload came before that time began."""
    arrived = rows.filter(pl.col("received_ns").is_not_null()).sort("received_ns")
    if arrived.height < 2:
        return None
    span_ns = arrived["received_ns"][-1] - arrived["received_ns"][0]
    return int(arrived["payload_bytes"][1:].sum()) * 8e6 / span_ns if span_ns > 0 else None


def losses(rows: pl.DataFrame) -> list[Loss]:
    """Where and why frames were lost, most frequent first."""
    counted = (
        rows.filter(pl.col("received_ns").is_null())
        .group_by("lost_at", "lost_why")
        .len("frames")
        .sort("frames", "lost_at", "lost_why", descending=[True, False, False])
    )
    return [{"at": row["lost_at"], "why": row["lost_why"], "frames": row["frames"]} for row in counted.iter_rows(named=True)]


def flow_metrics(measured: Measured) -> FlowFigures:
    """An entry of `flows`. What cannot be told is None, and `reason` says why."""
    flow, rows = measured.flow, measured.rows
    received = int(rows["received_ns"].is_not_null().sum())
    delay, jitter = summary(delays_ms(rows)), summary(jitter_ms(rows, flow.rtp_clock_hz))
    return {
        "name": flow.name,
        "kind": flow.kind,
        "direction": flow.direction,
        "source": flow.source,
        "destination": flow.destination,
        "packets": rows.height,
        "warm_up_packets": measured.in_warm_up,
        "received": received,
        "loss_ratio": 1.0 - received / rows.height if rows.height else None,
        "losses": losses(rows),
        "goodput_kbps": goodput_kbps(rows),
        "one_way_delay_ms": delay,
        "jitter_ms": jitter,
        "reason": _missing(measured, received),
    }


def segment_metrics(netbox: str, direction: Direction, tables: Mapping[str, pl.DataFrame]) -> Segment:
    """An entry of `segments`: all flows of one direction through one netbox; `flows` has each of them by name."""
    inside = {
        name: joined(_difference(rows, f"in_ns.{point}", f"out_ns.{point}") / 1e6 for point in points_of(netbox, rows))
        for name, rows in tables.items()
    }
    fates = [rows[f"fate.{point}"] for rows in tables.values() for point in points_of(netbox, rows)]
    seen, lost = sum(column.is_not_null().sum() for column in fates), sum((column.fill_null(0) > 0).sum() for column in fates)
    return {
        "netbox": netbox,
        "direction": direction,
        "packets": int(seen),
        "lost": int(lost),
        "one_way_delay_ms": summary(np.concatenate(list(inside.values()))),
        "flows": {name: summary(values) for name, values in inside.items()},
        "reason": None if seen > lost else "no frame of a flow left this netbox in this direction",
    }


def points_of(netbox: str, rows: pl.DataFrame) -> list[str]:
    """The points of paths (`FlowPath.points`) that are crossings of a netbox."""
    # A column is "fate.cell", of a second crossing "fate.cell.2".
    return [name.removeprefix("fate.") for name in rows.columns if name.split(".")[:2] == ["fate", netbox]]


def path_metrics(paths: Sequence[FlowPath], rows: pl.DataFrame, began_ns: int) -> PathFigures:
    """What an entry of `flows` says of paths: of the frames that arrived those of each path, and when the path changed."""
    arrived = rows.filter(pl.col("received_ns").is_not_null()).sort("sent_ns", maintain_order=True)
    netboxes = [list(path.netboxes) for path in paths]
    taken: list[PathTaken] = [
        {
            "netboxes": netboxes[part["path"][0]],
            "received": part.height,
            "first_s": (part["sent_ns"][0] - began_ns) / 1e9,
            "last_s": (part["sent_ns"][-1] - began_ns) / 1e9,
            "one_way_delay_ms": summary(delays_ms(part)),
        }
        for part in arrived.partition_by("path", maintain_order=True)
    ]
    changed = arrived.with_columns(pl.col("path").shift().alias("before")).filter(pl.col("path") != pl.col("before"))
    changes: list[PathChange] = [
        {"time_s": (sent_ns - began_ns) / 1e9, "from": netboxes[before], "to": netboxes[after]}
        for sent_ns, before, after in changed.select("sent_ns", "before", "path").head(_MOST_CHANGES).iter_rows()
    ]
    return {"paths": taken, "path_changes": {"count": changed.height, "list": changes}}


def per_second(rows: pl.DataFrame, began_ns: int) -> Seconds | None:
    """The entry `seconds` of a flow, lists of equal length; second n is from n to n + 1 s after the run began.

    `sent`, `loss_ratio` and `delay_ms` (mean) are of the frames that were sent in that second, `goodput_kbps` is the payload that
    arrived in it. None stands for what nothing can be said of.
    """
    if rows.is_empty():
        return None

    def second(column: str) -> pl.Expr:
        return ((pl.col(column) - began_ns) // 1_000_000_000).cast(pl.Int64)

    sent = rows.group_by(second=second("sent_ns")).agg(
        sent=pl.len(),
        loss_ratio=pl.col("received_ns").is_null().mean(),
        delay_ms=((pl.col("received_ns") - pl.col("sent_ns")) / 1e6).mean(),
    )
    arrived = (
        rows.filter(pl.col("received_ns").is_not_null())
        .group_by(second=second("received_ns"))
        .agg(goodput_kbps=pl.col("payload_bytes").cast(pl.Int64).sum() * 8 / 1e3)
    )
    first = int(sent["second"].min())  # type: ignore[arg-type]
    last = max(int(table["second"].max()) for table in (sent, arrived) if not table.is_empty())  # type: ignore[arg-type]
    whole = (
        pl.DataFrame({"second": range(first, last + 1)}, schema={"second": pl.Int64})
        .join(sent, on="second", how="left")
        .join(arrived, on="second", how="left")
        .sort("second")
        .with_columns(pl.col("sent").fill_null(0), pl.col("goodput_kbps").fill_null(0.0))
    )
    rounded = whole.with_columns(pl.col("loss_ratio", "delay_ms", "goodput_kbps").round(6))
    return {
        "second": rounded["second"].to_list(),
        "sent": rounded["sent"].to_list(),
        "loss_ratio": rounded["loss_ratio"].to_list(),
        "delay_ms": rounded["delay_ms"].to_list(),
        "goodput_kbps": rounded["goodput_kbps"].to_list(),
    }


def gap_metrics(gap: Gap, direction: Direction, us: Values) -> GapFigures:
    """An entry of `gaps`: the time between two points of measurement: in routers, switches, or wires and the hosts' stacks."""
    figures: GapFigures = {
        "name": gap.name,
        "direction": direction,
        "from": gap.before,
        "to": gap.after,
        "routers": list(gap.routers),
        "switches": list(gap.switches),
        "us": summary(us),
    }
    return {**figures, "tunnels": [tunnel.wire for tunnel in gap.tunnels]} if gap.tunnels else figures


def gaps_us(path: FlowPath, rows: pl.DataFrame) -> Iterator[tuple[Gap, Values]]:
    """The gaps of a path, with the times that its frames spent in each."""
    for gap, leave, enter in _points(path):
        yield gap, _difference(rows, leave, enter) / 1e3


def overhead_us(path: FlowPath, rows: pl.DataFrame, routers: bool = True) -> Values:
    """For each frame whose passage through all netboxes is known: the time from host to host that was spent outside of them.

    Without `routers`, the gaps in which there is one or a switch are left out too: what remains is wires and the hosts' stacks.
    What a real network takes is none of the testbed's.
    """
    crossed = [
        pl.col(enter) - pl.col(leave) for gap, leave, enter in _emulated(path) if routers or not (gap.routers or gap.switches)
    ]
    return _sums_us(rows.filter(_whole(path)), crossed)


def overheads_us(measured: Iterable[Measured], routers: bool = True) -> Values:
    """`overhead_us` of all frames of all flows."""
    return joined(overhead_us(path, rows, routers) for flow in measured for path, rows in flow.by_path())


def overhead_by_tunnels_us(path: FlowPath, rows: pl.DataFrame) -> tuple[Values, Values]:
    """Of each frame whose passage is known, also at both ends of each tunnel: the overhead in tunnels, and all that is not."""
    inside = [
        pl.col(f"far_ns.{tunnel.wire}") - pl.col(f"near_ns.{tunnel.wire}")
        for gap, _, _ in _emulated(path)
        for tunnel in gap.tunnels
    ]
    measured_rows = rows.filter(_whole(path) & pl.all_horizontal(pl.lit(True), *(time.is_not_null() for time in inside)))
    tunnels = _sums_us(measured_rows, inside)
    return tunnels, overhead_us(path, measured_rows) - tunnels


def _emulated(path: FlowPath) -> list[tuple[Gap, str, str]]:
    return [point for point in _points(path) if not point[0].equipment]


def _whole(path: FlowPath) -> pl.Expr:
    return pl.all_horizontal(pl.col(enter).is_not_null() & pl.col(leave).is_not_null() for _, leave, enter in _emulated(path))


def _sums_us(rows: pl.DataFrame, times: Iterable[pl.Expr]) -> Values:
    return rows.select(pl.sum_horizontal(pl.lit(0), *times).alias("ns"))["ns"].to_numpy().astype(float) / 1e3


def _points(path: FlowPath) -> list[tuple[Gap, str, str]]:
    """For each gap the columns with the times at which a frame leaves the point before it and enters the one after it."""
    leaves = ["sent_ns", *(f"out_ns.{point}" for point in path.points)]
    enters = [*(f"in_ns.{point}" for point in path.points), "received_ns"]
    return list(zip(path.gaps, leaves, enters, strict=True))


def lateness_us(counted: statistics.NetboxStatistics) -> LatenessOfNetbox:
    """An entry of `lateness_us`: of departing frames at its top, of the simulator's events under `event`."""
    measured = counted["lateness_us"]
    return {**_lateness(measured["frame"]), "event": _lateness(measured["event"]), "missed": counted["missed"]}


def _lateness(measured: statistics.LatenessCounters) -> Lateness:
    return {
        "count": measured["count"],
        "p50": measured.get("p50"),
        "p90": measured.get("p90"),
        "p99": measured.get("p99"),
        "p99_9": measured.get("p99_9"),
        "max": measured.get("max"),
    }


def _difference(rows: pl.DataFrame, before: str, after: str) -> Values:
    return rows.select((pl.col(after) - pl.col(before)).alias("ns"))["ns"].drop_nulls().to_numpy().astype(float)


def _missing(measured: Measured, received: int) -> str | None:
    if measured.every.is_empty():
        return "no frame of this flow was sent"
    if measured.rows.is_empty():
        return "no frame of this flow was sent after the warm-up"
    if received == 0:
        return "no frame of this flow arrived"
    return None if received > 1 else "one frame is too few for jitter and goodput"
