# SPDX-License-Identifier: GPL-2.0-or-later
"""What metrics.json says of streams of TCP: `tcp` and `fairness`; definitions are in docs/measuring.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from contracts.flow import Direction, Flow
from results import fairness, metrics_document
from results.metrics_document import Fairness, OverTime, RoundTrips, TcpStream
from results.run_folder import Measured
from results.statistics import Values, summary
from results.tcp import Numbers, Reordering, Stream


@dataclass(frozen=True)
class MeasuredStream:
    """A stream, and the flow or conversation that has its frames, None where none has."""

    stream: Stream
    measured: Measured | None


def measured_streams(streams: Sequence[Stream], measured: Sequence[Measured]) -> list[MeasuredStream]:
    """`measured` are all flows and conversations of a run; the first that fits has the stream."""
    of_addresses: dict[tuple[str, str], list[Measured]] = {}
    for one in measured:
        if one.flow.protocol == "tcp":
            of_addresses.setdefault((one.flow.source_address, one.flow.destination_address), []).append(one)
    return [
        MeasuredStream(
            stream,
            next(
                (one for one in of_addresses.get((stream.ends.source, stream.ends.destination), ()) if _has(one.flow, stream)),
                None,
            ),
        )
        for stream in streams
    ]


def _has(flow: Flow, stream: Stream) -> bool:
    ports = ((flow.source_ports, stream.ends.source_port), (flow.destination_ports, stream.ends.destination_port))
    return all(within is None or within[0] <= port <= within[1] for within, port in ports)


def tcp_stream(one: MeasuredStream, began_ns: int) -> TcpStream:
    """An entry of `tcp`."""
    stream, flow = one.stream, one.measured.flow if one.measured else None
    sender, delivered = stream.sender, stream.delivered
    return {
        "flow": flow.name if flow else None,
        "traffic": (one.measured.application.name if one.measured else "") or None,
        "direction": flow.direction if flow else None,
        "from": stream.source or stream.ends.source,
        "to": stream.destination or stream.ends.destination,
        "source_port": stream.ends.source_port,
        "destination_port": stream.ends.destination_port,
        "began_s": (sender.first_ns - began_ns) / 1e9 if sender else None,
        "bytes": (int(delivered.bytes[-1]) if delivered.bytes.size else 0) if delivered else None,
        "goodput_kbps": stream.goodput_kbps,
        "completion_s": stream.completion_s,
        "ended": stream.ended,
        "syn_rtt_ms": stream.syn_rtt_ms,
        "rtt_ms": _round_trips(sender.rtt_ms) if sender else None,
        "segments": sender.segments if sender else None,
        "mss": stream.mss,
        "largest_segment": sender.largest_segment if sender else None,
        "retransmissions": sender.retransmissions if sender else None,
        "retransmitted_bytes": sender.retransmitted_bytes if sender else None,
        "retransmission_ratio": sender.retransmitted_bytes / sent if sender and (sent := _sent_bytes(stream)) else None,
        "repeated_bytes": stream.repeated_bytes,
        "duplicate_acks": sender.duplicate_acks if sender else None,
        "reordering": _reordering(stream.reordering) if stream.reordering else None,
        "window_bytes": _over_time(sender.window, sender.window_ns) if sender and sender.window is not None else None,
        "in_flight_bytes": _in_flight(sender.in_flight, sender.in_flight_ns) if sender else None,
        "unseen_bytes": sender.unseen_bytes if sender else None,
        "reasons": list(_reasons(stream)),
    }


def _sent_bytes(stream: Stream) -> int:
    """Of all segments, those that were sent again too."""
    assert stream.sender is not None
    return stream.sender.bytes - stream.sender.unseen_bytes + stream.sender.retransmitted_bytes


def _round_trips(rtt_ms: Values) -> RoundTrips | None:
    if (all_of_them := summary(rtt_ms)) is None:
        return None
    return {**all_of_them, "p95": float(np.percentile(rtt_ms, 95, method="inverted_cdf"))}


def _reordering(seen: Reordering) -> metrics_document.Reordering:
    reordered = int(seen.extent.size)
    return {
        "segments": seen.segments,
        "reordered": reordered,
        "ratio": reordered / seen.segments if seen.segments else None,
        "extent_mean": float(seen.extent.mean()) if reordered else None,
        "extent_max": int(seen.extent.max()) if reordered else None,
        "late_ms_max": float(seen.late_ms.max()) if reordered else None,
    }


def _over_time(amounts: Numbers, times_ns: Numbers) -> OverTime | None:
    if not amounts.size:
        return None
    weights = times_ns if times_ns.any() else np.ones_like(times_ns)
    mean = float(np.average(amounts.astype(float), weights=weights))
    return {"min": int(amounts.min()), "mean": mean, "max": int(amounts.max())}


def _in_flight(amounts: Numbers, times_ns: Numbers) -> OverTime | None:
    """While there was any."""
    return _over_time(amounts[amounts > 0], times_ns[amounts > 0])


def _reasons(stream: Stream) -> Iterator[str]:
    """Why figures are missing, or less than they seem."""
    if stream.sender is None:
        yield "not captured at the sender: what it sent again, round trips, windows and bytes in flight are not visible"
    elif stream.sender.window is None:
        yield "the window is not visible: no SYN that tells its scale was captured at the sender"
    if stream.delivered is None:
        yield "not captured at the receiver: goodput, completion and reordering are not visible"
    if stream.sender and stream.sender.unseen_bytes:
        yield f"the sender's capture lacks {stream.sender.unseen_bytes:,} bytes: segments of it are missing"
    if stream.begun_in_warm_up:
        yield (
            "it began in the warm-up: its figures are of what was sent afterwards, and there is neither a completion time nor a "
            "round trip of the SYN"
        )
    elif stream.opened_in_warm_up:
        yield "its connection was opened in the warm-up, so there is no round trip of the SYN"
    if stream.sender and stream.mss and stream.sender.largest_segment > stream.mss:
        yield "captured before segmentation (offload): a segment here is several on the wire"


def fairness_of(streams: Sequence[MeasuredStream], began_ns: int) -> list[Fairness]:
    """Of streams that crossed a netbox together in one direction; netboxes that all of the same streams crossed are together."""
    crossing: dict[tuple[Direction, str], list[int]] = {}
    for at, one in enumerate(streams):
        for netbox in _netboxes(one.measured) if one.measured else ():
            crossing.setdefault((one.measured.flow.direction, netbox), []).append(at)  # type: ignore[union-attr]
    together: dict[tuple[Direction, tuple[int, ...]], list[str]] = {}
    for (direction, netbox), places in crossing.items():
        if len(places) > 1:
            together.setdefault((direction, tuple(places)), []).append(netbox)
    return [
        _fairness(netboxes, direction, [streams[at] for at in places], began_ns)
        for (direction, places), netboxes in together.items()
    ]


def _fairness(netboxes: list[str], direction: Direction, shared: list[MeasuredStream], began_ns: int) -> Fairness:
    goodputs = [one.stream.goodput_kbps for one in shared]
    known = [goodput for goodput in goodputs if goodput is not None]
    return {
        "netboxes": netboxes,
        "direction": direction,
        "flows": [one.measured.flow.name for one in shared if one.measured],
        "index": fairness.jain(known) if len(known) == len(goodputs) else None,
        "intervals": fairness.over_time([one.stream for one in shared], began_ns),
    }


def _netboxes(measured: Measured) -> tuple[str, ...]:
    """Of the path that most of its frames took."""
    if measured.rows.is_empty():
        return ()
    return tuple(dict.fromkeys(measured.paths[measured.rows["path"].mode().sort()[0]].netboxes))
