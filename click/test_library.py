# SPDX-License-Identifier: GPL-2.0-or-later
"""The configurations of the library, each with real frames: between fr1 (10.10.0.11) and eoc (10.20.0.20) is the router."""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.plan import InterfacePlan
from testbed.nodes import routers
from tests.click_lab import Meoc, Router, address, three_namespaces
from tests.namespaces import Namespace, Tap, ethernet, ipv4, join, udp, wait_for

pytestmark = pytest.mark.lab

CLICK = Path(__file__).resolve().parent
BROADCAST = "ff:ff:ff:ff:ff:ff"
THIRD_MAC, C_MAC = "02:00:00:00:03:30", "02:00:00:00:03:01"


@contextmanager
def running(folder: Path, name: str, *names: str, mtu: int = 1500, **variables: str) -> Iterator[Meoc]:
    ends = ((Meoc.IAN_MAC, "10.10.0.1/24"), (Meoc.JAN_MAC, "10.20.0.1/24"), (C_MAC, "10.30.0.1/24"))
    interfaces = [InterfacePlan(called, "", mac, (own,)) for called, (mac, own) in zip(names, ends, strict=False)]
    with three_namespaces(mtu, (names[0], names[1])) as (fr1, space, eoc), Namespace("third") as third:
        if len(names) > 2:
            join(third, "eth0", THIRD_MAC, space, names[2], C_MAC, mtu)
            address(third, "eth0", "10.30.0.30", "10.30.0.1")
        defines = routers.defines(interfaces) | variables
        with Router(space, folder, CLICK / f"{name}.click", defines) as router:
            yield Meoc(fr1, eoc, router)


def ping(meoc: Meoc, *words: str) -> str:
    return meoc.fr1.run("ping", "-n", "-i", "0.02", "-W", "2", *words).stdout


def arrived(tap: Tap, seconds: float = 0.3) -> list[bytes]:
    """UDP packets, without their Ethernet header."""
    return [frame[14:] for _, frame in tap.frames(seconds) if frame[12:14] == b"\x08\x00" and frame[23] == 17]


def burst(meoc: Meoc, tap: Tap, *packets: bytes) -> None:
    for packet in packets:
        tap.send(meoc.to_router(packet))


@pytest.mark.parametrize(
    ("name", "interfaces"),
    [
        ("ip-router", ("a", "b")),
        ("ip-router-3", ("a", "b", "c")),
        ("priorities", ("a", "b")),
        ("shaping", ("a", "b")),
        ("broadcast-containment", ("a", "b")),
    ],
)
def test_every_router_of_the_library_forwards_answers_and_says_what_it_cannot(
    tmp_path: Path, name: str, interfaces: tuple[str, ...]
) -> None:
    with running(tmp_path, name, *interfaces, mtu=3000) as meoc:
        targets = ["10.20.0.20", "10.10.0.1", "10.20.0.1"] + (["10.30.0.30"] if len(interfaces) > 2 else [])
        for target in targets:
            assert " 0% packet loss" in ping(meoc, "-c", "2", target), target
        assert "ttl=63" in ping(meoc, "-c", "1", "10.20.0.20")
        assert "From 10.10.0.1 icmp_seq=1 Time to live exceeded" in ping(meoc, "-c", "1", "-t", "1", "10.20.0.20")
        assert "From 10.10.0.1 icmp_seq=1 Destination Net Unreachable" in ping(meoc, "-c", "1", "192.0.2.1")
        assert "2 received" in ping(meoc, "-c", "2", "-s", "2500", "-M", "dont", "10.20.0.20")
        assert "mtu = 1500" in ping(meoc, "-c", "1", "-s", "2500", "-M", "do", "10.20.0.20")
        with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
            for target, mac in (("10.20.0.255", Meoc.IAN_MAC), ("239.1.2.3", "01:00:5e:01:02:03"), ("10.20.0.20", BROADCAST)):
                fr1.send(ethernet(mac, Meoc.FR1_MAC, ipv4("10.10.0.11", target, udp(b"stay"))))
            burst(meoc, fr1, ipv4("10.10.0.11", "10.20.0.20", udp(b"pass")))
            assert [packet[28:32] for packet in arrived(eoc)] == [b"pass"]


