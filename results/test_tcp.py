# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of TCP from segments made by hand: times, losses and orders are known."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import pytest

from results import pcapng
from results.fairness import jain, over_time
from results.frames import read_capture
from results.segments import ACK, FIN, SYN, Segments
from results.tables import of_streams
from results.tcp import MOST, Stream, streams
from results.tcp_figures import MeasuredStream, tcp_stream

MS = 1_000_000
START_NS = 1_700_000_000_000_000_000
SEGMENT = 1000
#: From host to host.
DELAY = 10 * MS
HOSTS = {4: ("10.0.0.1", "10.0.0.2"), 6: ("fd00::1", "fd00::2")}
#: MSS 1460 and a scale of 7 (RFC 9293, 3.2; RFC 7323, 2.2).
OPTIONS = bytes([2, 4, 5, 180, 1, 3, 3, 7])


def segment(
    ends: tuple[str, int, str, int],
    sequence: int,
    acknowledgement: int = 0,
    *,
    flags: int = ACK,
    size: int = 0,
    window: int = 512,
    options: bytes = b"",
    ip_id: int = 0,
) -> bytes:
    """An Ethernet frame; checksums are zero, nobody looks at them."""
    source, source_port, destination, destination_port = ends
    numbers = (sequence % 2**32, acknowledgement % 2**32, (20 + len(options)) // 4 << 4, flags, window, 0, 0)
    tcp = struct.pack(">HHIIBBHHH", source_port, destination_port, *numbers) + options + bytes(size)
    addresses = ip_address(source).packed + ip_address(destination).packed
    if ip_address(source).version == 6:
        return bytes(12) + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + addresses + tcp
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), ip_id % 65_536, 0, 64, 6, 0)
    return bytes(12) + b"\x08\x00" + head + addresses + tcp


@dataclass
class Talk:
    """What goes between left and right, `isn` the sender's first number; times are in ms since the beginning."""

    version: int = 4
    isn: int = 1000
    port: int = 40_000
    frames: int = 0
    left: list[tuple[int, bytes]] = field(default_factory=list)
    right: list[tuple[int, bytes]] = field(default_factory=list)

    def opens(self, at: float = 0, options: bytes = OPTIONS) -> None:
        self.sends(at, -1, 0, flags=SYN, options=options)
        self.answers(at + 10, -1, flags=SYN | ACK, options=options)

    def sends(
        self,
        at: float,
        begin: int,
        size: int = SEGMENT,
        *,
        lost: bool = False,
        late: float = 0,
        flags: int = ACK,
        options: bytes = b"",
    ) -> None:
        """Data from left, `begin` its first byte."""
        self.frames += 1
        number = self.isn + 1 + begin
        data = segment(self._ends(True), number, 501, flags=flags, size=size, options=options, ip_id=self.frames)
        self._goes(self.left, self.right, at, data, lost, late)

    def answers(
        self, at: float, until: int, *, window: int = 512, lost: bool = False, flags: int = ACK, options: bytes = b""
    ) -> None:
        """An acknowledgement from right, of the bytes before `until`."""
        self.frames += 1
        own = 500 if flags & SYN else 501
        number = self.isn + 1 + (0 if flags & SYN else until)
        data = segment(self._ends(False), own, number, flags=flags, window=window, options=options, ip_id=self.frames)
        self._goes(self.right, self.left, at, data, lost, 0)

    def _ends(self, outward: bool) -> tuple[str, int, str, int]:
        left, right = HOSTS[self.version]
        return (left, self.port, right, 80) if outward else (right, 80, left, self.port)

    @staticmethod
    def _goes(
        there: list[tuple[int, bytes]], here: list[tuple[int, bytes]], at: float, data: bytes, lost: bool, late: float
    ) -> None:
        there.append((START_NS + round(at * MS), data))
        if not lost:
            here.append((START_NS + round((at + late) * MS) + DELAY, data))


def captured(folder: Path, packets: Sequence[tuple[int, bytes]]) -> Segments:
    pcapng.write(folder / "capture.pcapng", sorted(packets, key=lambda packet: packet[0]))
    return read_capture([folder / "capture.pcapng"], []).segments


