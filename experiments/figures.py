# SPDX-License-Identifier: GPL-2.0-or-later
"""What an entry of the traffic got, over a segment or from host to host: the same reckoning in real and in virtual time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from results import metrics
from results.run_folder import Measured

_ETHERNET_HEADER = 14


@dataclass(frozen=True)
class Figures:
    """One flow, or several alike together. What too few frames arrived for is NaN, with which no comparison holds."""

    sent: int
    arrived: int
    #: Bits of IP packets that arrived, per time of arrival.
    goodput_ip_kbps: float
    delay_mean_ms: float
    delay_min_ms: float
    delay_max_ms: float
    #: Mean of RFC 3550's running estimate; of several flows the mean of theirs.
    jitter_ms: float
    #: Frames lost, by reason.
    losses: dict[str, int]

    @property
    def loss_ratio(self) -> float:
        return 1.0 - self.arrived / self.sent if self.sent else math.nan


def whole(flows: Sequence[Measured]) -> Figures:
    """From host to host."""
    columns = ["sent_ns", "received_ns", "payload_bytes", "ethernet_bytes", "lost_why"]
    return _figures([flow.rows.select(columns) for flow in flows])


def segment(netbox: str, flows: Sequence[Measured]) -> Figures:
    """From where frames enter a netbox to where they leave it."""
    return _figures(
        [
            flow.rows.filter(pl.col(f"fate.{netbox}").is_not_null()).select(
                pl.col(f"in_ns.{netbox}").alias("sent_ns"),
                pl.col(f"out_ns.{netbox}").alias("received_ns"),
                "payload_bytes",
                "ethernet_bytes",
                pl.when(pl.col("lost_at") == netbox).then("lost_why").alias("lost_why"),
            )
            for flow in flows
        ]
    )


def _figures(tables: Sequence[pl.DataFrame]) -> Figures:
    rows = pl.concat(tables)
    delays = metrics.delays_ms(rows)
    jitters = [jitter.mean() for table in tables if (jitter := metrics.jitter_ms(table, None)).size]
    lost = rows.filter(pl.col("received_ns").is_null())["lost_why"].drop_nulls()
    ip = rows.with_columns((pl.col("ethernet_bytes") - _ETHERNET_HEADER).alias("payload_bytes"))
    goodput = metrics.goodput_kbps(ip)
    return Figures(
        sent=rows.height,
        arrived=delays.size,
        goodput_ip_kbps=math.nan if goodput is None else goodput,
        delay_mean_ms=float(delays.mean()) if delays.size else math.nan,
        delay_min_ms=float(delays.min()) if delays.size else math.nan,
        delay_max_ms=float(delays.max()) if delays.size else math.nan,
        jitter_ms=float(np.mean(jitters)) if jitters else math.nan,
        losses={str(why): count for why, count in lost.value_counts().sort("count", descending=True).iter_rows()},
    )
