# SPDX-License-Identifier: GPL-2.0-or-later
"""A flow second by second: goodput, loss and delay."""

from __future__ import annotations

import polars as pl

from results.metrics_document import Seconds


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