def found(folder: Path, *talks: Talk, left: bool = True, right: bool = True, from_ms: float = 0) -> list[Stream]:
    """`from_ms` is the end of the warm-up."""
    hosts = {address: name for addresses in HOSTS.values() for address, name in zip(addresses, ("left", "right"), strict=True)}
    seen = {}
    if left:
        seen["left"] = captured(folder, [packet for talk in talks for packet in talk.left])
    if right:
        seen["right"] = captured(folder, [packet for talk in talks for packet in talk.right])
    return streams(seen, hosts, START_NS + round(from_ms * MS) if from_ms else 0)[0]


def steady(talk: Talk, count: int, first: int = 0, at: float = 20) -> Talk:
    """A segment each ms, acknowledged when it arrives."""
    for number in range(first, first + count):
        talk.sends(at + number, number * SEGMENT)
        talk.answers(at + number + 10, (number + 1) * SEGMENT)
    return talk


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("isn", [1000, 2**32 - 1 - 5 * SEGMENT, 2**31 - 5 * SEGMENT, 2**32 - 1])
def test_a_stream_without_losses_whatever_its_first_number(version: int, isn: int, tmp_path: Path) -> None:
    talk = Talk(version, isn)
    talk.opens()
    (stream,) = found(tmp_path, steady(talk, 50))
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    # The last byte arrives 49 ms after the first is sent, and on its way for 10 ms.
    assert told["bytes"] == 50_000
    assert told["completion_s"] == pytest.approx(0.059)
    assert told["began_s"] == pytest.approx(0.02)
    assert told["goodput_kbps"] == pytest.approx(50_000 * 8 / 59)
    assert told["syn_rtt_ms"] == pytest.approx(20)
    assert told["rtt_ms"] is not None
    assert [told["rtt_ms"][key] for key in ("min", "mean", "p50", "p95")] == [pytest.approx(20)] * 4
    assert (told["rtt_ms"]["count"], told["mss"], told["segments"], told["largest_segment"]) == (50, 1460, 50, SEGMENT)
    assert (told["retransmissions"], told["retransmitted_bytes"], told["duplicate_acks"], told["repeated_bytes"]) == (0, 0, 0, 0)
    assert told["window_bytes"] == {"min": 512 << 7, "mean": 512 << 7, "max": 512 << 7}
    # 20 are on the way from the 20th on; the amount grows and falls by one each ms.
    assert told["in_flight_bytes"] is not None
    assert (told["in_flight_bytes"]["min"], told["in_flight_bytes"]["max"]) == (SEGMENT, 20 * SEGMENT)
    # Little: a mean of n on the way over T, of which 50 each for 20 ms.
    assert told["in_flight_bytes"]["mean"] == pytest.approx(50 * 20 / 69 * SEGMENT, rel=0.01)
    assert told["reordering"] == {
        "segments": 50,
        "reordered": 0,
        "ratio": 0,
        "extent_mean": None,
        "extent_max": None,
        "late_ms_max": None,
    }
    assert (told["ended"], told["reasons"], told["unseen_bytes"]) == ("open", [], 0)


def lossy(talk: Talk) -> Talk:
    """The segment 3 of 10 is lost, six duplicates of an acknowledgement come, it is sent again, and all are acknowledged."""
    for number in range(10):
        talk.sends(20 + number, number * SEGMENT, lost=number == 3)
        talk.answers(30 + number, min(number + 1, 3) * SEGMENT)
    talk.sends(50, 3 * SEGMENT)
    talk.answers(60, 10 * SEGMENT)
    return talk


def test_what_is_sent_again_gives_no_round_trip_and_is_not_reordered(tmp_path: Path) -> None:
    talk = Talk()
    talk.opens()
    (stream,) = found(tmp_path, lossy(talk))
    assert stream.sender is not None
    assert stream.reordering is not None
    assert (stream.sender.retransmissions, stream.sender.retransmitted_bytes, stream.sender.bytes) == (1, SEGMENT, 10 * SEGMENT)
    # Of 0, 1 and 2; the last acknowledgement takes in the segment that was sent again (Karn).
    assert list(stream.sender.rtt_ms) == [20, 20, 20]
    assert stream.sender.duplicate_acks == 7
    assert (stream.reordering.segments, stream.reordering.extent.size, stream.repeated_bytes) == (10, 0, 0)
    assert stream.completion_s == pytest.approx(0.04)
    assert stream.delivered is not None
    assert list(stream.delivered.bytes) == [1000, 2000, 3000, 10_000]


