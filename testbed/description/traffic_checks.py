# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong between the entries of a traffic section when each is right in itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from applications.application import ARRANGED_S, Ports
from testbed.description.problem import Problem
from testbed.description.topology import Traffic


def traffic_problems(traffic: Mapping[str, Traffic]) -> Iterator[Problem]:
    for name, entry in traffic.items():
        if entry.source == entry.destination:
            cause = f'the traffic ends at "{entry.source}", where it starts'
            yield Problem(("traffic", name, "to"), cause, "give another host")
    for (name, one), (other_name, other) in combinations(traffic.items(), 2):
        if _at_the_same_time(one, other):
            yield from _ports_of_both(name, one, other_name, other)


def _at_the_same_time(one: Traffic, other: Traffic) -> bool:
    first, second = sorted((one.options, other.options), key=lambda options: options.start)
    return second.start - ARRANGED_S < first.start + first.duration


def _ports_of_both(name: str, one: Traffic, other_name: str, other: Traffic) -> Iterator[Problem]:
    """No host has a port twice. The later entry of the file is told to give way, once for each of its options."""
    for theirs in other.options.ports():
        for ours in one.options.ports():
            shared = _hosts(one, ours) & _hosts(other, theirs)
            if not (ours.alone or theirs.alone) and (one.source, one.destination) != (other.source, other.destination):
                continue
            if shared and ours.first <= theirs.last and theirs.first <= ours.last:
                cause = f"{min(shared)} has port {max(ours.first, theirs.first)} of the traffic {name} already, at the same time"
                yield Problem(("traffic", other_name, theirs.option), cause, f"give it another {theirs.option}")
                break


def _hosts(traffic: Traffic, ports: Ports) -> set[str]:
    return {traffic.destination, *([traffic.source] if ports.at_source else [])}
