# SPDX-License-Identifier: GPL-2.0-or-later
"""One row for each frame of each flow: when it left, when it passed each netbox, when it arrived, or where it was lost.

Points are captures at hosts, records of netboxes, and captures at both ends of wires between machines, all on one clock. Each
frame is followed along the path on which they saw it. Frames are recognised by their identity; frames of equal identity are
matched in order. Frames that were still on their way when the captures ended are left out: whether they were lost nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contracts.flow import Flow
from results import pcapng, segments
from results.address_resolution import AddressRequests
from results.captured_frames import Flags, Frames
from results.datagram import PacketEnds, Packets, ends_of
from results.flow_path import Crossing, FlowPath, Followed, Network
from results.identity import identities
from results.records import Fate
from results.segments import Segments

#: Reasons of a loss in words.
FATES = {
    Fate.ON_AIR: "on the air",
    Fate.QUEUE_FULL: "queue full",
    Fate.QUEUE_EARLY: "dropped early by a queue",
    Fate.QUEUE_EXPIRED: "expired in a queue",
    Fate.RETRY_LIMIT: "retry limit",
    Fate.OUTAGE: "outage",
    Fate.UNSUPPORTED: "not supported",
    Fate.POLICED: "dropped by a stage of a port",
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
    "tcp_sequence": pl.UInt32,
}

#: Between what an IP packet goes, by its headers; ports are 0 where its protocol has none.
ENDS = {
    "source": pl.String,
    "destination": pl.String,
    "protocol": pl.String,
    "source_port": pl.UInt16,
    "destination_port": pl.UInt16,
}
#: Of one captured frame that belongs to no flow.
SEEN_BESIDES = ENDS | {"dscp": pl.UInt8} | SEEN

#: Of one frame's passage through a netbox.
PASSAGES = {
    "identity": pl.UInt64,
    "in_ns": pl.Int64,
    "out_ns": pl.Int64,
    "station_in": pl.UInt16,
    "station_out": pl.UInt16,
    "fate": pl.UInt8,
}

#: The columns that every row has, whatever its path.
COLUMNS = (
    *("flow", "direction", "number", "identity", "ethernet_bytes", "payload_bytes", "rtp_sequence", "rtp_timestamp"),
    *("tcp_sequence", "sent_ns", "received_ns", "lost_at", "lost_why", "path"),
)
#: What a crossing is, in the order of `Network.crossing`'s arguments.
_KIND = ["netbox", "station_in", "station_out", "fate"]
#: The columns that depend on the path begin so.
_CROSSED = ("in_ns", "out_ns", "fate", "near_ns", "far_ns")
#: Why a frame was lost of which no point says so.
_UNSEEN = "not seen again"


@dataclass
class Capture:
    """What was seen at one host: for each flow, by its place in the list, the frames; when the last frame of any kind came.

    `besides` are the IP packets that belong to none of the flows, `segments` are those of TCP in all of them, `requests` those
    for link-layer addresses. `damaged` are the files that are whole only up to some byte, as a full disk leaves them: frames
    before that byte are here.
    """

    frames: dict[int, pl.DataFrame] = field(default_factory=dict)
    end_ns: int = 0
    besides: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SEEN_BESIDES))
    segments: Segments = field(default_factory=Segments)
    requests: AddressRequests = field(default_factory=AddressRequests)
    damaged: dict[Path, str] = field(default_factory=dict)


def read_capture(paths: Iterable[Path], flows: list[Flow]) -> Capture:
    """Sorts the frames of a host's captures by flow."""
    reading, damaged = _Reading(flows), dict[Path, str]()
    for part in _whole_parts(paths, damaged):
        reading.add(part)
    return reading.capture(damaged)


def _whole_parts(paths: Iterable[Path], damaged: dict[Path, str]) -> Iterator[Frames]:
    """The frames of each file, of one that is damaged those before the damage, which goes into `damaged`."""
    for path in paths:
        try:
            yield from pcapng.read_frames(path)
        except pcapng.BadCapture as error:
            damaged[path] = error.damage