def test_duplicates_need_the_same_window_and_data_outstanding(tmp_path: Path) -> None:
    talk = Talk()
    talk.opens()
    talk.sends(20, 0)
    talk.sends(20, SEGMENT)
    for at, window in ((31, 512), (32, 512), (33, 256), (34, 256)):
        talk.answers(at, SEGMENT, window=window)
    talk.answers(40, 2 * SEGMENT)
    talk.answers(41, 2 * SEGMENT)  # nothing is outstanding
    (stream,) = found(tmp_path, talk)
    assert stream.sender is not None
    assert stream.sender.duplicate_acks == 2


def test_reordering_is_told_by_places_and_time(tmp_path: Path) -> None:
    """RFC 4737, 4.2.2: the fourth of six comes last, behind two that were sent later."""
    talk = Talk()
    talk.opens()
    for number in range(6):
        talk.sends(20 + number, number * SEGMENT, late=5 if number == 3 else 0)
    (stream,) = found(tmp_path, talk)
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    assert told["reordering"] == {
        "segments": 6,
        "reordered": 1,
        "ratio": pytest.approx(1 / 6),
        "extent_mean": 2,
        "extent_max": 2,
        "late_ms_max": pytest.approx(4),
    }
    assert told["bytes"] == 6 * SEGMENT


def test_frames_that_look_alike_are_not_judged(tmp_path: Path) -> None:
    """In IPv6 nothing tells a segment from its retransmission: which of the two arrived late is not known."""
    talk = Talk(version=6)
    talk.opens()
    (stream,) = found(tmp_path, lossy(talk))
    assert stream.reordering is not None
    assert (stream.reordering.segments, stream.reordering.extent.size) == (9, 0)


def test_what_arrives_twice_counts_once(tmp_path: Path) -> None:
    talk = steady(Talk(), 3)
    talk.sends(40, SEGMENT)
    talk.right.append(talk.right[0])
    (stream,) = found(tmp_path, talk)
    assert stream.delivered is not None
    assert (stream.delivered.bytes[-1], stream.repeated_bytes) == (3 * SEGMENT, 2 * SEGMENT)
    assert of_streams([stream])["tcp_repeated_ratio"] == 2 / 5
    assert stream.sender is not None
    assert stream.sender.retransmitted_bytes == SEGMENT


def test_a_probe_of_an_idle_connection_is_no_retransmission(tmp_path: Path) -> None:
    talk = steady(Talk(), 3)
    talk.sends(5000, 3 * SEGMENT - 1, 1)
    (stream,) = found(tmp_path, talk)
    assert stream.sender is not None
    assert (stream.sender.retransmissions, stream.sender.segments) == (0, 3)


def test_a_capture_begun_in_the_middle_tells_no_window(tmp_path: Path) -> None:
    (stream,) = found(tmp_path, steady(Talk(isn=2**32 - 1 - 20_000), 50, first=5))
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    assert (told["bytes"], told["window_bytes"], told["mss"], told["syn_rtt_ms"]) == (50_000, None, None, None)
    assert told["reasons"] == ["the window is not visible: no SYN that tells its scale was captured at the sender"]


def test_windows_are_scaled_where_both_ends_offer_it(tmp_path: Path) -> None:
    talk = Talk()
    talk.sends(0, -1, 0, flags=SYN, options=OPTIONS)
    talk.answers(10, -1, flags=SYN | ACK, options=OPTIONS[:4])
    talk.sends(20, 0)
    talk.answers(30, SEGMENT, window=100)
    talk.answers(40, SEGMENT, window=0)
    talk.answers(70, SEGMENT, window=100)
    talk.sends(90, SEGMENT)
    (stream,) = found(tmp_path, talk)
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    # From 40 to 90 ms at the sender: 10 ms, none for 30 ms, then 10 ms.
    assert told["window_bytes"] == {"min": 0, "mean": pytest.approx(100 * 20 / 50), "max": 100}


