# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a transfer by TCP delivered, how long it took, and how its connections shared what there was."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from typing_extensions import TypedDict

from applications.bulk.application import BulkFacts
from contracts.flow import ApplicationRecord
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, MeasuredFlow, MeasuredValues
from results.fairness import jain, over_time
from results.measure import Measure
from results.metrics_document import FairnessOverTime
from results.tcp import Delivered, Numbers


class Connection(TypedDict):
    flow: str
    #: What arrived in order, each byte once.
    bytes: int
    #: Of them, from when the first one was sent until the last one arrived.
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
        #: When the last byte of `size` arrived; null where not all did, it began in the warm-up, or there was no `size`.
        "completed_s": float | None,
        #: Jain's index of the connections' goodput, from 1 / n to 1; null of one connection.
        "fairness": float | None,
        #: In each second, of the connections that were active in it; null where there never were two.
        "fairness_over_time": FairnessOverTime | None,
        "connections": list[Connection],
        #: Why something is null; null where it needs no words.
        "reason": str | None,
    },
)

_BEGUN_IN_WARM_UP: Final = (
    "it began in the warm-up: bytes and goodput are of what was sent afterwards, and there is no completion time"
)


class TransfersPart(TypedDict):
    """What the template of the report is given."""

    transfers: Sequence[Transfer]


def judge(evidence: Evidence) -> Findings:
    """Raises DamagedRun."""
    transfers = [_transfer(evidence, record) for record in evidence.records]
    return Findings(
        transfers,
        drawn=partial(TransfersPart, transfers=transfers),
        measured=[_measured(transfer) for transfer in transfers],
    )


def _transfer(evidence: Evidence, record: ApplicationRecord) -> Transfer:
    entry, facts = evidence.planned[record.name], evidence.facts(record, BulkFacts)
    own = [flow for flow in evidence.flows if flow.measured.application.name == record.name]
    # Ports of the flow are one connection's: where there were several, the transfer is the largest.
    streams = [flow.streams[0] for flow in own if flow.streams]
    wanted = None if facts["size"] is None else facts["size"] * facts["parallel"]
    times_ns, totals = _together([stream.delivered for stream in streams if stream.delivered is not None])
    began_ns = [stream.sender.since_ns for stream in streams if stream.sender is not None]
    begun_in_warm_up = evidence.warm_up_of(record) > 0
    complete = wanted is not None and totals.size > 0 and bool(totals[-1] >= wanted) and not begun_in_warm_up
    last = int(np.searchsorted(totals, wanted)) if complete and wanted is not None else -1
    took_s = (int(times_ns[last]) - min(began_ns)) / 1e9 if times_ns.size and began_ns else None
    goodputs = [flow.streams[0].goodput_kbps if flow.streams else None for flow in own]
    return {
        "traffic": record.name,
        "from": entry.source,
        "to": entry.destination,
        "variant": facts["variant"],
        "size": facts["size"],
        "bytes": int(totals[-1]) if totals.size else 0,
        "goodput_kbps": (wanted if complete and wanted is not None else int(totals[-1])) * 8e-3 / took_s if took_s else None,
        "completed_s": took_s if complete else None,
        "fairness": jain([goodput or 0.0 for goodput in goodputs]) if len(own) > 1 else None,
        "fairness_over_time": over_time(streams, evidence.began_ns),
        "connections": [_connection(flow) for flow in own],
        "reason": _BEGUN_IN_WARM_UP if begun_in_warm_up else None,
    }


def _measured(transfer: Transfer) -> MeasuredValues:
    """Of all connections together. Each one's flow has the figures of its TCP."""
    values = {
        "transfer_bytes": transfer["bytes"],
        "transfer_goodput_kbps": transfer["goodput_kbps"],
        "transfer_completed_s": transfer["completed_s"],
        "transfer_fairness": transfer["fairness"],
    }
    return MeasuredValues(values, transfer["traffic"])


def _connection(flow: MeasuredFlow) -> Connection:
    stream = flow.streams[0] if flow.streams else None
    arrived = stream.delivered.bytes if stream and stream.delivered else np.empty(0)
    return {
        "flow": flow.figures["name"],
        "bytes": int(arrived[-1]) if arrived.size else 0,
        "goodput_kbps": stream.goodput_kbps if stream else None,
    }


def _together(progress: Sequence[Delivered]) -> tuple[Numbers, Numbers]:
    """When more had arrived of any of them, and how much of all then."""
    if not progress:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    times_ns = np.concatenate([one.times_ns for one in progress])
    new = np.concatenate([np.diff(one.bytes, prepend=0) for one in progress])
    order = np.argsort(times_ns, kind="stable")
    return times_ns[order], np.cumsum(new[order])


ANALYSIS: Final = ApplicationAnalysis(
    key="transfers",
    entry=Transfer,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    beside_flows=True,
    measures=(
        Measure("transfer_bytes", "B", "bytes that arrived in order by all connections", "higher", "traffic"),
        Measure("transfer_goodput_kbps", "kbit/s", "goodput of all connections together", "higher", "traffic"),
        Measure("transfer_completed_s", "s", "until the last byte of the size had arrived", "lower", "traffic"),
        Measure("transfer_fairness", "", "Jain's index of the connections' goodput", "higher", "traffic"),
    ),
)
