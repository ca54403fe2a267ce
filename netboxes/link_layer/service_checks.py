# SPDX-License-Identifier: GPL-2.0-or-later
"""What services cannot be together, on a link or for a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from contracts.quantities import TIME
from netboxes.link_layer.link import ARQ_HEADER, RLP_HEADER, Link
from netboxes.link_layer.service import Recovery, Service

_ESP = 50
_TCP = ("tcp", 6)


def check_classes(services: Iterable[Service]) -> None:
    """Raises ValueError where two services are for one class."""
    counted = Counter(service.traffic_class for service in services)
    if twice := [name for name, times in counted.items() if times > 1]:
        raise ValueError(f"two services for class {twice[0]!r}; a class has one: remove the other")


def check_timers(service: Service, link: Link) -> None:
    """Raises ValueError where a timer of it is too short for the frames of the link, or for RLP's numbers too long."""
    for recovery in service.recoveries():
        _check_timer(recovery, f"{recovery.scheme} of class {service.traffic_class!r}", link)


def _check_timer(recovery: Recovery, name: str, link: Link) -> None:
    settings = link.settings(recovery)
    timer_s, attempts = settings.get("timer"), settings.get("attempts")
    if timer_s is None:
        return
    frame_s = link.frame_time(RLP_HEADER if attempts else ARQ_HEADER)
    if timer_s < frame_s:
        raise ValueError(
            f"{name}: a timer of {_written(timer_s)} is below the {_written(frame_s)} that a frame takes; "
            "say a round trip at least"
        )
    # A frame has gone when the gap of the one before it is seen (4.2.2).
    longest_s = (settings["ring"] - 1) * frame_s - link.delay if attempts else timer_s
    if attempts and attempts * timer_s >= longest_s:
        raise ValueError(
            f"{name}: {attempts} attempts of {_written(timer_s)} take longer than the {_written(longest_s)} in which the "
            f"link sends all {settings['ring']} frames of the ring, so that numbers come again before one is given up; say "
            "a shorter `timer`, fewer `attempts`, or a longer `ring`"
        )


def why_unfit(service: Service, conditions: Mapping[str, Any]) -> str | None:
    """Why the scheme cannot recover a class with these conditions (as the classifier reads them); None: it can."""
    protocol = conditions.get("protocol", "tcp")
    if "snoop" not in service.schemes() or protocol in _TCP:
        return None
    return (
        f"snoop has to read the segments of TCP; class {service.traffic_class!r} is of protocol {protocol}"
        + (", in which TCP is encrypted (ESP, RFC 4303)" if protocol == _ESP else "")
        + "; take another scheme, which need not read packets"
    )


def _written(time_s: float) -> str:
    return TIME.write(float(f"{time_s:.4g}"))
