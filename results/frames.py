# SPDX-License-Identifier: GPL-2.0-or-later
"""One row for each frame of each flow: when it left, when it passed each netbox, when it arrived, or where it was lost.

Points are captures at hosts, records of netboxes, and captures at both ends of wires between machines, all on one clock. Frames
are recognised by their identity; frames of equal identity are matched in order. Frames that were still on their way when the
captures ended are left out: whether they were lost nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from results import pcapng
from results.datagram import datagram, rtp
from results.identity import identity
from results.records import Fate
from results.way import Gap, Way
from traffic.flow import Flow

#: Reasons of a loss in words.
FATES = {
    Fate.ON_AIR: "on the air",
    Fate.QUEUE_FULL: "queue full",
    Fate.QUEUE_EXPIRED: "expired in a queue",
    Fate.RETRY_LIMIT: "retry limit",
    Fate.OUTAGE: "outage",
    Fate.UNSUPPORTED: "not supported",
    Fate.UNKNOWN: "unknown",
}

#: How long a frame may be on its way when none of its flow arrived, from which one could tell.
PATIENCE_NS = 2_000_000_000

#: Of one captured frame of a flow.
SEEN = {
    "identity": pl.UInt64,
    "time_ns": pl.Int64,
    "ethernet_bytes": pl.UInt32,
    "payload_bytes": pl.UInt32,
    "rtp_sequence": pl.UInt16,
    "rtp_timestamp": pl.UInt32,
}

#: The columns that every row has, whatever its way.
COLUMNS = (
    *("flow", "direction", "number", "identity", "ethernet_bytes", "payload_bytes", "rtp_sequence", "rtp_timestamp"),
    *("sent_ns", "received_ns", "lost_at", "lost_why"),
)


@dataclass
class Capture:
    """What was seen at one host: for each flow, by its place in the list, the frames; when the last frame of any kind came."""

    frames: dict[int, pl.DataFrame] = field(default_factory=dict)
    end_ns: int = 0


def read_capture(paths: Iterable[Path], flows: list[Flow]) -> Capture:
    """Sorts the frames of a host's captures by flow."""
    flows_of: dict[tuple[str, str, str], list[int]] = {}
    for at, flow in enumerate(flows):
        flows_of.setdefault((flow.source_address, flow.destination_address, flow.protocol), []).append(at)
    rows: dict[int, list[tuple[object, ...]]] = {at: [] for at in range(len(flows))}
    end = 0
    for path in paths:
        for packet in pcapng.read(path):
            end = max(end, packet.time_ns)
            if (found := datagram(packet.data)) is None:
                continue
            for at in flows_of.get((found.source, found.destination, found.protocol), ()):
                if _within(found.source_port, flows[at].source_ports) and _within(
                    found.destination_port, flows[at].destination_ports
                ):
                    header = rtp(found.payload) if flows[at].rtp_clock_hz else None
                    media = (header.sequence, header.timestamp) if header else (None, None)
                    rows[at].append((identity(packet.data), packet.time_ns, found.ethernet_bytes, found.payload_bytes, *media))
    return Capture({at: _table(found) for at, found in rows.items()}, end)


#: What was seen of a flow at the ends of a wire between machines: at the near end and at the far one, as its frames meet them.
Ends = tuple[pl.DataFrame, pl.DataFrame]


def follow(
    flow: Flow,
    way: Way,
    sent: pl.DataFrame,
    received: pl.DataFrame,
    records: Mapping[str, pl.DataFrame],
    tunnels: Mapping[str, Ends],
    end_ns: int,
) -> pl.DataFrame:
    """The rows of one flow. `records` are the passages through the netboxes of its way, `tunnels` what was seen at those of it.

    Columns: flow, direction, number, identity, ethernet_bytes, payload_bytes, rtp_sequence, rtp_timestamp, sent_ns, received_ns
    (null when lost), lost_at, lost_why (null when received), and for each netbox of the way `in_ns.<netbox>`, `out_ns.<netbox>`,
    `fate.<netbox>` (null when it has no record of the frame), for each tunnel `near_ns.<wire>`, `far_ns.<wire>` (null when the
    frame was not seen there).
    """
    rows = _numbered(sent).rename({"time_ns": "sent_ns"})
    arrived = _numbered(received).select("identity", "copy", received_ns="time_ns")
    rows = rows.join(arrived, on=["identity", "copy"], how="left", maintain_order="left")
    for netbox in way.netboxes:
        passed = _passed(records[netbox], rows["identity"], netbox)
        rows = rows.join(passed, on=["identity", "copy"], how="left", maintain_order="left")
    for tunnel in way.tunnels:
        for end, seen in zip(("near_ns", "far_ns"), tunnels[tunnel.wire], strict=True):
            there = _numbered(seen).select("identity", "copy", pl.col("time_ns").alias(f"{end}.{tunnel.wire}"))
            rows = rows.join(there, on=["identity", "copy"], how="left", maintain_order="left")
    rows = rows.with_columns(flow=pl.lit(flow.name), direction=pl.lit(flow.direction), number=pl.int_range(pl.len()))
    rows = _finished(rows, way, end_ns).with_columns(_lost_at(way), _lost_why(way)).drop("copy")
    return rows.select(*COLUMNS, pl.exclude(*COLUMNS))


