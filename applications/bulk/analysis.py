# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a transfer by TCP delivered, how long it took, and how its connections shared what there was."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl
from typing_extensions import TypedDict

from applications.bulk.application import BulkFacts
from contracts.flow import ApplicationRecord
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, MeasuredFlow


class Connection(TypedDict):
    flow: str
    #: What arrived in order, each byte once.
    bytes: int
    #: Of the flow.
    goodput_kbps: float | None


#: A transfer (`bulk`). Times count from when the first byte was sent, so that the handshake is not in them.
Transfer = TypedDict(
    "Transfer",
    {
        "traffic": str,
        "from": str,
        "to": str,
        "variant": str,
        #: Bytes of each connection; null: as many as fitted into the duration.
        "size": int | None,
        #: Bytes that arrived in order by all connections, each once.
        "bytes": int,
        #: Of all connections together, until the last byte arrived, or the last of `size`.
        "goodput_kbps": float | None,
        #: When the last byte of `size` arrived; null where not all did, or there was no `size`.
        "completed_s": float | None,
        #: Jain's index of the connections' goodput, from 1 / n to 1; null of one connection.
        "fairness": float | None,
        "connections": list[Connection],
    },
)


class TransfersPart(TypedDict):
    """What the template of the report is given."""

    transfers: Sequence[Transfer]


def judge(evidence: Evidence) -> Findings:
    """Raises DamagedRun."""
    transfers = [_transfer(evidence, record) for record in evidence.records]
    return Findings(transfers, drawn=partial(TransfersPart, transfers=transfers))


def _transfer(evidence: Evidence, record: ApplicationRecord) -> Transfer:
    entry, facts = evidence.planned[record.name], evidence.facts(record, BulkFacts)
    own = [flow for flow in evidence.flows if flow.measured.application.name == record.name]
    progress = [list(delivered(flow.measured.rows)) for flow in own]
    wanted = None if facts["size"] is None else facts["size"] * facts["parallel"]
    began = [int(data["sent_ns"].min()) for flow in own if not (data := _data(flow.measured.rows)).is_empty()]  # type: ignore[arg-type]
    total, last_ns, complete = 0, None, False
    for at_ns, new in heapq.merge(*(_steps(steps) for steps in progress)):
        if not complete:
            last_ns = at_ns
        total += new
        complete = wanted is not None and total >= wanted
    took_s = None if last_ns is None else (last_ns - min(began)) / 1e9
    counted = wanted if complete and wanted is not None else total
    return {
        "traffic": record.name,
        "from": entry.source,
        "to": entry.destination,
        "variant": facts["variant"],
        "size": facts["size"],
        "bytes": total,
        "goodput_kbps": counted * 8e-3 / took_s if took_s else None,
        "completed_s": took_s if complete else None,
        "fairness": jain([flow.figures["goodput_kbps"] or 0.0 for flow in own]) if len(own) > 1 else None,
        "connections": [_connection(flow, steps) for flow, steps in zip(own, progress, strict=True)],
    }


def _connection(flow: MeasuredFlow, progress: Sequence[tuple[int, int]]) -> Connection:
    return {
        "flow": flow.figures["name"],
        "bytes": progress[-1][1] if progress else 0,
        "goodput_kbps": flow.figures["goodput_kbps"],
    }


def delivered(rows: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """When more of a connection's stream had arrived in order, ns, and how many bytes then; repeated bytes count once.

    `rows` are those of its flow (results.frames.follow).
    """
    data = _data(rows)
    if data.is_empty():
        return
    first, in_order, early = int(data["tcp_sequence"][0]), 0, list[tuple[int, int]]()
    arrived = data.filter(pl.col("received_ns").is_not_null()).sort("received_ns", maintain_order=True)
    for at_ns, sequence, size in arrived.select("received_ns", "tcp_sequence", "payload_bytes").iter_rows():
        # Numbers go round at 2^32 (RFC 9293, 3.4): it is the byte of that number nearest to the next one.
        begin = in_order + (sequence - first - in_order + 2**31) % 2**32 - 2**31
        heapq.heappush(early, (begin, begin + size))
        before = in_order
        while early and early[0][0] <= in_order:
            in_order = max(in_order, heapq.heappop(early)[1])
        if in_order > before:
            yield at_ns, in_order


def jain(values: Sequence[float]) -> float | None:
    """The index of Jain, Chiu and Hawe ("A Quantitative Measure of Fairness …", DEC-TR-301, 1984); None where all are 0."""
    squares = sum(value**2 for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def _data(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter((pl.col("payload_bytes") > 0) & pl.col("tcp_sequence").is_not_null())


def _steps(progress: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """With how many bytes are new."""
    before = 0
    for at_ns, until in progress:
        yield at_ns, until - before
        before = until


ANALYSIS: Final = ApplicationAnalysis(
    key="transfers",
    entry=Transfer,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    beside_flows=True,
)
