# SPDX-License-Identifier: GPL-2.0-or-later
"""flows.parquet and measures.parquet of a run folder: a run's figures as tidy tables, which can be put together over many runs.

docs/results.md says what is in them. `results.runs` reads them, and so does whatever else reads Parquet.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import polars as pl

from contracts import durable
from contracts.document import Document
from contracts.run_folder import FLOWS_TABLE, MEASURES_TABLE
from results.application_analysis import ApplicationAnalysis, Findings, MeasuredValues
from results.measure import COLUMNS_OF_FLOWS, OF_FLOWS, OF_OTHERS
from results.metrics_document import Conversation, Counter, Flow, Metrics
from results.run_folder import Measured
from results.statistics import joined
from results.tcp import Stream

FLOWS: Final[Document[Mapping[str, Any]]] = Document("flows")
MEASURES: Final[Document[Mapping[str, Any]]] = Document("measures")
#: Under which key a file says in its own metadata which table it is, and its version.
IDENTITY: Final = "netboxit"

#: Of each flow. The columns behind them are measures, numbers that are null where they are not known.
FLOW_COLUMNS: Final[Mapping[str, type[pl.DataType]]] = {
    name: pl.Int64 if kind is int else pl.String for name, kind in COLUMNS_OF_FLOWS.items()
}

#: Of each value of a measure that is no flow's.
MEASURE_COLUMNS: Final[Mapping[str, type[pl.DataType]]] = {
    "of": pl.String,
    # Of an entry of the traffic, or of a queue.
    "name": pl.String,
    "netbox": pl.String,
    "station": pl.String,
    "direction": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
}

_NAMES: Final = {measure.name for measure in (*OF_FLOWS, *OF_OTHERS)}
_Row = dict[str, Any]
_Values = Mapping[str, float | int | None]


def write(
    folder: Path,
    document: Metrics,
    measured: Sequence[tuple[Measured, Sequence[Stream]]],
    findings: Sequence[tuple[ApplicationAnalysis, Findings]],
) -> None:
    """Both, into a run folder. `measured` are its flows and conversations in the order of the document's, with their TCP.

    Raises NotWritten, and ValueError where an application gives a value of no measure of its own, or one that is no number.
    """
    measures = {measure.name: measure for measure in (*OF_FLOWS, *OF_OTHERS)}
    measures |= {measure.name: measure for analysis, _ in findings for measure in analysis.measures}
    of_applications = [(analysis, one) for analysis, found in findings for one in found.measured]
    for analysis, one in of_applications:
        _check(analysis, one)
    own = {(one.traffic, one.flow, one.direction): one.values for _, one in of_applications if one.flow is not None}
    told: list[Flow | Conversation] = [*document["flows"], *document["conversations"]]
    rows = [
        {
            **_identity(document, flow, of),
            **_of_flow(flow),
            **of_streams(streams),
            **own.get((of.application.name, flow["name"], flow["direction"]), {}),
        }
        for flow, (of, streams) in zip(told, measured, strict=True)
    ]
    columns = dict(FLOW_COLUMNS) | {measure.name: pl.Float64 for measure in measures.values() if measure.of == "flow"}
    _write(folder / FLOWS_TABLE, FLOWS, pl.DataFrame(rows, schema=columns, orient="row"))
    others = [
        {**subject, "of": measures[name].of, "measure": name, "value": value, "unit": measures[name].unit}
        for subject, values in (*_of_others(document), *_of_entries([one for _, one in of_applications]))
        for name, value in values.items()
        if value is not None
    ]
    _write(folder / MEASURES_TABLE, MEASURES, pl.DataFrame(others, schema=MEASURE_COLUMNS, orient="row"))


def _write(file: Path, document: Document[Mapping[str, Any]], table: pl.DataFrame) -> None:
    content = io.BytesIO()
    table.write_parquet(content, metadata={IDENTITY: json.dumps(document.of({}))}, statistics=False)
    durable.write(file, content.getvalue())


def _check(analysis: ApplicationAnalysis, one: MeasuredValues) -> None:
    of = "traffic" if one.flow is None else "flow"
    known = {measure.name for measure in analysis.measures if measure.of == of}
    for name, value in one.values.items():
        if name not in known:
            raise ValueError(f"the analysis {analysis.key} gives {name}, which is none of its measures of {of}: {sorted(known)}")
        if value is not None and not math.isfinite(value):
            raise ValueError(f"the analysis {analysis.key} gives {value} as {name} of {one.traffic}, which is no number")


def _identity(document: Metrics, flow: Flow | Conversation, measured: Measured) -> _Row:
    return {
        "lab": document["lab"],
        "clock": document["clock"],
        "status": document["verdict"]["status"],
        "flow": flow["name"],
        "direction": flow["direction"],
        "kind": flow["kind"],
        "protocol": measured.flow.protocol,
        # Of a conversation there is neither.
        "traffic": measured.application.name or None,
        "application": measured.application.application or None,
        "source": flow["source"],
        "destination": flow["destination"],
        "dscp": flow.get("dscp"),
        "conversations": flow.get("conversations"),
    }


def _of_flow(flow: Flow | Conversation) -> _Values:
    outages = flow["outages"]
    return {
        "packets": flow["packets"],
        "received": flow["received"],
        "loss_ratio": flow["loss_ratio"],
        "goodput_kbps": flow["goodput_kbps"],
        **_statistics("delay_ms", flow["one_way_delay_ms"]),
        **_statistics("jitter_ms", flow["jitter_ms"]),
        "outages": outages["count"] if outages else None,
        "outage_ms_longest": outages["longest_ms"] if outages else None,
        "outage_ms_total": outages["total_ms"] if outages else None,
        "path_changes": flow["path_changes"]["count"],
        "clock_error_ms": flow.get("clock_error_ms"),
    }


def of_streams(streams: Sequence[Stream]) -> _Values:
    """Of all streams of a flow together; what is not known of one of them is not known."""
    if not streams:
        return {}
    senders = [stream.sender for stream in streams if stream.sender is not None]
    arrived = [stream.delivered for stream in streams if stream.delivered is not None]
    all_sent, all_arrived = len(senders) == len(streams), len(arrived) == len(streams)
    delivered = sum(int(own.bytes[-1]) for own in arrived if own.bytes.size)
    ends = [int(own.times_ns[-1]) for own in arrived if own.times_ns.size]
    took_s = (max(ends) - min(own.since_ns for own in senders)) / 1e9 if all_sent and all_arrived and ends else None
    sent = sum(own.bytes - own.unseen_bytes + own.retransmitted_bytes for own in senders)
    reorderings = [stream.reordering for stream in streams if stream.reordering is not None]
    segments = sum(own.segments for own in reorderings)
    repeated = [stream.repeated_bytes for stream in streams if stream.repeated_bytes is not None]
    came = delivered + sum(repeated)
    syns = [stream.syn_rtt_ms for stream in streams if stream.syn_rtt_ms is not None]
    return {
        "tcp_streams": len(streams),
        "tcp_bytes": delivered if all_arrived else None,
        "tcp_goodput_kbps": delivered * 8e-3 / took_s if took_s else None,
        "tcp_completion_s": took_s if all(stream.completion_s is not None for stream in streams) else None,
        **(_round_trips(joined(own.rtt_ms for own in senders)) if all_sent else {}),
        "tcp_syn_rtt_ms": sum(syns) / len(syns) if syns else None,
        "tcp_retransmissions": sum(own.retransmissions for own in senders) if all_sent else None,
        "tcp_retransmission_ratio": sum(own.retransmitted_bytes for own in senders) / sent if all_sent and sent else None,
        "tcp_repeated_ratio": sum(repeated) / came if came and len(repeated) == len(streams) else None,
        "tcp_reordering_ratio": sum(int(own.extent.size) for own in reorderings) / segments
        if segments and len(reorderings) == len(streams)
        else None,
    }


def _round_trips(rtt_ms: np.ndarray[Any, np.dtype[np.float64]]) -> _Values:
    if not rtt_ms.size:
        return {}
    p50, p95, p99 = np.percentile(rtt_ms, [50, 95, 99], method="inverted_cdf")
    values = {"mean": rtt_ms.mean(), "min": rtt_ms.min(), "p50": p50, "p95": p95, "p99": p99, "max": rtt_ms.max()}
    return {f"tcp_rtt_ms_{name}": float(value) for name, value in values.items()}


def _of_others(document: Metrics) -> Iterator[tuple[_Row, _Values]]:
    """What each row is of, and the values."""
    for queue in document["queues"]:
        place = {"name": queue["queue"], "netbox": queue["netbox"], "station": queue["station"]}
        yield place, {**_statistics("queue_packets", queue), "queue_empty_ratio": queue["empty"]}
    for told in document["series"]:
        if told["name"] == "sent_bytes" and told["kind"] == "counter" and told["station"] is not None:
            total = cast("Counter", told)["total"]
            yield {"netbox": told["netbox"], "station": told["station"]}, {"station_sent_bytes": total}
    for shared in document["fairness"]:
        seconds = shared["intervals"]
        yield (
            {"netbox": ", ".join(shared["netboxes"]), "direction": shared["direction"]},
            {
                "fairness": shared["index"],
                "fairness_mean": seconds["mean"] if seconds else None,
                "fairness_worst": seconds["worst"] if seconds else None,
            },
        )
    for segment in document["segments"]:
        lost = segment["lost"] / segment["packets"] if segment["packets"] else None
        yield (
            {"netbox": segment["netbox"], "direction": segment["direction"]},
            {"segment_loss_ratio": lost, **_statistics("segment_delay_ms", segment["one_way_delay_ms"])},
        )
    for netbox, late in document["lateness_us"].items():
        yield {"netbox": netbox}, {**_statistics("lateness_us", late), "lateness_missed": late["missed"]}
    yield (
        {},
        {
            **_statistics("overhead_us", document["overhead_us"]),
            "packets_left_out": document["packets_left_out"],
            "warm_up_s": document["warm_up_s"] or None,
        },
    )


def _of_entries(found: Sequence[MeasuredValues]) -> Iterator[tuple[_Row, _Values]]:
    for one in found:
        if one.flow is None:
            yield {"name": one.traffic}, one.values


def _statistics(name: str, told: Mapping[str, Any] | None) -> _Values:
    """Those of the measure's statistics that there are."""
    return {f"{name}_{statistic}": value for statistic, value in (told or {}).items() if f"{name}_{statistic}" in _NAMES}
