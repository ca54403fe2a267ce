# SPDX-License-Identifier: GPL-2.0-or-later
"""What meoc.click does to packets between two hosts."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.click_lab import Meoc
from tests.namespaces import Tap, ethernet, ipv4, udp

pytestmark = pytest.mark.lab

BROADCAST = "ff:ff:ff:ff:ff:ff"
EF, AF41, CS3, LOWER_EFFORT, BEST_EFFORT = 46, 34, 24, 8, 0
#: meoc.click's JAN_RATE: bits of whole frames (without FCS) a second.
SHAPER_BPS = 1.9e6
UNREACHABLE, TIME_EXCEEDED = 3, 11


def ping(meoc: Meoc, *words: str) -> str:
    return meoc.fr1.run("ping", "-n", "-i", "0.05", "-W", "2", *words).stdout


def icmp_error(frame: bytes, kind: int, code: int) -> bool:
    return frame[12:14] == b"\x08\x00" and frame[23] == 1 and (frame[34], frame[35]) == (kind, code)


def is_udp_to(address: str, frame: bytes) -> bool:
    return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[30:34] == socket.inet_aton(address)


def test_a_ping_crosses_and_loses_one_hop_each_way(meoc: Meoc) -> None:
    text = ping(meoc, "-c", "5", "10.20.0.20")
    assert "5 received" in text
    assert set(re.findall(r"ttl=(\d+)", text)) == {"63"}


@pytest.mark.parametrize("address", ["10.10.0.1", "10.20.0.1"])
def test_the_router_answers_at_its_own_addresses(meoc: Meoc, address: str) -> None:
    assert "3 received" in ping(meoc, "-c", "3", address)


def test_the_router_answers_an_echo_request_in_fragments(meoc: Meoc) -> None:
    assert "2 received" in ping(meoc, "-c", "2", "-s", "4000", "10.10.0.1")


def test_fragments_of_a_host_cross(meoc: Meoc) -> None:
    assert "2 received" in ping(meoc, "-c", "2", "-s", "4000", "10.20.0.20")


def test_a_packet_whose_time_is_over_is_told_so_by_the_near_side_of_the_router(meoc: Meoc) -> None:
    assert "From 10.10.0.1 icmp_seq=1 Time to live exceeded" in ping(meoc, "-c", "1", "-t", "1", "10.20.0.20")


def test_no_route_is_answered_with_net_unreachable(meoc: Meoc) -> None:
    assert "From 10.10.0.1 icmp_seq=1 Destination Net Unreachable" in ping(meoc, "-c", "1", "192.0.2.1")


def test_a_service_that_the_router_does_not_offer_is_answered_with_port_unreachable(meoc: Meoc) -> None:
    with Tap(meoc.fr1, "eth0") as fr1:
        fr1.send(meoc.to_router(ipv4("10.10.0.11", "10.10.0.1", udp(b"anyone?"))))
        fr1.expect(lambda frame: icmp_error(frame, UNREACHABLE, 3))


def test_an_oversize_packet_that_must_not_be_cut_is_answered_with_the_mtu(wide_meoc: Meoc) -> None:
    with Tap(wide_meoc.fr1, "eth0") as fr1:
        fr1.send(wide_meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(bytes(3972)), df=True)))
        answer = fr1.expect(lambda frame: icmp_error(frame, UNREACHABLE, 4))
        assert struct.unpack("!H", answer[40:42]) == (1500,)


def test_an_oversize_packet_that_may_be_cut_arrives_in_fragments(wide_meoc: Meoc) -> None:
    ping(wide_meoc, "-c", "1", "10.20.0.20")
    with Tap(wide_meoc.fr1, "eth0") as fr1, Tap(wide_meoc.eoc, "eth0") as eoc:
        fr1.send(wide_meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(bytes(3972)))))
        eoc.expect(lambda frame: is_udp_to("10.20.0.20", frame) and len(frame) == 1514)
        rest = [len(frame) for _, frame in eoc.frames(0.3) if is_udp_to("10.20.0.20", frame)]
        # 3980 bytes after the IP header: 1480 + 1480 + 1020, each with 34 bytes of headers.
        assert rest == [1514, 1054]


def test_broadcasts_and_multicasts_stay_in_the_incident_area(meoc: Meoc) -> None:
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
        for address, mac in (
            ("255.255.255.255", BROADCAST),
            ("10.10.0.255", BROADCAST),
            ("10.20.0.255", Meoc.IAN_MAC),
            ("224.0.0.5", "01:00:5e:00:00:05"),
            ("239.1.2.3", "01:00:5e:01:02:03"),
            ("10.20.0.20", BROADCAST),
        ):
            fr1.send(ethernet(mac, Meoc.FR1_MAC, ipv4("10.10.0.11", address, udp(b"stay"))))
        # The last one is no broadcast: once it has crossed, the others had their chance.
        fr1.send(meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(b"pass"))))
        seen = [eoc.expect(lambda frame: frame[12:14] == b"\x08\x00" and frame[23] == 17)]
        seen += [frame for _, frame in eoc.frames(0.2) if frame[12:14] == b"\x08\x00"]
        assert [frame[42:46] for frame in seen] == [b"pass"]


def test_frames_to_other_stations_of_the_incident_area_are_left_alone(meoc: Meoc) -> None:
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
        fr1.send(ethernet("02:00:00:00:01:99", Meoc.FR1_MAC, ipv4("10.10.0.11", "10.20.0.20", udp(b"not you"))))
        fr1.send(meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(b"pass"))))
        assert eoc.expect(lambda frame: is_udp_to("10.20.0.20", frame))[42:46] == b"pass"


def test_a_wrong_header_checksum_is_not_forwarded(meoc: Meoc) -> None:
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
        broken = bytearray(ipv4("10.10.0.11", "10.20.0.20", udp(b"bad")))
        broken[10] ^= 0xFF
        fr1.send(meoc.to_router(bytes(broken)))
        fr1.send(meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(b"pass"))))
        assert eoc.expect(lambda frame: is_udp_to("10.20.0.20", frame))[42:46] == b"pass"


class Load(threading.Thread):
    """Sends packets of several classes at stated rates for some seconds, each with its class, number and time in it."""

    def __init__(self, tap: Tap, meoc: Meoc, flows: dict[int, tuple[int, float]], seconds: float) -> None:
        """`flows`: DSCP → (bytes of the IP packet, packets a second)."""
        super().__init__()
        self.tap, self.meoc, self.flows, self.seconds = tap, meoc, flows, seconds
        self.sent: Counter[int] = Counter()

    def run(self) -> None:
        start = time.monotonic()
        due = sorted((n / rate, dscp) for dscp, (_, rate) in self.flows.items() for n in range(int(self.seconds * rate)))
        for when, dscp in due:
            time.sleep(max(0.0, start + when - time.monotonic()))
            length = self.flows[dscp][0]
            stamp = struct.pack("!Id", self.sent[dscp], time.monotonic())
            packet = ipv4("10.10.0.11", "10.20.0.20", udp(stamp.ljust(length - 28, b"\0")), dscp=dscp)
            self.tap.send(self.meoc.to_router(packet))
            self.sent[dscp] += 1


def arrivals(tap: Tap) -> Iterable[tuple[float, int, float, int]]:
    """(arrival, DSCP, one-way delay in seconds, length of the frame) of each packet of a load."""
    for when, frame in tap.frames(1.0):
        if is_udp_to("10.20.0.20", frame):
            yield when, frame[15] >> 2, when - struct.unpack("!d", frame[46:54])[0], len(frame)


def test_under_overload_voice_loses_nothing_and_best_effort_pays(meoc: Meoc) -> None:
    """2 Mbit/s of best effort and 1 of lower classes on top of 86 kbit/s of voice and 0.5 Mbit/s of video, at 1.9 Mbit/s."""
    ping(meoc, "-c", "1", "10.20.0.20")
    flows = {EF: (200, 50.0), AF41: (1000, 62.5), CS3: (1000, 62.5), LOWER_EFFORT: (1000, 62.5), BEST_EFFORT: (1000, 250.0)}
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc, meoc.router.handlers() as handlers:
        load = Load(fr1, meoc, flows, seconds=3.0)
        load.start()
        got = list(arrivals(eoc))
        load.join()
        drops = {queue: int(handlers.read(f"{queue}.drops")) for queue in ("jan_ef", "jan_af4", "jan_cs", "jan_be")}
    received = Counter(dscp for _, dscp, _, _ in got)
    for dscp in (EF, AF41, CS3):
        assert received[dscp] == load.sent[dscp]
    assert (drops["jan_ef"], drops["jan_af4"], drops["jan_cs"]) == (0, 0, 0)
    lower = load.sent[LOWER_EFFORT] + load.sent[BEST_EFFORT]
    assert drops["jan_be"] == lower - received[LOWER_EFFORT] - received[BEST_EFFORT] > lower / 5

    # A voice packet waits for the frame in transmission (1014 bytes: 4.3 ms), best effort for its full queue of 100 packets in
    # whatever the others leave (0.9 s). The median keeps the machine's load out of it.
    def median(dscp: int) -> float:
        delays = sorted(delay for _, of, delay, _ in got if of == dscp)
        return delays[len(delays) // 2]

    assert median(EF) < 0.010 < 0.200 < median(BEST_EFFORT)


def test_the_shaper_keeps_its_rate_and_saves_no_credit_while_idle(meoc: Meoc) -> None:
    ping(meoc, "-c", "1", "10.20.0.20")
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc:
        time.sleep(1.0)  # idle: what BandwidthShaper would save up is one second of credit
        load = Load(fr1, meoc, {BEST_EFFORT: (1000, 400.0)}, seconds=2.5)
        load.start()
        got = list(arrivals(eoc))
        load.join()
    first, last = got[0][0], got[0][0] + 2.0
    bits = sum(length * 8 for when, _, _, length in got if first < when <= last)
    # From the first packet on, the one full-size frame of the bucket included (1514 bytes, 0.3 % of these two seconds). A router
    # that a busy machine holds up sends less.
    assert 0.5 * SHAPER_BPS < bits / 2.0 < 1.03 * SHAPER_BPS


def test_an_idle_router_uses_no_cpu(meoc: Meoc) -> None:
    def ticks() -> int:
        with open(f"/proc/{meoc.router.process.pid}/stat") as file:  # noqa: PTH123
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))

    before = ticks()
    time.sleep(1.0)
    # In 1/100 s: 2 % of a core at the most.
    assert ticks() - before <= 2
