# SPDX-License-Identifier: GPL-2.0-or-later
"""Synthetic one-way UDP traffic between two hosts: one or several flows alike, sent and received by MGEN.

MGEN (Naval Research Laboratory) sends what a script tells it: after a delay it catches up, so that rates hold in the mean, and it
needs no return path, as iperf3 and D-ITG do for their signalling. Each datagram has a number, which identifies its frames.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from applications.application import Application, ApplicationOptions, Ports, flow_of
from applications.stream import UDP_HEADERS, Stream
from applications.udp_flow.timetable import Pattern, Timetable
from applications.virtual_traffic import FlowEnd, VirtualTraffic, flow_ends
from contracts.debian_program import DebianProgram
from contracts.flow import Flow
from contracts.plan import TrafficPlan
from contracts.quantities import RATE, SIZE, TIME, Quantity

#: Headers of IP, by its version, and UDP.
IP_HEADERS = {4: 20 + 8, 6: 40 + 8}
#: What MGEN writes into each datagram at least: its number, when it was sent, where it goes.
_SMALLEST_PAYLOAD, _LARGEST_PAYLOAD = 28, 1472

#: Of every datagram, as hosts send them (Linux's net.ipv4.ip_default_ttl). MGEN's own is 3: the third router would drop them.
_TTL = 64

_READY_DEADLINE_S = 10.0
#: An echo and three resolutions of addresses, each two ways over a satellite of two hops.
_ECHO_S = 4.0
#: A busy host may be that much behind its timetable at the end.
_LATE_S = 3.0


class UdpFlowOptions(ApplicationOptions):
    #: constant: equal distances; poisson: independent exponential ones; on-off: constant in periods of exponential length, with
    #: silences of exponential length between them.
    pattern: Pattern = "constant"
    #: UDP payload of each datagram.
    payload: Annotated[float, Quantity(SIZE, _SMALLEST_PAYLOAD, _LARGEST_PAYLOAD)] = 500
    #: Of each flow, at the IP layer (payload and 28 bytes of headers, 48 with IPv6); of on-off: while it sends.
    rate: Annotated[float, Quantity(RATE, 100.0, 100e6)]
    #: How many flows alike. Those of constant rate take turns, so that they do not all send at the same moment.
    count: int = Field(default=1, ge=1, le=1000)
    #: Of the first flow, at both ends; each further one has the next.
    port: int = Field(default=6000, ge=1024, le=65_535)
    #: Mean length of the periods of sending, of on-off.
    on_time: Annotated[float, Quantity(TIME, 1e-3, 3600.0)] = 1.0
    #: Mean length of the silences, of on-off.
    off_time: Annotated[float, Quantity(TIME, 1e-3, 3600.0)] = 1.0
    #: Of the periods of on-off: the same seed, the same times. Default: follows from the topology's `seed`, so that a campaign's
    #: repetitions differ. MGEN draws the gaps of poisson by itself, anew in each run.
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.pattern != "on-off" and (keys := self.model_fields_set & {"on_time", "off_time"}):
            raise ValueError(f"{' and '.join(sorted(keys))} belong to pattern: on-off; this flow is {self.pattern}")
        if self.port + self.count - 1 > 65_535:
            raise ValueError(f"{self.count} flows from port {self.port} on end beyond 65535; take a lower port")
        return self

    def per_s(self, version: int = 4) -> float:
        """Datagrams a second of one flow, while it sends."""
        return self.rate / 8.0 / (self.payload + IP_HEADERS[version])

    def ports(self) -> tuple[Ports, ...]:
        return (Ports("port", self.port, self.port + self.count - 1, alone=False),)  # mgen(1) shares them

    def streams(self) -> tuple[Stream, ...]:
        share = self.on_time / (self.on_time + self.off_time) if self.pattern == "on-off" else 1.0
        return (Stream(self.count * share * self.per_s(), self.payload + UDP_HEADERS),)

    def timetables(self, name: str, version: int = 4) -> list[Timetable]:
        """Of each flow; `name` is that of the traffic."""
        per_s = self.per_s(version)
        turn = 1.0 / per_s / self.count if self.pattern == "constant" else 0.0
        return [
            Timetable(
                self.pattern,
                per_s,
                start_s=number * turn,
                end_s=self.duration,
                on_s=self.on_time,
                off_s=self.off_time,
                seed=f"{self.seed} {name} {number}",
            )
            for number in range(self.count)
        ]


class UdpFlowFacts(TypedDict):
    """What it was to send."""

    ip_headers_bytes: int
    offered_ip_bit_per_s: float


class UdpFlow(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = UdpFlowOptions
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = (
        DebianProgram("mgen", "mgen", "synthetic flows (traffic application udp-flow)", "help"),
    )

    options: UdpFlowOptions

    def prepare(self) -> None:
        """Also has every host and router of the path resolve addresses: datagrams that wait for ARP would arrive in one burst.

        Without a path for the answer they still do.
        """
        ping = ["ping", f"-{version(self.plan)}", "-q", "-c", "1", "-W", f"{_ECHO_S:g}", self.plan.destination_address]
        self.hosts.run(self.plan.source, ping, timeout_s=2 * _ECHO_S)
        self.own_files(self.plan.source).write("flows.mgn", self.script())

    def arrange(self) -> None:
        """The sender ends by itself; the receiver keeps the ports open, so that no host answers that they are closed."""
        mgen = ["mgen", f"ipv{version(self.plan)}", "nolog"]
        first, last = self.options.port, self.options.port + self.options.count - 1
        ports = str(first) if first == last else f"{first}-{last}"
        receiver = self.launch(self.plan.destination, "receiver", [*mgen, "port", ports])
        self.wait_for_port(receiver, last, "udp", named=f"ports {ports}", deadline_s=_READY_DEADLINE_S)
        self.launch(
            self.plan.source,
            "sender",
            [*mgen, "input", self.inside("flows.mgn")],
            ends_with=0,
            patience_s=_LATE_S,
            held=True,
        )

    def flows(self) -> list[Flow]:
        return flows(self.plan)

    def facts(self) -> UdpFlowFacts:
        return facts(self.plan)

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic:
        options = UdpFlowOptions.model_construct(**plan.options)
        ends = list[FlowEnd]()
        for number, timetable in enumerate(options.timetables(plan.name, version(plan))):
            receiver, sender = flow_ends(
                f"{plan.name}.{number + 1}",
                "datagrams",
                listens=(plan.destination, plan.destination_address),
                opens=plan.source,
                port=options.port + number,
                dscp=options.dscp,
                start_s=options.start,
            )
            own: FlowEnd = {
                **sender,
                "periods": timetable.periods(),
                "per_s": timetable.per_s,
                "poisson": options.pattern == "poisson",
                "payload": round(options.payload),
                "resolve": True,
            }
            ends += [receiver, own]
        return VirtualTraffic(tuple(ends), tuple(flows(plan)), facts(plan))

    def script(self) -> str:
        """What MGEN is to send, in its own language. It does not start a flow again that it has ended: each period is a flow."""
        options, lines = self.options, list[tuple[float, str]]()
        for number, timetable in enumerate(options.timetables(self.plan.name, version(self.plan))):
            port = options.port + number
            kind = "POISSON" if options.pattern == "poisson" else "PERIODIC"
            what = f"{kind} [{timetable.per_s:.9g} {options.payload:.0f}] TOS {options.dscp << 2:#04x} TTL {_TTL}"
            flow = f"UDP SRC {port} DST {self.plan.destination_address}/{port} {what}"
            for at, until in timetable.periods():
                ordinal = len(lines) // 2 + 1
                lines += [(at, f"ON {ordinal} {flow}"), (until, f"OFF {ordinal}")]
        return "".join(f"{at:.6f} {event}\n" for at, event in sorted(lines, key=lambda line: line[0]))


def version(plan: TrafficPlan) -> int:
    """Of IP."""
    return ip_address(plan.source_address).version


def facts(plan: TrafficPlan) -> UdpFlowFacts:
    """What a plan's entry of this application was to send."""
    options = UdpFlowOptions.model_construct(**plan.options)
    return {"ip_headers_bytes": IP_HEADERS[version(plan)], "offered_ip_bit_per_s": options.rate * options.count}


def flows(plan: TrafficPlan) -> list[Flow]:
    """What a plan's entry of this application puts on the wire, in the order of its timetables."""
    options = UdpFlowOptions.model_construct(**plan.options)
    # A single flow has the name of its traffic, one of several a number from 1 besides.
    names = [plan.name] if options.count == 1 else [f"{plan.name}.{number + 1}" for number in range(options.count)]
    return [flow_of(plan, name, "udp", options.port + number) for number, name in enumerate(names)]
