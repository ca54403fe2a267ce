# SPDX-License-Identifier: GPL-2.0-or-later
"""What services of a link layer have counted, from the statistics of a segment that has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from typing_extensions import TypedDict

from contracts.shapes import Count, OtherShape, shaped
from contracts.statistics import Details
from testbed.documents.watch import Service


class ServiceCounters(TypedDict):
    """Of one station: what it hands to the service, and what comes to it."""

    scheme: str
    offered_bytes: Count
    delivered_bytes: Count
    #: Frames.
    retransmissions: Count
    #: Packets that do not come to it any more.
    lost: Count
    #: Of what it sends.
    goodput: float | None
    #: Of what comes to it; s.
    loss: float | None
    delay: float | None


#: By station and name.
Services = Mapping[tuple[str, str], ServiceCounters]


def services(segment: Details) -> dict[tuple[str, str], ServiceCounters]:
    """What has another shape is left out."""
    return dict(_services(segment))


def _services(segment: Details) -> Iterator[tuple[tuple[str, str], ServiceCounters]]:
    stations = segment.get("stations")
    for station, own in stations.items() if isinstance(stations, Mapping) else ():
        counted = own.get("services") if isinstance(own, Mapping) else None
        for name, service in counted.items() if isinstance(counted, Mapping) else ():
            try:
                yield (station, name), shaped(service, ServiceCounters)
            except OtherShape:
                continue


def figures(before: Services, now: Services, span_s: float) -> list[Service]:
    """Those of an interval; nothing of a service that was not there before."""
    return [_figures(*place, before[place], counts, span_s) for place, counts in now.items() if place in before and span_s > 0]


def _figures(station: str, service: str, before: ServiceCounters, now: ServiceCounters, span_s: float) -> Service:
    if any(now[key] < before[key] for key in ("offered_bytes", "delivered_bytes", "retransmissions")):
        before = {**now, "offered_bytes": 0, "delivered_bytes": 0, "retransmissions": 0, "lost": 0}  # it counts anew
    return {
        "station": station,
        "service": service,
        "scheme": now["scheme"],
        "in_bit_s": round((now["offered_bytes"] - before["offered_bytes"]) * 8 / span_s, 1),
        "out_bit_s": round((now["delivered_bytes"] - before["delivered_bytes"]) * 8 / span_s, 1),
        "retransmissions": now["retransmissions"] - before["retransmissions"],
        # One that was taken for lost may come yet.
        "lost": max(0, now["lost"] - before["lost"]),
        "goodput": now["goodput"],
        "loss": now["loss"],
        "delay_ms": None if now["delay"] is None else round(now["delay"] * 1e3, 4),
    }
