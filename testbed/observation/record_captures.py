# SPDX-License-Identifier: GPL-2.0-or-later
"""A path's trace from captures at both of its ends, on one clock: what was sent here and arrived, or not, there."""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path

import numpy as np

from contracts.errors import NetBoxITError
from results import pcapng
from results.datagram import datagram
from results.identity import identity
from results.machines import Clock
from testbed.observation.record_trace import OVERHEAD_BYTES, PathTrace, steps

#: What left so shortly before the end of the captures may still have been on its way.
_PATIENCE_NS = 2_000_000_000
_ETHERNET = 14


class NothingInCommon(NetBoxITError):
    """Two captures that are not of the ends of one path, or not on one clock."""


class _Frames:
    """UDP and TCP packets of a capture, in its order; it was made by that clock."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self.identities: list[int] = []
        self.times_ns: list[int] = []
        self.lengths: list[int] = []
        self.sources: list[str] = []
        for packet in pcapng.read(file):
            if (found := datagram(packet.data)) is not None:
                self.identities.append(identity(packet.data))
                self.times_ns.append(clock.here(packet.time_ns))
                self.lengths.append(found.ethernet_bytes - _ETHERNET)
                self.sources.append(found.source)


def from_captures(
    ends: tuple[str, str], files: tuple[Path, Path], step_s: float, *, saturated: bool, clocks: tuple[Clock, Clock]
) -> list[PathTrace]:
    """Both directions, from the first end first; one that nothing crossed is left out.

    `saturated`: the traffic kept the path full, so that what arrived is what it could carry; else nobody knows, and the
    trace has no rate. `clocks` are those by which the captures were made. Raises NothingInCommon.
    """
    left, right = (_Frames(file, clock) for file, clock in zip(files, clocks, strict=True))
    found = [
        trace
        for trace in (_one_way(ends, left, right, step_s, saturated), _one_way(ends[::-1], right, left, step_s, saturated))
        if trace is not None
    ]
    if not found:
        raise NothingInCommon(
            f"no packet of {files[0].name} arrived in {files[1].name} later, or the other way round: are they of the two ends "
            "of one path, at the same time, on one clock?"
        )
    return found


def _one_way(ends: tuple[str, str], source: _Frames, destination: _Frames, step_s: float, saturated: bool) -> PathTrace | None:
    arrivals: dict[int, deque[int]] = defaultdict(deque)
    for number, name in enumerate(destination.identities):
        arrivals[name].append(number)
    # Addresses that send from this end: packets from them are seen here first.
    pairs = [(number, arrivals[name][0]) for number, name in enumerate(source.identities) if arrivals[name]]
    ours = {source.sources[here] for here, there in pairs if destination.times_ns[there] > source.times_ns[here]}
    sent, delays, came = [], [], []
    last_ns = min(source.times_ns[-1:] + destination.times_ns[-1:], default=0) if source.times_ns else 0
    start_ns = min(source.times_ns[:1] + destination.times_ns[:1], default=0)
    for number, name in enumerate(source.identities):
        if source.sources[number] not in ours:
            continue
        there = arrivals[name].popleft() if arrivals[name] else None
        if there is None and source.times_ns[number] > last_ns - _PATIENCE_NS:
            continue
        sent.append((source.times_ns[number] - start_ns) / 1e9)
        delays.append(np.nan if there is None else (destination.times_ns[there] - source.times_ns[number]) / 1e9)
        if there is not None:
            came.append(((destination.times_ns[there] - start_ns) / 1e9, destination.lengths[there]))
    if not came:
        return None
    end_s = max(sent[-1], step_s)
    count = int(np.ceil(end_s / step_s))
    rates: list[float | None] = [None] * count
    if saturated:
        edges = step_s * np.arange(count + 1)
        bits = np.histogram([at for at, _ in came], edges, weights=[8.0 * (size + OVERHEAD_BYTES) for _, size in came])[0]
        rates = [float(value) / step_s for value in bits]
    found = steps(np.array(sent), np.array(delays), rates, step_s, 0.0)
    return PathTrace(*ends, found, count * step_s, sorted(came) if saturated else ())