def passages(records: NDArray[np.void]) -> pl.DataFrame:
    """Frame records (as `results.records.read` gives them) in the order in which the frames came in."""
    columns = ("identity", "in_ns", "out_ns", "station_in", "station_out", "fate")
    return pl.DataFrame({name: np.ascontiguousarray(records[name]) for name in columns}).sort("in_ns", maintain_order=True)


def _passed(records: pl.DataFrame, wanted: pl.Series, netbox: str) -> pl.DataFrame:
    """The passages of the wanted frames. A flooded frame has a record for each station: one that delivered it counts first."""
    return _numbered(
        records.filter(pl.col("identity").is_in(wanted.unique().implode()))
        .sort("in_ns", "fate", maintain_order=True)
        .unique(["identity", "in_ns"], keep="first", maintain_order=True)
    ).select(
        "identity",
        "copy",
        pl.col("in_ns").alias(f"in_ns.{netbox}"),
        pl.when(pl.col("fate") == 0).then("out_ns").alias(f"out_ns.{netbox}"),
        pl.col("fate").alias(f"fate.{netbox}"),
    )


def _lost_at(way: Way) -> pl.Expr:
    """The netbox whose record says that it lost the frame, or else the tunnel or the gap after the last point that saw it."""
    last_gap = _lost_in_gap(way.gaps[0], pl.lit(way.gaps[0].name))
    for netbox, gap in zip(way.netboxes, way.gaps[1:], strict=True):
        fate = pl.col(f"fate.{netbox}")
        last_gap = pl.when(fate.is_null()).then(last_gap).when(fate == 0).then(pl.lit(gap.name)).otherwise(pl.lit(netbox))
        last_gap = _lost_in_gap(gap, last_gap)
    return pl.when(pl.col("received_ns").is_null()).then(last_gap).alias("lost_at")


def _lost_in_gap(gap: Gap, before: pl.Expr) -> pl.Expr:
    """`before`, or the tunnel of the gap that a frame entered and did not leave, or the gap where it left one."""
    for tunnel in gap.tunnels:
        entered, left = (pl.col(f"{end}.{tunnel.wire}").is_not_null() for end in ("near_ns", "far_ns"))
        before = pl.when(left).then(pl.lit(gap.name)).when(entered).then(pl.lit(tunnel.name)).otherwise(before)
    return before


def _lost_why(way: Way) -> pl.Expr:
    why = pl.lit("not seen again")
    for netbox in way.netboxes:
        fate = pl.col(f"fate.{netbox}")
        named = fate.replace_strict(FATES, default="unknown", return_dtype=pl.String)
        why = pl.when(fate.is_null() | (fate == 0)).then(why).otherwise(named)
    return pl.when(pl.col("received_ns").is_null()).then(why).alias("lost_why")


def _finished(rows: pl.DataFrame, way: Way, end_ns: int) -> pl.DataFrame:
    """Without the frames that could still have come when the captures ended.

    Those are the ones without any word of their loss, sent later than twice the largest delay of the flow before the end.
    """
    longest = (rows["received_ns"] - rows["sent_ns"]).max()
    patience = 2 * int(longest) if isinstance(longest, int) else PATIENCE_NS
    reported = pl.any_horizontal(pl.lit(False), *((pl.col(f"fate.{netbox}") > 0).fill_null(False) for netbox in way.netboxes))
    return rows.filter(pl.col("received_ns").is_not_null() | reported | (pl.col("sent_ns") < end_ns - patience))


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """With the column `copy`: 0 for the first frame of an identity, 1 for the next of the same."""
    return rows.with_columns(copy=pl.int_range(pl.len()).over("identity"))


def _table(rows: list[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SEEN, orient="row")


def _within(port: int, ports: tuple[int, int] | None) -> bool:
    return ports is None or ports[0] <= port <= ports[1]
