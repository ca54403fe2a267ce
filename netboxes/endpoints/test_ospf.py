# SPDX-License-Identifier: GPL-2.0-or-later
"""Routers that speak OSPF and BFD over links that fail. Expectations are RFC 2328's and RFC 5880's; tshark reads packets."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from netboxes.endpoints.parameters import Parameters
from netboxes.engine.virtual import Change, Emulation, Netbox, checksum, ethernet, mac, run
from netboxes.network.virtual_network import End, emulate_network
from netboxes.technology import technologies
from results import pcapng

#: Of each of three routers its interfaces: the address there, and the link that it leads to. East and west have a direct link and
#: a path by the middle; each has a network of its own.
ROUTERS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "west": {"lan": ("10.1.0.1/24", "left"), "direct": ("10.9.0.1/24", "direct"), "middle": ("10.8.1.1/24", "near")},
    "middle": {"west": ("10.8.1.2/24", "near"), "east": ("10.8.2.2/24", "far")},
    "east": {"lan": ("10.2.0.1/24", "right"), "direct": ("10.9.0.2/24", "direct"), "middle": ("10.8.2.1/24", "far")},
}
WEST, EAST = "10.1.0.0/24", "10.2.0.0/24"
BFD = {"interval_s": 0.3, "multiplier": 3}
HELLO_S, DEAD_S = 1, 4
#: Of the links.
DELAY_S = 0.01
#: By then all have found each other: a hello, an exchange, and what may be advertised again.
SETTLED_S = 8.0


def router(
    name: str, number: int, costs: Mapping[str, int], references: Mapping[str, float], bfd: dict[str, Any] | None = None
) -> dict[str, Any]:
    ports = ROUTERS[name]
    timers = {"hello_s": HELLO_S, "dead_s": DEAD_S, "retransmit_s": 1, "point_to_point": True}
    return {
        "interfaces": {
            port: {"mac": mac(10 * number + place).hex(":"), "addresses": [address]}
            for place, (port, (address, _)) in enumerate(ports.items())
        },
        "forwarding": True,
        "ospf": {
            "router": f"10.255.0.{number}",
            **{"lsa_interval_s": 0.2, "spf_delay_s": 0.01, "spf_hold_s": 0.1, "spf_most_s": 1},
            "interfaces": {
                port: {
                    "cost": costs.get(f"{name}.{port}", 10),
                    "reference_bps": references.get(f"{name}.{port}"),
                    "passive": port == "lan",
                    "bfd": bfd,
                    **timers,
                }
                for port in ports
            },
        },
    }


def between(
    events: Mapping[str, Sequence[Change]],
    duration_s: float,
    *,
    costs: Mapping[str, int] = {},
    references: Mapping[str, float] = {},
    bfd: dict[str, Any] | None = None,
    captures: Mapping[str, Path] = {},
    seed: int = 1,
) -> dict[str, Emulation]:
    """The three routers; `events` are those of links."""
    link = technologies()["link"]
    netboxes, wires = dict[str, Netbox](), list[tuple[End, End]]()
    ends: dict[str, list[End]] = {}
    for number, (name, ports) in enumerate(ROUTERS.items(), 1):
        parameters = {"hosts": {name: router(name, number, costs, references, bfd)}}
        own = {port: file for port, file in captures.items() if name == "west"}
        netboxes[name] = Netbox("endpoints", tuple(ports), parameters, seed=seed, captures=own)
        for port, (_, segment) in ports.items():
            ends.setdefault(segment, []).append((name, port))
    for segment, there in ends.items():
        if len(there) == 2:
            said = {"stations": {"a": {}, "b": {}}, "delay": "10 ms", "rate": "10 Mbit/s"}
            values = link.model_validate(said).model_dump(mode="json")
            netboxes[segment] = Netbox("link", ("a", "b"), values, events=events.get(segment, ()), seed=seed, telemetry=True)
            wires += [(end, (segment, station)) for end, station in zip(there, "ab", strict=True)]
    return emulate_network(netboxes, wires, duration_s)


def routes(ran: Emulation, destination: str) -> list[tuple[float, str | None]]:
    """When which gateway was taken for a destination; None: no more."""
    return [
        (line["at_s"], line["paths"][0]["gateway"] if line["event"] == "route" else None)
        for line in ran.journal
        if line.get("event") in ("route", "route_gone") and line["destination"] == destination
    ]


def test_the_path_with_the_least_costs_is_taken_each_way() -> None:
    """Costs are those of leaving: one way the direct link is the dearer one (RFC 2328, 16.1)."""
    ran = between({}, SETTLED_S, costs={"west.direct": 30})
    assert routes(ran["west"], EAST)[-1][1] == "10.8.1.2"
    assert routes(ran["east"], WEST)[-1][1] == "10.9.0.1"
    assert {neighbour["state"] for neighbour in ran["middle"].statistics["segment"]["hosts"]["middle"]["ospf"]["neighbours"]} == {
        "Full"
    }


def test_costs_follow_the_rates_that_netboxes_tell() -> None:
    """By a reference of 100 Mbit/s the direct link of 10 Mbit/s costs 10, and 67 with 1.5 Mbit/s: more than 20 by the middle."""
    slow_s, fast_s = SETTLED_S, SETTLED_S + 3
    events = {"direct": [(slow_s, "a.rate", 1.5e6), (fast_s, "a.rate", 10e6)]}
    ran = between(events, fast_s + 3, references={"west.direct": 100e6, "east.direct": 100e6})
    changes = [change for change in routes(ran["west"], EAST) if change[0] > slow_s - 1]
    assert [gateway for _, gateway in changes] == ["10.8.1.2", "10.9.0.2"]
    # It is told within 0.1 s, and calculated 10 ms later.
    assert all(0 < at_s - changed_s < 0.12 for (at_s, _), changed_s in zip(changes, (slow_s, fast_s), strict=True))
    # The other way has its rate.
    assert [change for change in routes(ran["east"], WEST) if change[0] > slow_s - 1] == []


def test_of_equal_paths_the_one_to_the_lowest_address_is_taken() -> None:
    ran = between({}, SETTLED_S, costs={"west.direct": 20})
    assert routes(ran["west"], EAST)[-1][1] == "10.8.1.2"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_silent_neighbour_is_gone_after_the_dead_time_and_comes_back_with_its_hellos(seed: int) -> None:
    """Of the last hello: a failure is found after `dead`, less what had passed of `hello` (RFC 2328, 9.5)."""
    down_s, up_s = SETTLED_S, SETTLED_S + 10
    ran = between({"direct": [(down_s, "up", False), (up_s, "up", True)]}, up_s + 8, seed=seed)
    for name, there, direct, other in (("west", EAST, "10.9.0.2", "10.8.1.2"), ("east", WEST, "10.9.0.1", "10.8.2.2")):
        changes = [change for change in routes(ran[name], there) if change[0] > down_s]
        assert [gateway for _, gateway in changes] == [other, direct]
        # What the other one has found first comes by an advertisement.
        assert DEAD_S - HELLO_S < changes[0][0] - down_s < DEAD_S + 0.1
        # A hello each way, the exchange, and the least interval between two advertisements.
        assert 0 < changes[1][0] - up_s < 2 * HELLO_S + 0.5


def test_bfd_finds_it_within_its_detection_time() -> None:
    down_s = SETTLED_S
    ran = between({"direct": [(down_s, "up", False)]}, down_s + 3, bfd=BFD)
    for name, there in (("west", EAST), ("east", WEST)):
        (found_s, _) = next(change for change in routes(ran[name], there) if change[0] > down_s)
        # Three intervals since the last packet; the calculation 10 ms later (RFC 5880, 6.8.4).
        assert 0.6 < found_s - down_s < 0.9 + DELAY_S + 0.02


def test_one_direction_that_fails_takes_the_path_from_both() -> None:
    """The one that is heard no more is told so by hellos that do not name it: 1-Way (RFC 2328, 10.2)."""
    ran = between({"direct": [(SETTLED_S, "a.up", False)]}, SETTLED_S + 7)
    assert routes(ran["west"], EAST)[-1][1] == "10.8.1.2"
    assert routes(ran["east"], WEST)[-1][1] == "10.8.2.2"


def test_a_gap_that_is_shorter_than_the_dead_time_changes_nothing() -> None:
    ran = between({"direct": [(SETTLED_S, "up", False), (SETTLED_S + 2.5, "up", True)]}, SETTLED_S + 9)
    assert [change for change in routes(ran["west"], EAST) if change[0] > SETTLED_S] == []


def test_two_failures_nearer_than_the_dead_time_leave_no_route_and_the_first_repair_gives_one() -> None:
    down_s, up_s = SETTLED_S, SETTLED_S + 8
    events = {"direct": [(down_s, "up", False)], "near": [(down_s + 1, "up", False), (up_s, "up", True)]}
    changes = [change for change in routes(between(events, up_s + 5)["west"], EAST) if change[0] > down_s]
    assert changes[-1][1] == "10.8.1.2"
    assert None in [gateway for at_s, gateway in changes if at_s < up_s]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_what_they_send_is_ospf_and_bfd_to_wireshark(tmp_path: Path) -> None:
    capture = tmp_path / "direct.pcapng"
    between({"direct": [(6.0, "up", False), (8.0, "up", True)]}, 12.0, bfd=BFD, captures={"direct": capture})

    def shown(*words: str) -> list[str]:
        command = ["tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    assert shown("-Y", "_ws.malformed || ip.checksum.status == Bad || _ws.expert.severity == error") == []
    assert {int(line) for line in shown("-Y", "ospf", "-T", "fields", "-e", "ospf.msg")} == {1, 2, 3, 4, 5}
    assert set(shown("-Y", "bfd", "-T", "fields", "-e", "ip.ttl", "-e", "ip.dsfield.dscp")) == {"255\t48"}
    # Administratively down is nobody; all other states are passed (RFC 5880, 4.1).
    assert {int(line, 16) for line in shown("-Y", "bfd", "-T", "fields", "-e", "bfd.sta")} == {1, 2, 3}


def hostile(chance: random.Random, genuine: Sequence[bytes]) -> bytes:
    """A packet of theirs with something wrong, and often a checksum of OSPF that is right."""
    frame = bytearray(chance.choice(genuine))
    for _ in range(chance.randrange(1, 5)):
        frame[chance.randrange(34, len(frame))] = chance.choice([0, 1, 255, chance.randrange(256)])
    packet = frame[34:]
    if frame[23] == 89 and chance.random() < 0.8:
        packet[12:14] = b"\0\0"
        packet[12:14] = struct.pack(">H", checksum(bytes(packet[:16] + packet[24:])))
    if chance.random() < 0.2:
        packet = packet[: chance.randrange(len(packet))]
    header = frame[14:24] + b"\0\0" + frame[26:34]
    header[2:4] = struct.pack(">H", 20 + len(packet))
    header[10:12] = struct.pack(">H", checksum(bytes(header)))
    return ethernet(bytes(frame[6:12]), bytes(frame[:6]), 0x0800, bytes(header + packet))


@pytest.mark.parametrize("seed", range(3))
def test_no_packet_ends_a_router(seed: int, tmp_path: Path) -> None:
    """What the east has said to the west, changed, to another west; which goes on to say its hellos."""
    capture = tmp_path / "direct.pcapng"
    between({}, 5.0, bfd=BFD, captures={"direct": capture})
    east = mac(31)
    genuine = [packet.data for packet in pcapng.read(capture) if packet.data[6:12] == east]
    chance = random.Random(seed)
    given = [(0.001 * number, hostile(chance, genuine) if number % 3 else chance.choice(genuine)) for number in range(6000)]
    ran = run(
        "endpoints", list(ROUTERS["west"]), {"hosts": {"west": router("west", 1, {}, BFD)}}, {"direct": given}, duration_s=9
    )
    hellos = [at_s for at_s, frame in ran.received["direct"] if frame[23] == 89 and frame[35] == 1]
    assert hellos[-1] > 7.9


def test_a_topology_cannot_say_it_of_a_host() -> None:
    """Routers of a topology have it (docs/topology.md); a host of `technology: endpoints` has static routes."""
    with pytest.raises(ValueError, match="ospf"):
        Parameters.model_validate({"stations": {"a": {"addresses": ["10.0.0.1/24"], "ospf": {}}}})
