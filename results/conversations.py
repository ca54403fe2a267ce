# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversations: what the hosts' captures show besides the flows of applications, whoever made it (iperf3 in a node, a browser).

A conversation is what goes between two addresses and two ports by one protocol, in both directions. Each direction is
followed as a flow is, and so is each DSCP of it. Of two hosts the conversations of few packets are told together, by protocol.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_interface
from typing import Final

import polars as pl

from contracts.flow import ApplicationRecord, Direction, Flow, opposite
from contracts.plan import Plan
from results import frames
from results.flow_path import Network, NoPath
from results.frames import SEEN, SEEN_BESIDES, Capture
from results.run_folder import Measured

#: From so many packets on, of both directions, a conversation is told by itself: more than it takes to set up a call, or for a
#: short ping.
LEAST_PACKETS: Final = 100
#: And that many at most, those of the most packets.
MOST: Final = 40

#: In place of the application that made a flow.
_NOBODY: Final = ApplicationRecord(name="", application="", flows=())


@dataclass(frozen=True)
class ConversationFlow:
    """One direction of a conversation that is told by itself, or of `count` small ones together."""

    measured: Measured
    count: int
    #: None of small ones.
    dscp: int | None


@dataclass(frozen=True)
class _Group:
    """What is told together: one conversation, or the small ones of two hosts by one protocol.

    `packets` are all that its hosts sent.
    """

    name: str
    packets: pl.DataFrame
    count: int
    alone: bool


#: Of a conversation: its ends, whichever of them sends.
_KEY: Final = ("protocol", "low", "high")

#: The hosts that a packet's addresses belong to.
_HOSTS: Final = {"source_host": pl.String, "destination_host": pl.String}


def conversations(
    plan: Plan,
    network: Network,
    captures: Mapping[str, Capture],
    passages: pl.DataFrame,
    tunnels: Mapping[tuple[str, str], Capture],
) -> tuple[list[ConversationFlow], int]:
    """All of a run, those of the most packets first, and how many packets that hosts sent or got belong to none.

    Those are to or from what is no host's address (multicasts, equipment, addresses that a user added), or between hosts that no
    wires join. `captures` are those of the hosts, `passages` those through all netboxes, `tunnels` the captures at both ends of
    wires between machines.
    """
    here = {host: _between_hosts(plan, network, capture.besides) for host, capture in captures.items()}
    nothing = pl.DataFrame(schema={**SEEN_BESIDES, **_HOSTS})
    sent = _keyed(
        pl.concat([nothing, *(host_packets.filter(pl.col("source_host") == host) for host, host_packets in here.items())])
    )
    crossed = {end: there.besides.select(*SEEN) for end, there in tunnels.items()}
    flows = []
    for group in _groups(sent):
        first = group.packets.row(0, named=True)
        outward = _direction(plan, network, first["source_host"], first["destination_host"])
        for sender, direction in ((first["source_host"], outward), (first["destination_host"], opposite(outward))):
            packets = group.packets.filter(pl.col("source_host") == sender)
            if packets.is_empty():
                continue
            flow = _flow(group, packets, direction)
            parts = packets.partition_by("dscp", maintain_order=True) if group.alone else [packets]
            received = here.get(flow.destination, nothing).filter(pl.col("source_host") == flow.source)
            end_ns = captures[flow.destination].end_ns if flow.destination in captures else 0
            for part in parts:
                rows, paths = frames.follow(flow, network, part.select(*SEEN), received.select(*SEEN), passages, crossed, end_ns)
                dscp = int(part["dscp"][0]) if group.alone else None
                called = flow if len(parts) == 1 else flow.model_copy(update={"name": f"{flow.name} DSCP {dscp}"})
                if not rows.is_empty():
                    flows.append(ConversationFlow(Measured(_NOBODY, called, paths, rows), group.count, dscp))
    return flows, sum(captures[host].besides.height - host_packets.height for host, host_packets in here.items())