def test_priorities_serve_voice_before_video_before_the_rest(tmp_path: Path) -> None:
    """What waits while the shaper lets a frame through each 81 ms leaves in the order of its class, not of its arrival."""
    classes = [0] * 40 + [18] * 10 + [46] * 10  # best effort, AF21, EF
    with running(tmp_path, "priorities", "a", "b", RATE="100kbps") as meoc:
        ping(meoc, "-c", "1", "10.20.0.20")
        with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc, meoc.router.handlers() as handlers:
            burst(meoc, fr1, *(ipv4("10.10.0.11", "10.20.0.20", udp(bytes(972)), dscp=dscp) for dscp in classes))
            wait_for(lambda: int(handlers.read("ef.length")) > 0, "the queues to fill")
            handlers.write("shaper.rate", "100Mbps")
            order = [packet[1] >> 2 for packet in arrived(eoc)]
    assert Counter(order) == Counter(classes)
    # A few had left before those of a higher class came: the last one of each class tells.
    last_ef, last_af = (len(order) - 1 - order[::-1].index(dscp) for dscp in (46, 18))
    assert last_ef < last_af and order[-20:] == [0] * 20


def test_shaping_lets_through_what_the_rate_says(tmp_path: Path) -> None:
    """60 frames of 1014 bytes are 0.49 s at 1 Mbit/s, less the one in the bucket: never sooner, however busy the machine."""
    with running(tmp_path, "shaping", "a", "b", B_RATE="1000kbps") as meoc:
        ping(meoc, "-c", "1", "10.20.0.20")
        with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
            began = time.monotonic()
            burst(meoc, fr1, *(ipv4("10.10.0.11", "10.20.0.20", udp(bytes(972))) for _ in range(60)))
            times = [when for when, frame in eoc.frames(0.5) if frame[23] == 17]
        assert len(times) == 60 and times[-1] - began > 0.45


def test_a_storm_of_broadcasts_is_contained_and_counted(tmp_path: Path) -> None:
    with running(tmp_path, "broadcast-containment", "a", "b", STORM="50") as meoc:
        ping(meoc, "-c", "1", "10.20.0.20")
        storm = ethernet(BROADCAST, Meoc.FR1_MAC, ipv4("10.10.0.11", "10.10.0.255", udp(b"storm")))
        with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc, meoc.router.handlers() as handlers:
            for number in range(2000):
                fr1.send(storm)
                if number % 100 == 0:
                    burst(meoc, fr1, ipv4("10.10.0.11", "10.20.0.20", udp(b"pass")))
            assert [packet[28:32] for packet in arrived(eoc)] == [b"pass"] * 20

            def counts() -> list[int]:
                return [int(handlers.read(name)) for name in ("a/contained.count", "local_only.count")]

            wait_for(lambda: sum(counts()) == 2000, "the whole storm to be counted")
            assert counts()[0] > 1000


def test_hosts_behind_nat_share_an_address_and_only_answers_come_in(tmp_path: Path) -> None:
    with running(tmp_path, "nat", "inside", "outside") as meoc:
        assert "2 received" in ping(meoc, "-c", "2", "10.20.0.20")
        assert "1 received" in ping(meoc, "-c", "1", "10.10.0.1")
        with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
            burst(meoc, fr1, ipv4("10.10.0.11", "10.20.0.20", udp(b"ask!", port=7000)))
            (asked,) = [packet for packet in arrived(eoc) if packet[28:32] == b"ask!"]
            source, port = asked[12:16], struct.unpack("!H", asked[20:22])[0]
            assert source == bytes((10, 20, 0, 1)) and 20000 <= port <= 59999
            answer = struct.pack("!HHHH", 7000, port, 12, 0) + b"told"
            stranger = struct.pack("!HHHH", 7001, port + 1, 12, 0) + b"dark"
            for payload in (stranger, answer):
                eoc.send(ethernet(Meoc.JAN_MAC, Meoc.EOC_MAC, ipv4("10.20.0.20", "10.20.0.1", payload)))
            eoc.send(ethernet(Meoc.JAN_MAC, Meoc.EOC_MAC, ipv4("10.20.0.20", "10.10.0.11", answer)))
            (told,) = [packet for packet in arrived(fr1) if packet[28:32] in (b"told", b"dark")]
            assert (
                told[16:20] == bytes((10, 10, 0, 11)) and told[28:32] == b"told" and struct.unpack("!H", told[22:24]) == (7000,)
            )
        # Nobody listens at eoc: what its kernel says about it is about a mapping, and finds its way back.
        with Tap(meoc.fr1, "eth0") as fr1:
            burst(meoc, fr1, ipv4("10.10.0.11", "10.20.0.20", udp(b"x", port=7002)))
            error = fr1.expect(lambda frame: frame[23:24] == b"\x01" and frame[34:36] == b"\x03\x03")
            assert error[30:34] == bytes((10, 10, 0, 11)) and error[54:58] == bytes((10, 10, 0, 11))
        with meoc.router.handlers() as handlers:
            wait_for(lambda: int(handlers.read("refused.count")) > 0, "the refused packet")
