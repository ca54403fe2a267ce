# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of endpoints share: frames by hand as their RFCs have them, hosts, two hosts at a link, and tshark."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.virtual import (
    BROADCAST,
    Change,
    Emulation,
    Netbox,
    TimedFrame,
    address,
    checksum,
    ethernet,
    mac,
)
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies

#: Addresses and MAC addresses are those of the station numbers of netboxes.engine.virtual.
HOST, PEER, OTHER = 1, 2, 3
#: Of 10.1.0.2 and 10.2.0.5, behind a router.
FAR, FARTHER = 0x1_0002, 0x2_0005
FAR_MAC = mac(9)
READS_CHECKSUMS = [word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")]
#: Two interfaces of one host, as YAML says them.
STATIONS = {"a": {"addresses": "10.0.0.1/24"}, "b": {"addresses": ["10.0.1.1/24", "fd00::1/64"], "host": "a"}}
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def interface(number: int, *addresses: str) -> dict[str, Any]:
    return {"mac": mac(number).hex(":"), "addresses": list(addresses)}


def host(*flows: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """One host with one interface, in base units."""
    interfaces = {"a": interface(HOST, "10.0.0.1/24", "fd00::1/64")}
    return {"hosts": {"h": {"interfaces": interfaces, **keys}}, "flows": [{"host": "h", **flow} for flow in flows]}


def sender(**keys: Any) -> dict[str, Any]:
    """A datagram each 10 ms for 50 ms."""
    times = {"periods": [[0, 0.05]], "per_s": 100, "payload": 100}
    return {"name": "s", "application": "datagrams", "role": "sender", "destination": "10.0.0.2", "port": 5004, **times, **keys}


def bulk(role: str, **keys: Any) -> dict[str, Any]:
    ends = {"sender": {"destination": "10.0.0.2"}, "receiver": {}}
    return {"name": "b", "application": "bulk", "role": role, "port": 5001, **ends[role], **keys}


def arp(operation: int, sender: int, target: int) -> bytes:
    """RFC 826, from the station `sender` about the station `target`."""
    whom = bytes(6) if operation == 1 else mac(target)
    body = struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation)
    body += mac(sender) + address(sender, 4).packed + whom + address(target, 4).packed
    return ethernet(mac(sender), BROADCAST if operation == 1 else mac(target), 0x0806, body)


def ipv4(source: int, destination: int, protocol: int, payload: bytes, *, ttl: int = 64, to: int | None = None) -> bytes:
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, ttl, protocol, 0)
    header += address(source, 4).packed + address(destination, 4).packed
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return ethernet(mac(source), mac(to or destination), 0x0800, header + payload)


def ping(source: int, destination: int, size: int = 56, **keys: Any) -> bytes:
    """RFC 792."""
    message = struct.pack(">BBHHH", 8, 0, 0, 0x1234, 1) + bytes(range(size % 256))
    return ipv4(source, destination, 1, message[:2] + struct.pack(">H", checksum(message)) + message[4:], **keys)


def tcp(
    source: int, destination: int, flags: int, options: bytes = b"", *, offset: int | None = None, port: int = 40000
) -> bytes:
    """RFC 9293, 3.1, without data."""
    words = 5 + len(options) // 4 if offset is None else offset
    segment = struct.pack(">HHIIHHHH", port, 5001, 1000, 0, words << 12 | flags, 65535, 0, 0) + options
    pseudo = address(source, 4).packed + address(destination, 4).packed + struct.pack(">BBH", 0, 6, len(segment))
    return ipv4(source, destination, 6, segment[:16] + struct.pack(">H", checksum(pseudo + segment)) + segment[18:])


def from_peer(
    ports: tuple[int, int], sequence: int, acknowledged: int, flags: int, window: int = 65535, options: str = ""
) -> bytes:
    """A segment without data, of a connection with a host."""
    more = bytes.fromhex(options)
    words = 5 + len(more) // 4
    body = struct.pack(">HHIIHHHH", *ports, sequence, acknowledged, words << 12 | flags, window, 0, 0) + more
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(body))
    return ipv4(PEER, HOST, 6, body[:16] + struct.pack(">H", checksum(pseudo + body)) + body[18:])