def test_each_point_tells_only_what_it_sees(tmp_path: Path) -> None:
    talk = Talk()
    talk.opens()
    lossy(talk)
    (at_receiver,) = found(tmp_path, talk, left=False)
    told = tcp_stream(MeasuredStream(at_receiver, None), START_NS)
    assert (told["retransmissions"], told["rtt_ms"], told["in_flight_bytes"], told["reordering"]) == (None, None, None, None)
    assert (told["bytes"], told["repeated_bytes"], told["goodput_kbps"]) == (10 * SEGMENT, 0, None)
    assert any("not captured at the sender" in reason for reason in told["reasons"])
    (at_sender,) = found(tmp_path, talk, right=False)
    told = tcp_stream(MeasuredStream(at_sender, None), START_NS)
    assert (told["retransmissions"], told["bytes"], told["completion_s"]) == (1, None, None)
    assert any("not captured at the receiver" in reason for reason in told["reasons"])


def test_lost_records_of_the_sender_are_told(tmp_path: Path) -> None:
    talk = steady(Talk(), 10)
    del talk.left[8]  # the fifth segment's
    (stream,) = found(tmp_path, talk)
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    assert (told["unseen_bytes"], told["bytes"], told["retransmissions"]) == (SEGMENT, 10 * SEGMENT, 0)
    assert any("lacks 1,000 bytes" in reason for reason in told["reasons"])


def test_segments_above_the_mss_are_told_and_their_bytes_count(tmp_path: Path) -> None:
    """Captured before the kernel cuts them: one of 5000 bytes leaves, five arrive, and are acknowledged one by one."""
    talk = Talk()
    talk.opens()
    whole = segment(talk._ends(True), talk.isn + 1, 501, size=5000, ip_id=77)
    talk.left.append((START_NS + 20 * MS, whole))
    for number in range(5):
        part = segment(talk._ends(True), talk.isn + 1 + number * SEGMENT, 501, size=SEGMENT, ip_id=80 + number)
        talk.right.append((START_NS + 30 * MS, part))
        talk.answers(30, (number + 1) * SEGMENT)
    (stream,) = found(tmp_path, talk)
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    assert (told["segments"], told["largest_segment"], told["bytes"], told["retransmissions"]) == (1, 5000, 5000, 0)
    assert stream.sender is not None
    assert list(stream.sender.rtt_ms) == [20] * 5
    assert any("offload" in reason for reason in told["reasons"])


def test_captures_cut_short_have_all_figures(tmp_path: Path) -> None:
    talk = Talk()
    talk.opens()
    lossy(talk)
    (whole,) = found(tmp_path, talk)
    for packets in (talk.left, talk.right):
        packets[:] = [(time_ns, data[:64]) for time_ns, data in packets]
    (cut,) = found(tmp_path, talk)
    assert cut.sender is not None
    assert whole.sender is not None
    assert (cut.sender.bytes, cut.sender.retransmissions) == (whole.sender.bytes, 1)
    assert (cut.goodput_kbps, cut.mss) == (whole.goodput_kbps, 1460)


def test_one_connection_after_the_other_on_the_same_ends(tmp_path: Path) -> None:
    first, second = Talk(isn=5), Talk(isn=3_000_000_000)
    first.opens()
    steady(first, 10)
    first.sends(40, 10 * SEGMENT, 0, flags=FIN | ACK)
    first.answers(55, 10 * SEGMENT + 1, flags=FIN | ACK)
    second.opens(1000)
    steady(second, 4, at=1020)
    told = found(tmp_path, first, second)
    assert [(stream.earlier, stream.delivered.bytes[-1], stream.ended) for stream in told if stream.delivered] == [
        (0, 10_000, "fin"),
        (1, 4000, "open"),
    ]


def _nonsense(random_bytes: random.Random, talk: Talk) -> Iterator[tuple[int, bytes]]:
    for _ in range(2000):
        data = bytearray(
            segment(
                talk._ends(random_bytes.random() < 0.5),
                random_bytes.getrandbits(32),
                random_bytes.getrandbits(32),
                flags=random_bytes.getrandbits(8),
                size=random_bytes.randrange(40),
                options=random_bytes.randbytes(4 * random_bytes.randrange(10)),
            )
        )
        for _ in range(random_bytes.randrange(4)):
            data[random_bytes.randrange(14, len(data))] = random_bytes.getrandbits(8)
        yield START_NS + random_bytes.randrange(10**10), bytes(data[: random_bytes.randrange(len(data) + 1)])


