# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run is measured by: the names of figures that tables have of it, with unit and meaning (docs/results.md).

A measure of a flow is a column of flows.parquet, any other one has rows in measures.parquet. Applications have measures of their
own (`results.application_analysis`); `applications.registry.measures` has all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from contracts.campaign import CampaignRun

#: What a measure is of, and has one value for in a run: a flow in one direction, an entry of the traffic, a queue of a netbox, a
#: station of a netbox, streams of TCP that crossed netboxes together, a netbox in one direction, a netbox, the whole run.
Subject = Literal["flow", "traffic", "queue", "station", "sharing", "segment", "netbox", "run"]

#: Letters, digits and underscores, so that it is a word of Python and of SQL as it stands.
NAME: Final = r"[a-z][a-z0-9_]*"

#: What flows.parquet says of each flow before its measures, in this order: words, or whole numbers.
COLUMNS_OF_FLOWS: Final[Mapping[str, type[str] | type[int]]] = {
    "lab": str,
    "clock": str,
    "status": str,
    "flow": str,
    "direction": str,
    "kind": str,
    "protocol": str,
    "traffic": str,
    "application": str,
    "source": str,
    "destination": str,
    "dscp": int,
    "conversations": int,
}

#: Names that no measure may have: columns beside the measures of flows, also those that `results.runs` puts there.
TAKEN: Final = frozenset({*COLUMNS_OF_FLOWS, *CampaignRun.__annotations__, "run"})


@dataclass(frozen=True)
class Measure:
    """A figure that a run has one value of for each subject, or none where it is not known."""

    #: Unique among all measures; with its unit where the name does not say it otherwise.
    name: str
    #: As people write it, "ms" or "kbit/s"; empty of counts, ratios and scores.
    unit: str
    #: A few words without a full stop.
    meaning: str
    #: Which of two values is the better one; None where that depends.
    better: Literal["higher", "lower"] | None = None
    of: Subject = "flow"

    @property
    def is_percentile_or_ratio(self) -> bool:
        """Whether the values of several runs cannot be thought of as normally distributed: extremes are percentiles, too."""
        return re.search(r"_(ratio|min|max|p\d+(_\d+)?)$", self.name) is not None


def _statistics(
    name: str,
    unit: str,
    what: str,
    statistics: tuple[str, ...],
    better: Literal["higher", "lower"] | None = "lower",
    of: Subject = "flow",
) -> Iterator[Measure]:
    for statistic in statistics:
        yield Measure(f"{name}_{statistic}", unit, f"{what}, {_STATISTICS[statistic]}", better, of)


#: Of `results.metrics_document.Summary` and its kin, in words.
_STATISTICS: Final = {
    "mean": "mean",
    "deviation": "standard deviation",
    "min": "least",
    "p50": "median",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "p99_9": "99.9th percentile",
    "max": "most",
}
_SUMMARY: Final = ("mean", "min", "p50", "p99", "p99_9", "max")

#: Of each flow and conversation, whichever application sends it.
OF_FLOWS: Final = (
    Measure("packets", "", "frames that were sent"),
    Measure("received", "", "frames that arrived", "higher"),
    Measure("loss_ratio", "", "frames lost of frames sent", "lower"),
    Measure("goodput_kbps", "kbit/s", "payload of UDP or TCP that arrived", "higher"),
    *_statistics("delay_ms", "ms", "one-way delay", ("mean", "deviation", *_SUMMARY[1:])),
    *_statistics("jitter_ms", "ms", "interarrival jitter (RFC 3550)", _SUMMARY),
    Measure("outages", "", "times in which nothing arrived", "lower"),
    Measure("outage_ms_longest", "ms", "longest time in which nothing arrived", "lower"),
    Measure("outage_ms_total", "ms", "time in which nothing arrived, all together", "lower"),
    Measure("path_changes", "", "how often frames began to take another path"),
    Measure("clock_error_ms", "ms", "what delays may be wrong by, because the hosts have two clocks", "lower"),
    Measure("tcp_streams", "", "connections whose data it is"),
    Measure("tcp_bytes", "B", "bytes that arrived in order, each once", "higher"),
    Measure("tcp_goodput_kbps", "kbit/s", "these bytes, from the first one's sending to the last one's arrival", "higher"),
    Measure("tcp_completion_s", "s", "from the first byte's sending until all had arrived", "lower"),
    *_statistics("tcp_rtt_ms", "ms", "round trip of TCP", ("mean", "min", "p50", "p95", "p99", "max")),
    Measure("tcp_syn_rtt_ms", "ms", "from SYN to SYN ACK, mean of the connections", "lower"),
    Measure("tcp_retransmissions", "", "segments that were sent again", "lower"),
    Measure("tcp_retransmission_ratio", "", "bytes sent again of all bytes sent", "lower"),
    Measure("tcp_repeated_ratio", "", "bytes that arrived again, of all bytes that arrived", "lower"),
    Measure("tcp_reordering_ratio", "", "segments that came after one which was sent later (RFC 4737)", "lower"),
)

#: Of what is no flow's.
OF_OTHERS: Final = (
    *_statistics("queue_packets", "", "packets that waited, over time", ("mean", "p50", "p90", "p99", "max"), None, "queue"),
    Measure("queue_empty_ratio", "", "share of the time in which no packet waited", None, "queue"),
    Measure("station_sent_bytes", "B", "that it sent on its medium, with all that a link layer adds", None, "station"),
    Measure("fairness", "", "Jain's index of the streams' goodput", "higher", "sharing"),
    Measure("fairness_mean", "", "Jain's index in each second, mean", "higher", "sharing"),
    Measure("fairness_worst", "", "Jain's index in each second, worst", "higher", "sharing"),
    Measure("segment_loss_ratio", "", "frames lost in the netbox of frames that entered it", "lower", "segment"),
    *_statistics("segment_delay_ms", "ms", "delay inside the netbox", _SUMMARY, "lower", "segment"),
    *_statistics(
        "lateness_us", "us", "how late frames left the netbox", ("p50", "p90", "p99", "p99_9", "max"), "lower", "netbox"
    ),
    Measure("lateness_missed", "", "frames and events later than the limit", "lower", "netbox"),
    *_statistics("overhead_us", "us", "time of a frame outside of the netboxes", _SUMMARY, "lower", "run"),
    Measure("packets_left_out", "", "packets at hosts that belong to no flow and no conversation", None, "run"),
    Measure("warm_up_s", "s", "what was sent in it, from the beginning of the run, is in no figure", None, "run"),
)