def frames(emulation: Emulation, station: str = "a") -> list[bytes]:
    return [frame for _, frame in emulation.received[station]]


def packets(emulation: Emulation, ether_type: int = 0x0800, station: str = "a") -> list[TimedFrame]:
    return [(time, frame) for time, frame in emulation.received[station] if frame[12:14] == struct.pack(">H", ether_type)]


def counters(emulation: Emulation, station: str = "a") -> dict[str, int]:
    counted: dict[str, int] = emulation.statistics["segment"]["stations"][station]
    return counted


def flow(emulation: Emulation, number: int = 0) -> dict[str, Any]:
    values: dict[str, Any] = emulation.statistics["segment"]["flows"][number]
    return values


def tshark(file: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-r", str(file), *READS_CHECKSUMS, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def is_right(capture: Path) -> bool:
    """What tshark finds fault with."""
    wrong = " || ".join(f"{protocol}.checksum.status == 0" for protocol in ("ip", "tcp", "udp", "icmpv6"))
    return not tshark(capture, "-Y", f"{wrong} || icmp.checksum.status == 0 || _ws.malformed || _ws.expert.severity == error")


ROUTER: dict[str, Any] = {
    "hosts": {
        "r": {
            "interfaces": {"a": interface(HOST, "10.0.0.1/24", "fd00::1/64"), "b": interface(OTHER, "10.1.0.1/24", "fd01::1/64")},
            "routes": [{"destination": "10.2.0.0/16", "gateway": "10.1.0.2"}],
            "forwarding": True,
        }
    }
}


def solicitation(options: bytes) -> bytes:
    """RFC 4861, 4.3, for the host's address."""
    source, target = (address(number, 6).packed for number in (PEER, HOST))
    group = bytes.fromhex("ff0200000000000000000001ff") + target[13:]
    message = struct.pack(">BBHI", 135, 0, 0, 0) + target + options
    pseudo = source + group + struct.pack(">II", len(message), 58)
    message = message[:2] + struct.pack(">H", checksum(pseudo + message)) + message[4:]
    packet = struct.pack(">IHBB", 6 << 28, len(message), 58, 255) + source + group + message
    return ethernet(mac(PEER), b"\x33\x33\xff" + target[13:], 0x86DD, packet)


LISTENS = (bulk("receiver"), {"name": "r", "application": "datagrams", "role": "receiver", "port": 5004})


def pair(
    folder: Path,
    left: list[dict[str, Any]],
    right: list[dict[str, Any]],
    *,
    duration_s: float = 30.0,
    rate: float = 10e6,
    delay_s: float = 0.02,
    queue: float = 50_000,
    loss: float = 0.0,
    events: Sequence[Change] = (),
) -> dict[str, Any]:
    """Two hosts, joined by a link, whose `events` these are: what both have counted and announced; `pair.pcapng` has what
    passed the left one."""
    line = {"rate": f"{rate:.0f} bit/s", "delay": f"{delay_s} s", "queue": {"bytes": f"{queue:.0f} B"}, "loss": loss}
    model = technologies()["link"].model_validate({"stations": {"x": {}, "y": {}}, **line})
    boxes = {"link": Netbox("link", ("x", "y"), model.model_dump(mode="json"), events=events)}
    for name, number, flows in (("left", HOST, left), ("right", PEER, right)):
        own = interface(number, f"10.0.0.{number}/24", f"fd00::{number}/64")
        parameters = {"hosts": {name: {"interfaces": {"eth": own}}}, "flows": [{"host": name, **end} for end in flows]}
        captures = {"eth": folder / "pair.pcapng"} if name == "left" else {}
        boxes[name] = Netbox("endpoints", ("eth",), parameters, captures=captures)
    wires = [(("left", "eth"), ("link", "x")), (("link", "y"), ("right", "eth"))]
    ran = emulate_network(boxes, wires, duration_s)
    announced = [line for name in ("left", "right") for line in ran[name].journal if "event" in line]
    records = [line for name in ("left", "right") for line in ran[name].journal if "record" in line]
    return {name: ran[name].statistics["segment"] for name in ("left", "right")} | {"announced": announced, "records": records}
