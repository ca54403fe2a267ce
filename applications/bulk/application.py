# SPDX-License-Identifier: GPL-2.0-or-later
"""A transfer by TCP, as fast as the network lets it: by iperf3 in real time, by hosts of the network's own in virtual time.

iperf3 at the destination asks the one at the source for data (`--reverse`), as whoever downloads a file does. When a client of
iperf3 sends, its test is over as soon as its last byte is in a buffer, and the server then closes connections on which data is
still to come; a client that receives ends its test when the last byte has arrived.
"""

from __future__ import annotations

import json
import math
import time
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from applications.application import Application, ApplicationFailed, ApplicationOptions, Ports, flow_of
from applications.congestion_control import OF_BOTH_ENDS, Variant
from applications.congestion_control_of_host import VariantMissing, check_variant, of_linux
from applications.segment_size import LARGEST_SEGMENT, LEAST_SEGMENT, check_segment
from applications.virtual_traffic import TcpEnd, VirtualTraffic, flow_ends
from contracts.debian_program import DebianProgram
from contracts.flow import Flow
from contracts.plan import TrafficPlan
from contracts.quantities import SIZE, Quantity

#: How much iperf3 writes at once, unless all is less.
_BLOCK: Final = 128 << 10
_READY_DEADLINE_S: Final = 10.0
#: iperf3 counts whole seconds, from when both ends have agreed on what to do, and tells the other end's figures afterwards.
_LATE_S: Final = 15.0


class BulkOptions(ApplicationOptions):
    #: Of each connection. The traffic is over when all has arrived, in real time at the latest when its duration is. Default: as
    #: much as fits into the duration. iperf3 counts all connections together: a faster one carries some of a slower one's.
    size: Annotated[float, Quantity(SIZE, 1.0, 1e12)] | None = Field(default=None, multiple_of=1)
    #: Connections at once.
    parallel: int = Field(default=1, ge=1, le=64)
    #: Of TCP, at both ends; each further connection has the next at one of them.
    port: int = Field(default=5201, ge=1024, le=65_535)
    #: Congestion control of the source. In real time the kernel must have it, and allow it; newreno and linux-reno are its reno.
    #: reno-1999 and noordwijk are in virtual time only.
    variant: Variant = "cubic"
    #: Largest segment, bytes, with the options of its header: a packet of IPv4 is 40 bytes longer. Default: what the MTU permits.
    #: Below 88 in virtual time only.
    mss: int | None = Field(default=None, ge=LEAST_SEGMENT, le=LARGEST_SEGMENT)
    #: The most data of a connection that wait in its socket or are on their way. Default: as Linux grows its buffers. In real
    #: time iperf3 sets it at both ends, and fails where it is more than net.core.wmem_max and rmem_max (208 KiB as usual).
    window: Annotated[float, Quantity(SIZE, 4096.0, 1e9)] | None = Field(default=None, multiple_of=1)
    #: Slow-start threshold at first, in virtual time: a connection grows by a segment in each round trip from there on. Default:
    #: none, as Linux.
    initial_ssthresh: Annotated[float, Quantity(SIZE, 1.0, 4e9)] | None = Field(default=None, multiple_of=1)
    #: With dctcp, in virtual time: packets are ECT(1), for the L4S queue of dualpi2 (RFC 9331). A kernel's dctcp sends ECT(0).
    l4s: bool = False

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.l4s and self.variant != "dctcp":
            raise ValueError("`l4s` is of dctcp alone (RFC 9331, 4.3); leave it out, or write `variant: dctcp`")
        if self.port + self.parallel - 1 > 65_535:
            raise ValueError(f"{self.parallel} connections from port {self.port} on end beyond 65535; take a lower port")
        return self

    def ports(self) -> tuple[Ports, ...]:
        return (Ports("port", self.port, self.port + self.parallel - 1),)


class BulkFacts(TypedDict):
    """What was asked for."""

    #: Bytes of each connection; null: as many as fit into the duration.
    size: int | None
    parallel: int
    variant: str