@pytest.mark.parametrize("seed", range(8))
def test_nonsense_never_raises(seed: int, tmp_path: Path) -> None:
    talk = Talk(version=4 if seed % 2 else 6)
    both = random.Random(seed)
    talk.left, talk.right = list(_nonsense(both, talk)), list(_nonsense(both, talk))
    for stream in found(tmp_path, talk):
        tcp_stream(MeasuredStream(stream, None), START_NS)
    over_time(found(tmp_path, talk), START_NS)


def test_numbers_beyond_any_window_are_ignored(tmp_path: Path) -> None:
    """A segment that somebody forged in the middle changes nothing that comes after it."""
    talk = Talk()
    talk.opens()
    steady(talk, 10)
    talk.sends(24.5, 2**31)
    talk.sends(25.5, 2**31 - 1)
    (stream,) = found(tmp_path, talk)
    assert stream.sender is not None
    assert (stream.sender.bytes, stream.sender.retransmissions, stream.sender.unseen_bytes) == (10_000, 0, 0)
    assert stream.completion_s == pytest.approx(0.019)


def test_the_largest_streams_are_told_and_the_others_counted(tmp_path: Path) -> None:
    packets = [
        (START_NS + port, segment(("10.0.0.1", port, "10.0.0.2", 80), 5, size=10 if port == 2000 else 1))
        for port in range(1, MOST + 4 + 1000)
    ]
    told, further = streams({"left": captured(tmp_path, packets)}, {"10.0.0.1": "left"})
    assert (len(told), further, told[0].ends.source_port) == (MOST, 1003, 2000)


def paced(port: int, began: int, ended: int, each_ms: int) -> Talk:
    """A segment each so many ms, all acknowledged but the last of them at the latest when the next is sent."""
    talk = Talk(port=port)
    for number, at in enumerate(range(began, ended, each_ms)):
        talk.sends(at, number * SEGMENT)
        talk.answers(at + each_ms, (number + 1) * SEGMENT)
    return talk


def test_jains_index_of_each_second(tmp_path: Path) -> None:
    """1:3 is (1 + 3)^2 / (2 (1 + 9)) = 0.8, in the paper's own way (Jain, Chiu and Hawe 1984); a third joins for two seconds."""
    assert jain([1, 3]) == pytest.approx(0.8)
    assert jain([5, 5, 5]) == pytest.approx(1)
    assert jain([0, 0, 7]) == pytest.approx(1 / 3)
    assert jain([0, 0]) is None
    slow, fast = paced(1, 0, 10_000, 30), paced(2, 0, 10_000, 10)
    told = over_time(found(tmp_path, slow, fast), START_NS)
    assert told is not None
    assert (told["count"], told["interval_s"]) == (10, 1)
    assert told["mean"] == pytest.approx(0.8, abs=0.01)
    third = paced(3, 3500, 6500, 1)
    told = over_time(found(tmp_path, slow, fast, third), START_NS)
    assert told is not None
    # 33, 100 and 1000 segments in the seconds 4 and 5; in 3 and 6 it was not there all the time, and does not count.
    assert told["worst"] == pytest.approx(1133.3**2 / (3 * (33.3**2 + 100**2 + 1000**2)), abs=0.005)
    assert told["worst_s"] in (4, 5)
    assert over_time(found(tmp_path, slow), START_NS) is None


def test_who_waits_in_vain_counts_and_who_has_nothing_to_send_does_not(tmp_path: Path) -> None:
    steady_one, starved, idle = paced(1, 0, 10_000, 10), Talk(port=2), Talk(port=3)
    for second in range(11):
        starved.sends(second * 1000, 0, lost=second < 10)
    for at in (0, 9990):
        idle.sends(at, 0 if at == 0 else SEGMENT)
        idle.answers(at + 20, SEGMENT if at == 0 else 2 * SEGMENT)
    told = over_time(found(tmp_path, steady_one, starved), START_NS)
    assert told is not None
    assert told["count"] == 10
    assert told["worst"] == pytest.approx(0.5)
    told = over_time(found(tmp_path, steady_one, idle), START_NS)
    assert told is not None
    assert told["count"] == 2


