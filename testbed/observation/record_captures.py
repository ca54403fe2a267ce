# SPDX-License-Identifier: GPL-2.0-or-later
"""A path's trace from captures at both of its ends, on one clock: what was sent here and arrived, or not, there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from contracts.errors import NetBoxITError
from results import pcapng
from results.datagram import datagram
from results.identity import identity
from results.machines import Clock
from testbed.observation.record_trace import OVERHEAD_BYTES, PathTrace, steps

#: What left so shortly before the end of the captures may still have been on its way.
_PATIENCE_NS = 2_000_000_000
_ETHERNET = 14
_COLUMNS = {"identity": pl.UInt64, "time_ns": pl.Int64, "length": pl.Int64, "source": pl.String}


class NothingInCommon(NetBoxITError):
    """Two captures that are not of the ends of one path, or not on one clock."""


def from_captures(
    ends: tuple[str, str], files: tuple[Path, Path], step_s: float, *, saturated: bool, clocks: tuple[Clock, Clock]
) -> list[PathTrace]:
    """Both directions, from the first end first; one that nothing crossed is left out.

    `saturated`: the traffic kept the path full, so that what arrived is what it could carry; else nobody knows, and the
    trace has no rate. `clocks` are those by which the captures were made. Raises NothingInCommon.
    """
    left, right = (_frames(file, clock) for file, clock in zip(files, clocks, strict=True))
    directions = (_one_way(ends, left, right, step_s, saturated), _one_way(ends[::-1], right, left, step_s, saturated))
    traces = [trace for trace in directions if trace is not None]
    if not traces:
        raise NothingInCommon(
            f"no packet of {files[0].name} arrived in {files[1].name} later, or the other way round: are they of the two ends "
            "of one path, at the same time, on one clock?"
        )
    return traces


def _frames(file: Path, clock: Clock) -> pl.DataFrame:
    """UDP and TCP packets of a capture that was made by this clock, in its order."""
    rows = [
        (identity(packet.data), clock.here(packet.time_ns), headers.ethernet_bytes - _ETHERNET, headers.source)
        for packet in pcapng.read(file)
        if (headers := datagram(packet.data)) is not None
    ]
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def _one_way(
    ends: tuple[str, str], source: pl.DataFrame, destination: pl.DataFrame, step_s: float, saturated: bool
) -> PathTrace | None:
    here, there = pl.col("time_ns"), pl.col("time_ns_there")
    # Addresses that send from this end: packets from them are seen here first.
    first = source.join(destination.unique("identity", keep="first"), on="identity", suffix="_there").filter(there > here)
    # Equal packets arrive as often as they were sent, in the same order.
    occurrence = pl.int_range(pl.len()).over("identity").alias("occurrence")
    sent = source.join(first, on="source", how="semi", maintain_order="left").with_columns(occurrence)
    keys = ["identity", "occurrence"]
    sent = sent.join(destination.with_columns(occurrence), on=keys, how="left", suffix="_there", maintain_order="left")
    came = sent.filter(there.is_not_null())
    if came.is_empty():
        return None
    start_ns = min(source["time_ns"][0], destination["time_ns"][0])
    last_ns = min(source["time_ns"][-1], destination["time_ns"][-1])
    sent = sent.filter(there.is_not_null() | (here <= last_ns - _PATIENCE_NS))
    sent_s = (sent["time_ns"].to_numpy() - start_ns) / 1e9
    delays_s = (sent["time_ns_there"] - sent["time_ns"]).to_numpy() / 1e9  # NaN of what did not arrive
    came_s = (came["time_ns_there"].to_numpy() - start_ns) / 1e9
    count = int(np.ceil(max(sent_s[-1], step_s) / step_s))
    rates: list[float | None] = [None] * count
    if saturated:
        bits = 8.0 * (came["length_there"].to_numpy() + OVERHEAD_BYTES)
        rates = [float(value) / step_s for value in np.histogram(came_s, step_s * np.arange(count + 1), weights=bits)[0]]
    arrivals = sorted(zip(came_s.tolist(), came["length_there"], strict=True)) if saturated else ()
    return PathTrace(*ends, steps(sent_s, delays_s, rates, step_s, 0.0), count * step_s, arrivals)