class Bulk(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = BulkOptions
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = (
        DebianProgram("iperf3", "iperf3", "transfers by TCP (traffic application bulk)"),
    )

    options: BulkOptions
    _ended = False

    def prepare(self) -> None:
        """Raises ApplicationFailed."""
        check_segment(self.plan.name, self.options.mss)
        if self.options.initial_ssthresh is not None:
            raise ApplicationFailed(
                f"traffic {self.plan.name}: a kernel's connections begin without a slow-start threshold; run the file with "
                "--virtual, or leave `initial_ssthresh` out"
            )
        if self.options.l4s:
            raise VariantMissing(
                f"traffic {self.plan.name}: a kernel's dctcp sends ECT(0), not ECT(1) as `l4s` asks; run the file with "
                "--virtual, or leave `l4s` out"
            )
        for host in (self.plan.source, self.plan.destination):  # iperf3 sets both ends alike
            check_variant(self.hosts, self.plan.name, host, self.options.variant)

    def arrange(self) -> None:
        """What both print is JSON: their logs are iperf3's own account."""
        options = self.options
        common = ["iperf3", "--json", "--port", str(options.port)]
        server = self.launch(self.plan.source, "server", [*common, self._version(), "--server", "--one-off"], ends_with=0)
        self.wait_for_port(server, options.port, "tcp", named=f"port {options.port}", deadline_s=_READY_DEADLINE_S)
        self.launch(
            self.plan.destination,
            "client",
            [*common, *self._asks_for()],
            ends_with=0,
            patience_s=_LATE_S if options.size is None else 1.0,
            held=True,
        )

    def _asks_for(self) -> list[str]:
        options = self.options
        if options.size is None:
            amount = ["--time", str(math.ceil(options.duration))]
        else:
            amount = ["--bytes", str(round(options.size) * options.parallel), "--length", str(min(round(options.size), _BLOCK))]
        limits = [] if options.mss is None else ["--set-mss", str(options.mss)]
        limits += [] if options.window is None else ["--window", str(round(options.window))]
        return [
            *("--client", self.plan.source_address, self._version(), "--reverse", *limits),
            *("--cport", str(options.port), "--parallel", str(options.parallel), *amount),
            *("--congestion", of_linux(options.variant), "--tos", str(options.dscp << 2)),
        ]

    def _version(self) -> str:
        """Of IP. A socket of both versions would mark no packets of IPv4 (ipv6(7): IPV6_TCLASS is of IPv6 alone)."""
        return f"-{ip_address(self.plan.source_address).version}"

    def check(self) -> None:
        """It is over when its client has ended by itself, which says only in its JSON that something failed."""
        super().check()
        for client in self._running:
            if client.name == "client" and client.program.poll() is not None and not self._ended:
                if error := _error(client.log):
                    raise self.failed(f"iperf3 on {client.host}: {error}", client.log)
                self._ended = True
                self.ends = min(self.ends, time.monotonic())

    def flows(self) -> list[Flow]:
        """The source has one port, which listened; the destination has one for each connection."""
        return flows(self.plan, counts_at="destination")

    def facts(self) -> BulkFacts:
        return facts(self.plan)

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic:
        """The source connects, from one port for each connection to one that listens."""
        options = BulkOptions.model_construct(**plan.options)
        tcp: TcpEnd = {"variant": options.variant}
        if options.mss is not None:
            tcp["mss"] = options.mss
        if options.window is not None:
            tcp["send_buffer"] = round(options.window)
        if options.initial_ssthresh is not None:
            tcp["initial_ssthresh"] = round(options.initial_ssthresh)
        if options.l4s:
            tcp["l4s"] = True
        receiver, sender = flow_ends(
            plan.name,
            "bulk",
            listens=(plan.destination, plan.destination_address),
            opens=plan.source,
            port=options.port,
            dscp=options.dscp,
            start_s=options.start,
        )
        sender |= {"parallel": options.parallel, "tcp": tcp}
        if options.size is None:
            sender["until_s"] = options.start + options.duration
        else:
            sender["size"] = round(options.size)
        if options.variant in OF_BOTH_ENDS:
            receiver["tcp"] = tcp
        return VirtualTraffic((receiver, sender), tuple(flows(plan, counts_at="source")), facts(plan))


def _error(log: Path) -> str | None:
    """What iperf3's account says that failed; None where it is whole."""
    try:
        account = json.loads(log.read_text(errors="replace"))
    except ValueError:
        return "it left no account"
    return str(account["error"]) if isinstance(account, dict) and "error" in account else None


def facts(plan: TrafficPlan) -> BulkFacts:
    """What a plan's entry of this application asks for."""
    options = BulkOptions.model_construct(**plan.options)
    size = None if options.size is None else round(options.size)
    return {"size": size, "parallel": options.parallel, "variant": options.variant}


def flows(plan: TrafficPlan, *, counts_at: Literal["source", "destination"]) -> list[Flow]:
    """The data of each connection; at one end ports count up. Acknowledgements are conversations (results.conversations)."""
    options = BulkOptions.model_construct(**plan.options)
    # A single flow has the name of its traffic, one of several a number from 1 besides.
    names = [plan.name] if options.parallel == 1 else [f"{plan.name}.{number + 1}" for number in range(options.parallel)]
    return [
        flow_of(plan, name, "bulk", options.port).model_copy(
            update={"protocol": "tcp", f"{counts_at}_ports": (options.port + number, options.port + number)}
        )
        for number, name in enumerate(names)
    ]