def test_a_stream_that_began_in_the_warm_up_is_told_of_what_was_sent_later(tmp_path: Path) -> None:
    """Of 50 segments, one each ms from 20 ms on, the 30 that are sent at 40 ms and later."""
    talk = Talk()
    talk.opens()
    (stream,) = found(tmp_path, steady(talk, 50), from_ms=40)
    told = tcp_stream(MeasuredStream(stream, None), START_NS)
    assert (told["bytes"], told["segments"]) == (30_000, 30)
    assert told["began_s"] == pytest.approx(0.02)
    # The last byte arrives at 79 ms.
    assert told["goodput_kbps"] == pytest.approx(30_000 * 8 / 39)
    assert (told["completion_s"], told["syn_rtt_ms"]) == (None, None)
    assert told["rtt_ms"] is not None and told["in_flight_bytes"] is not None and told["reordering"] is not None
    assert (told["rtt_ms"]["count"], told["reordering"]["segments"]) == (30, 30)
    # Little: the 20 that are on the way at 40 ms are so for 0 to 19 ms more, the 30 later ones for 20 ms each; until 89 ms.
    assert told["in_flight_bytes"]["mean"] == pytest.approx((190 + 600) / 49 * SEGMENT, rel=0.01)
    (reason,) = told["reasons"]
    assert reason.startswith("it began in the warm-up")


def test_a_cut_while_nothing_is_on_its_way_tells_what_captures_from_then_on_would(tmp_path: Path) -> None:
    both, later = Talk(), Talk()
    both.opens()
    lossy(both)
    for talk in (both, later):
        talk.frames = 100
        steady(talk, 12, first=10, at=190)
        talk.sends(230, 22 * SEGMENT, lost=True)
        talk.sends(240, 22 * SEGMENT)
        talk.sends(245, 22 * SEGMENT)
        talk.answers(260, 23 * SEGMENT)
    ((cut,), (alone,)) = found(tmp_path, both, from_ms=150), found(tmp_path, later)
    assert cut.sender is not None and alone.sender is not None
    for name in ("bytes", "segments", "retransmissions", "retransmitted_bytes", "duplicate_acks", "unseen_bytes"):
        assert getattr(cut.sender, name) == getattr(alone.sender, name), name
    assert list(cut.sender.rtt_ms) == list(alone.sender.rtt_ms)
    assert (
        cut.delivered is not None and alone.delivered is not None and cut.reordering is not None and alone.reordering is not None
    )
    assert (list(cut.delivered.bytes), cut.repeated_bytes) == (list(alone.delivered.bytes), alone.repeated_bytes)
    assert cut.reordering.segments == alone.reordering.segments


def test_what_was_first_sent_in_the_warm_up_and_again_later_is_a_retransmission_and_no_new_byte(tmp_path: Path) -> None:
    talk = Talk()
    talk.opens()
    (stream,) = found(tmp_path, lossy(talk), from_ms=45)
    assert stream.sender is not None and stream.delivered is not None
    assert (stream.sender.segments, stream.sender.retransmissions, stream.sender.bytes) == (1, 1, 0)
    assert stream.delivered.bytes.size == 0 and stream.goodput_kbps is None


def test_a_stream_that_sent_nothing_after_the_warm_up_is_none(tmp_path: Path) -> None:
    early, late = Talk(port=40_000), Talk(port=40_001)
    for talk, at in ((early, 0), (late, 300)):
        talk.opens(at)
        steady(talk, 10, at=at + 20)
    (stream,) = found(tmp_path, early, late, from_ms=50)
    assert stream.ends.source_port == 40_001
    assert stream.completion_s == pytest.approx(0.019)
    assert stream.syn_rtt_ms == pytest.approx(20)
    # The last of the early one are acknowledged at 39 ms; at 25 ms it still sends.
    assert len(found(tmp_path, early, late, from_ms=25)) == 2


def test_without_a_capture_at_the_sender_the_later_arrivals_count(tmp_path: Path) -> None:
    talk = Talk()
    talk.opens()
    (stream,) = found(tmp_path, steady(talk, 50), left=False, from_ms=40)
    assert stream.delivered is not None and stream.sender is None
    # Those that are sent at 30 ms and later arrive at 40 ms and later.
    assert int(stream.delivered.bytes[-1]) == 40_000
