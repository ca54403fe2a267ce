# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversations: what the hosts' captures show besides the flows of applications, whoever made it (iperf3 in a node, a browser).

A conversation is what goes between two addresses and two ports by one protocol, both ways. Each way is followed as a flow is, and
so is each DSCP of it. Of two hosts the conversations of few packets are told together, by protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_interface
from typing import Any, Final

import polars as pl

from results import frames
from results.flow_path import Network, NoPath
from results.frames import SEEN, SEEN_BESIDES, Capture, Ends
from results.run_folder import Measured
from traffic.flow import ApplicationRecord, Direction, Flow, opposite

#: From so many packets on, both ways, a conversation is told by itself: more than it takes to set up a call, or a short ping.
LEAST_PACKETS: Final = 100
#: And that many at most, those of the most packets.
MOST: Final = 40

#: In place of the application that made a flow.
_NOBODY: Final = ApplicationRecord(name="", application="", flows=())


@dataclass(frozen=True)
class Way:
    """One way of a conversation, or of several small ones together; `count` is of how many."""

    measured: Measured
    count: int
    #: None where several are together.
    dscp: int | None


@dataclass(frozen=True)
class _Stream:
    """All that goes from one end to the other; `source` and `destination` are the hosts."""

    ends: Ends
    source: str
    destination: str
    sent: pl.DataFrame
    received: pl.DataFrame

    def __str__(self) -> str:
        ends = zip((self.source, self.destination), self.ends[3:], strict=True)
        return " ".join([self.ends.protocol, *(f"{host}:{port}" if port else host for host, port in ends)])


#: Of a conversation the streams that it has, that of who began first.
_Conversation = tuple[_Stream, ...]


def conversations(
    plan: Mapping[str, Any],
    network: Network,
    captures: Mapping[str, Capture],
    passages: pl.DataFrame,
    tunnels: Mapping[tuple[str, str], Capture],
) -> tuple[list[Way], int]:
    """All of a run, those of the most packets first, and how many packets that hosts sent or got belong to none.

    Those are to or from what is no host's address (multicasts, equipment, addresses that a user added), or between hosts that no
    wires join. `captures` are those of the hosts, `passages` those through all netboxes, `tunnels` the captures at both ends of
    wires between machines.
    """
    streams, left_out = _streams(plan, network, captures)
    found = []
    for name, together in _named(_conversations(streams)):
        for flow, way in _ways(name, _direction(plan, network, together[0][0]), together):
            crossed = {end: _table(there.besides.get(one.ends) for one in way) for end, there in tunnels.items()}
            received, end_ns = _table(one.received for one in way), captures[flow.destination].end_ns
            parts = _by_dscp(way) if len(together) == 1 else {None: _table(one.sent for one in way)}
            for dscp, sent in parts.items():
                rows, paths = frames.follow(flow, network, sent, received, passages, crossed, end_ns)
                called = flow if len(parts) == 1 else flow.model_copy(update={"name": f"{flow.name} DSCP {dscp}"})
                if not rows.is_empty():
                    found.append(Way(Measured(_NOBODY, called, paths, rows), len(together), dscp))
    return found, left_out


def _streams(plan: Mapping[str, Any], network: Network, captures: Mapping[str, Capture]) -> tuple[dict[Ends, _Stream], int]:
    """By their ends; and how many packets are of none."""
    nodes = [node for node in plan["nodes"] if node["kind"] == "host"]
    hosts = {
        str(ip_interface(address).ip): node["name"]
        for node in nodes
        for interface in node["interfaces"]
        for address in interface["addresses"]
    }

    @cache
    def joined(source: str, destination: str) -> bool:
        try:
            return bool(network.shortest(source, destination))
        except NoPath:
            return False

    streams, left_out, none = {}, 0, pl.DataFrame(schema=SEEN_BESIDES)
    for host, capture in captures.items():
        for ends, seen in capture.besides.items():
            source, destination = hosts.get(ends.source), hosts.get(ends.destination)
            if source is None or destination is None or source == destination or not joined(source, destination):
                left_out += seen.height
            elif source == host:
                there = captures.get(destination, Capture())
                streams[ends] = _Stream(ends, source, destination, seen, there.besides.get(ends, none))
    return streams, left_out


def _conversations(streams: Mapping[Ends, _Stream]) -> list[_Conversation]:
    """Those of the most packets first."""
    found = dict[frozenset[Ends], _Conversation]()
    for ends, stream in streams.items():
        back = Ends(ends.destination, ends.source, ends.protocol, ends.destination_port, ends.source_port)
        both = [stream, *([streams[back]] if back in streams else [])]
        found[frozenset((ends, back))] = tuple(sorted(both, key=lambda one: int(one.sent["time_ns"][0])))
    return sorted(found.values(), key=_packets, reverse=True)


def _packets(conversation: _Conversation) -> int:
    return sum(stream.sent.height for stream in conversation)


def _named(conversations: list[_Conversation]) -> Iterator[tuple[str, list[_Conversation]]]:
    """Each that is told by itself, then the others by their hosts and protocol."""
    others = dict[tuple[frozenset[str], str], list[_Conversation]]()
    for number, conversation in enumerate(conversations):
        first = conversation[0]
        if number < MOST and _packets(conversation) >= LEAST_PACKETS:
            yield str(first), [conversation]
        else:
            others.setdefault((frozenset((first.source, first.destination)), first.ends.protocol), []).append(conversation)
    for together in others.values():
        first = together[0][0]
        yield f"{first.ends.protocol} {first.source} {first.destination}, small", together


def _ways(name: str, direction: Direction, together: list[_Conversation]) -> Iterator[tuple[Flow, list[_Stream]]]:
    """Of each way that has a packet the flow, and its streams. `direction` is that of the first one of the first conversation."""
    first = together[0][0]
    for source, of_way in ((first.source, direction), (first.destination, opposite(direction))):
        if streams := [stream for conversation in together for stream in conversation if stream.source == source]:
            ends = streams[0].ends
            alone = len(together) == 1
            yield (
                Flow(
                    name=name,
                    kind=ends.protocol,
                    direction=of_way,
                    source=source,
                    destination=streams[0].destination,
                    source_address=ends.source,
                    destination_address=ends.destination,
                    protocol=ends.protocol,
                    source_ports=(ends.source_port, ends.source_port) if alone else None,
                    destination_ports=(ends.destination_port, ends.destination_port) if alone else None,
                ),
                streams,
            )


def _by_dscp(way: list[_Stream]) -> dict[int | None, pl.DataFrame]:
    """What was sent of a conversation that is told by itself."""
    (stream,) = way
    return {int(sent["dscp"][0]): _table([sent]) for sent in stream.sent.partition_by("dscp", maintain_order=True)}


def _table(seen: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    tables = [pl.DataFrame(schema=SEEN), *(one.select(list(SEEN)) for one in seen if one is not None)]
    return pl.concat(tables).sort("time_ns", maintain_order=True)


def _direction(plan: Mapping[str, Any], network: Network, stream: _Stream) -> Direction:
    """As that of an application (`testbed.plans.traffic_plan`); without a centre that of who began is "return"."""
    if (centre := plan.get("centre")) is None:
        return "return"
    distances = dict[str, int]()
    for (node, _), distance in network.distances(centre).items():
        distances[node] = min(distance, distances.get(node, distance))
    distances[centre] = 0
    away = len(plan["nodes"]) + len(plan["wires"])
    return "return" if distances.get(stream.destination, away) <= distances.get(stream.source, away) else "forward"