def host_addresses(plan: Plan) -> dict[str, str]:
    """The host of each address that the topology gives one."""
    return {
        str(ip_interface(address).ip): node.name
        for node in plan.nodes
        if node.kind == "host"
        for interface in node.interfaces
        for address in interface.addresses
    }


def _between_hosts(plan: Plan, network: Network, seen: pl.DataFrame) -> pl.DataFrame:
    """The packets that went from one host to another which wires join to it, with both hosts."""
    hosts = host_addresses(plan)
    packets = seen.with_columns(
        pl.col(end).replace_strict(hosts, default=None, return_dtype=pl.String).alias(f"{end}_host")
        for end in ("source", "destination")
    ).filter(pl.col("source_host").is_not_null() & (pl.col("source_host") != pl.col("destination_host")))
    joined = [pair for pair in packets.select(*_HOSTS).unique().iter_rows() if _is_joined(network, *pair)]
    return packets.join(pl.DataFrame(joined, schema=_HOSTS, orient="row"), on=list(_HOSTS), how="semi", maintain_order="left")


def _is_joined(network: Network, source: str, destination: str) -> bool:
    try:
        return bool(network.shortest(source, destination))
    except NoPath:
        return False


def _keyed(packets: pl.DataFrame) -> pl.DataFrame:
    """With `_KEY`: the same for both directions of a conversation."""
    ends = [pl.concat_str(pl.col(end), pl.lit(" "), pl.col(f"{end}_port").cast(pl.String)) for end in ("source", "destination")]
    return packets.with_columns(low=pl.min_horizontal(*ends), high=pl.max_horizontal(*ends)).sort("time_ns", maintain_order=True)


def _groups(sent: pl.DataFrame) -> Iterator[_Group]:
    """Each that is told by itself, then the others by their hosts and protocol."""
    counted = sent.group_by(*_KEY, maintain_order=True).agg(pl.len()).sort("len", descending=True, maintain_order=True)
    alone = counted.filter(pl.col("len") >= LEAST_PACKETS).head(MOST)
    for key in alone.select(*_KEY).iter_rows(named=True):
        packets = sent.filter(*(pl.col(name) == value for name, value in key.items()))
        first = packets.row(0, named=True)
        ends = [
            f"{first[f'{end}_host']}:{first[f'{end}_port']}" if first["source_port"] else first[f"{end}_host"]
            for end in ("source", "destination")
        ]
        yield _Group(" ".join([key["protocol"], *ends]), packets, 1, alone=True)
    pair = [pl.min_horizontal(*_HOSTS).alias("one"), pl.max_horizontal(*_HOSTS).alias("other")]
    rest = sent.join(alone, on=list(_KEY), how="anti", maintain_order="left").with_columns(*pair)
    groups = rest.partition_by("protocol", "one", "other", maintain_order=True)
    for packets in sorted(groups, key=lambda group: -group.height):
        first = packets.row(0, named=True)
        name = f"{first['protocol']} {first['source_host']} {first['destination_host']}, small"
        yield _Group(name, packets, packets.select(*_KEY).n_unique(), alone=False)


def _flow(group: _Group, packets: pl.DataFrame, direction: Direction) -> Flow:
    first = packets.row(0, named=True)
    ports = {f"{end}_ports": (first[f"{end}_port"],) * 2 for end in ("source", "destination")} if group.alone else {}
    return Flow(
        name=group.name,
        kind=first["protocol"],
        direction=direction,
        source=first["source_host"],
        destination=first["destination_host"],
        source_address=first["source"],
        destination_address=first["destination"],
        protocol=first["protocol"],
        **ports,
    )


def _direction(plan: Plan, network: Network, source: str, destination: str) -> Direction:
    """As that of an application (`testbed.plans.traffic_plan`); without a centre that of who began is "return"."""
    if (centre := plan.centre) is None:
        return "return"
    distances = network.distances(centre)

    def away(host: str) -> float:
        """Wires from the centre; endlessly many where none lead to it."""
        return 0 if host == centre else min((wires for (node, _), wires in distances.items() if node == host), default=math.inf)

    return "return" if away(destination) <= away(source) else "forward"