class _Reading:
    """Takes the frames of a host's captures part by part."""

    def __init__(self, flows: list[Flow]) -> None:
        self._flows, self._end_ns, self._requests = flows, 0, AddressRequests()
        #: By keys of `Packets.ends`: a capture has few ends, and many packets.
        self._ends: dict[bytes, int] = {}
        self._packets: list[Mapping[str, NDArray[Any]]] = []
        self._segments: list[Mapping[str, NDArray[Any]]] = []

    def add(self, frames: Frames) -> None:
        self._end_ns = max(self._end_ns, int(frames.time_ns.max()))
        of_frames = identities(frames)
        self._requests.add(frames, of_frames)
        packets = Packets.of(frames)
        own, ends, rtp = of_frames[packets.frame], packets.ends(self._ends), packets.rtp()
        self._segments.append(segments.of_packets(packets, own, ends))
        self._packets.append(
            {
                "identity": own,
                "time_ns": frames.time_ns[packets.frame],
                "ethernet_bytes": packets.ethernet_bytes.astype(np.uint32),
                "payload_bytes": packets.payload_bytes.astype(np.uint32),
                "rtp_sequence": rtp.sequence.astype(np.uint16),
                "rtp_timestamp": rtp.timestamp.astype(np.uint32),
                "tcp_sequence": packets.tcp_sequence.astype(np.uint32),
                "dscp": packets.dscp.astype(np.uint8),
                "ends": ends,
                "is_rtp": rtp.is_rtp,
                "is_segment": packets.is_segment,
                "is_datagram": packets.is_datagram,
            }
        )

    def capture(self, damaged: dict[Path, str]) -> Capture:
        if not self._packets:
            self.add(Frames.of([b""]))
        packets, all_ends = _joined(self._packets), [ends_of(key) for key in self._ends]
        besides, seen = np.ones(packets["ends"].size, bool), {}
        for at, flow in enumerate(self._flows):
            is_own = np.array([_is_of(ends, flow) for ends in all_ends], bool)[packets["ends"]] & packets["is_datagram"]
            besides &= ~is_own
            seen[at] = pl.DataFrame(_seen(packets, is_own, with_rtp=flow.rtp_clock_hz is not None))
        of_packets = pl.Series(packets["ends"][besides])
        of_ends = pl.DataFrame(all_ends, schema=ENDS, orient="row")[of_packets]
        others = [*of_ends, pl.Series("dscp", packets["dscp"][besides]), *_seen(packets, besides, with_rtp=False)]
        own_segments = segments.collected(_joined(self._segments), all_ends)
        return Capture(seen, self._end_ns, pl.DataFrame(others), own_segments, self._requests, damaged)


def _joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _seen(packets: Mapping[str, NDArray[Any]], which: Flags, *, with_rtp: bool) -> Iterator[pl.Series]:
    """The columns of SEEN, of these packets."""
    known = {"rtp_sequence": packets["is_rtp"] & with_rtp, "tcp_sequence": packets["is_segment"]}
    known["rtp_timestamp"] = known["rtp_sequence"]
    for name in SEEN:
        column = pl.Series(name, packets[name][which])
        if name in known and not (is_known := known[name][which]).all():
            column = column.zip_with(pl.Series(is_known), column.clear(column.len()))
        yield column


def follow(
    flow: Flow,
    network: Network,
    sent: pl.DataFrame,
    received: pl.DataFrame,
    records: pl.DataFrame,
    tunnels: Mapping[tuple[str, str], pl.DataFrame],
    end_ns: int,
) -> tuple[pl.DataFrame, tuple[FlowPath, ...]]:
    """The rows of one flow, and the paths that its frames took.

    `records` are the passages through all netboxes (`together`), `tunnels` what was seen of the flow at each end of each wire
    between machines, by wire and node.

    Columns: flow, direction, number, identity, ethernet_bytes, payload_bytes, rtp_sequence, rtp_timestamp, tcp_sequence, sent_ns,
    received_ns (null when lost), lost_at, lost_why (null when received), path (the place of the frame's path among those
    returned; that of a lost frame is taken to go on by the shortest path), for each point of a path (`FlowPath.points`)
    `in_ns.<point>`, `out_ns.<point>`, `fate.<point>` (null when it has no record of the frame), for each tunnel
    `near_ns.<wire>`, `far_ns.<wire>` (null when the frame was not seen there). Raises NoPath.
    """
    rows = _numbered(sent).rename({"time_ns": "sent_ns"})
    arrived = _numbered(received).select("identity", "copy", received_ns="time_ns")
    rows = rows.join(arrived, on=["identity", "copy"], how="left", maintain_order="left").with_row_index("number")
    rows = rows.with_columns(pl.col("number").cast(pl.Int64), flow=pl.lit(flow.name), direction=pl.lit(flow.direction))
    passage_lists, codes = _crossings(flow, network, records, rows)
    rows = rows.join(passage_lists, on="number", how="left", maintain_order="left")
    for (wire, node), table in tunnels.items():
        there = _of_frames(table, rows, "time_ns", []).group_by("number").agg(pl.col("time_ns").min().alias(_seen_at(wire, node)))
        rows = rows.join(there, on="number", how="left", maintain_order="left")
    return _along_paths(flow, network, rows, codes, list(tunnels), end_ns)


def together(records: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The passages through several netboxes as one table."""
    tables = [table.with_columns(netbox=pl.lit(netbox)) for netbox, table in records.items()]
    return pl.concat([pl.DataFrame(schema=PASSAGES | {"netbox": pl.String}), *tables], how="vertical")


def passages(records: NDArray[np.void]) -> pl.DataFrame:
    """Frame records (as `results.records.read` gives them) in the order in which the frames came in."""
    columns = {name: np.ascontiguousarray(records[name]) for name in PASSAGES}
    return pl.DataFrame(columns, schema=PASSAGES).sort("in_ns", maintain_order=True)


def _crossings(flow: Flow, network: Network, records: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[Crossing]]:
    """Of each frame, by its number, its passages in the order of their times, as lists; and the crossing that each code means.

    A flooded frame has one for each station.
    """
    matched_records = _of_frames(records, rows, "in_ns", ["netbox"])
    kinds = matched_records.select(_KIND).unique(maintain_order=True)
    crossings = [network.crossing(*kind) for kind in kinds.iter_rows()]
    distances = network.distances(flow.source)
    kinds = kinds.with_columns(
        code=pl.Series(range(kinds.height), dtype=pl.UInt32),
        distance=pl.Series([distances.get((crossing.netbox, crossing.entered), 0) for crossing in crossings], dtype=pl.Int64),
    )
    matched_records = matched_records.join(kinds, on=_KIND).sort("number", "in_ns", "distance", "out_ns", "code")
    return matched_records.group_by("number", maintain_order=True).agg("code", "in_ns", "out_ns"), crossings


def _of_frames(seen: pl.DataFrame, rows: pl.DataFrame, time: str, at: list[str]) -> pl.DataFrame:
    """What was seen of the frames, with the number of each one's frame. `at` are the columns that say where, besides `time`.

    Of frames with equal identity it is that of the earliest which can have been there then, and was not there before.
    """
    frames = rows.select("identity", "number", "sent_ns", "received_ns", many=pl.len().over("identity") > 1)
    once = seen.join(frames.filter(~pl.col("many")).select("identity", "number"), on="identity")
    equal = frames.filter("many").group_by("identity", maintain_order=True).agg("number", "sent_ns", "received_ns")
    if equal.is_empty():
        return once
    places = ["identity", *at, time]
    times = seen.join(equal.select("identity"), on="identity", how="semi").select(places).unique().sort(time)
    matched = [
        (*place, now, number)
        for *place, in_order, numbers, sent, received in times.group_by(places[:-1], maintain_order=True)
        .agg(time)
        .join(equal, on="identity")
        .iter_rows()
        for now, number in _matched(in_order, numbers, sent, received)
    ]
    matches = pl.DataFrame(matched, schema={**{name: seen.schema[name] for name in places}, "number": pl.Int64}, orient="row")
    return pl.concat([once, seen.join(matches, on=places)])


def _matched(times: list[int], numbers: list[int], sent: list[int], received: list[int | None]) -> Iterator[tuple[int, int]]:
    """Of frames of equal identity: each time at which one was seen at a place, and the number of that frame."""
    at = 0
    for time in times:
        while at < len(numbers) and (end := received[at]) is not None and end < time:
            at += 1
        if at < len(numbers) and sent[at] <= time:
            yield time, numbers[at]
            at += 1


def _along_paths(
    flow: Flow, network: Network, rows: pl.DataFrame, crossings: list[Crossing], ends: list[tuple[str, str]], end_ns: int
) -> tuple[pl.DataFrame, tuple[FlowPath, ...]]:
    """Finds the path once for all frames that the same points saw, and gives the rows its columns."""
    signature = [
        pl.col("code").cast(pl.List(pl.String)).list.join(" ").fill_null(""),
        pl.col("received_ns").is_not_null(),
        *(pl.col(_seen_at(*end)).is_not_null() for end in ends),
    ]
    rows = rows.with_columns(pl.struct(witness.alias(str(at)) for at, witness in enumerate(signature)).alias("signature"))
    paths: dict[FlowPath, int] = {}
    parts = []
    for part in rows.partition_by("signature", maintain_order=True) or [rows]:
        # Of a flow without frames there is the shortest path.
        first: dict[str, Any] = dict.fromkeys(part.columns) if part.is_empty() else part.row(0, named=True)
        own = [crossings[code] for code in first["code"] or ()]
        seen = {end for end in ends if first[_seen_at(*end)] is not None}
        arrived = part.is_empty() or first["received_ns"] is not None
        followed = network.follow(flow.source, flow.destination, own, seen, arrived=arrived)
        fates = [None if at is None else own[at].fate for at in followed.crossings]
        lost = next((fate for fate in fates if fate), None)
        parts.append(
            part.with_columns(
                pl.lit(None if arrived else followed.lost_at, pl.String).alias("lost_at"),
                pl.lit(None if arrived else FATES.get(lost, "unknown") if lost else _UNSEEN, pl.String).alias("lost_why"),
                pl.lit(paths.setdefault(followed.path, len(paths)), pl.UInt32).alias("path"),
                *_crossed(followed, fates),
            )
        )
    whole = _finished(pl.concat(parts, how="diagonal").sort("number"), end_ns)
    return whole.select(*COLUMNS, *(name for name in whole.columns if name.partition(".")[0] in _CROSSED)), tuple(paths)


def _crossed(followed: Followed, fates: list[int | None]) -> Iterator[pl.Expr]:
    """The columns of the points and tunnels of a path."""
    for point, at, fate in zip(followed.path.points, followed.crossings, fates, strict=True):
        none = pl.lit(None, pl.Int64)
        yield (none if at is None else pl.col("in_ns").list.get(at)).alias(f"in_ns.{point}")
        yield (none if at is None or fate else pl.col("out_ns").list.get(at)).alias(f"out_ns.{point}")
        yield pl.lit(fate, pl.UInt8).alias(f"fate.{point}")
    for tunnel in dict.fromkeys(followed.path.tunnels):
        yield pl.col(_seen_at(tunnel.wire, tunnel.near)).alias(f"near_ns.{tunnel.wire}")
        yield pl.col(_seen_at(tunnel.wire, tunnel.far)).alias(f"far_ns.{tunnel.wire}")


def _seen_at(wire: str, node: str) -> str:
    return f"seen_ns.{wire}.{node}"


def _finished(rows: pl.DataFrame, end_ns: int) -> pl.DataFrame:
    """Without the frames that could still have come when the captures ended.

    Those are the ones without any word of their loss, sent later than twice the largest delay of the flow before the end.
    """
    longest = (rows["received_ns"] - rows["sent_ns"]).max()
    patience = 2 * int(longest) if isinstance(longest, int) else PATIENCE_NS
    reported = pl.col("lost_why") != _UNSEEN
    return rows.filter(pl.col("received_ns").is_not_null() | reported | (pl.col("sent_ns") < end_ns - patience))


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """With the column `copy`: 0 for the first frame of an identity, 1 for the next of the same."""
    return rows.with_columns(copy=pl.int_range(pl.len()).over("identity"))


def _is_of(ends: PacketEnds, flow: Flow) -> bool:
    """Whether addresses, protocol and ports are the flow's."""
    return (
        ends[:3] == (flow.source_address, flow.destination_address, flow.protocol)
        and _within(ends.source_port, flow.source_ports)
        and _within(ends.destination_port, flow.destination_ports)
    )


def _within(port: int, ports: tuple[int, int] | None) -> bool:
    return ports is None or ports[0] <= port <= ports[1]
