# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine in virtual time, around a segment that only delays (netboxes/engine/testing)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.netbox_configuration import LiveLimits
from contracts.shapes import shaped
from contracts.statistics import NetboxStatistics
from netboxes.engine.virtual import BROADCAST, Emulation, TimedFrame, checksum, ethernet, fragments, mac, run, udp, vlan
from netboxes.technology import program
from results import pcapng
from results.records import Fate

VECTORS = json.loads((Path(__file__).parents[2] / "results/identity_vectors.json").read_text())
DELAY = 0.25
LIVE: LiveLimits = {"segment": {"delay": {"minimum": 0.0, "maximum": 10.0, "unit": "s"}}, "stations": {}}


def wire(frames: Mapping[str, Sequence[TimedFrame]], stations: Sequence[str] = ("a", "b", "c"), **options: Any) -> Emulation:
    return run("loopwire", stations, {"delay": DELAY, **options.pop("parameters", {})}, frames, live=LIVE, **options)


def identities(emulation: Emulation) -> list[str]:
    return [f"{value:016x}" for value in emulation.records["identity"]]


def test_a_frame_leaves_unchanged_and_to_the_nanosecond_after_the_delay() -> None:
    frame = udp(1, 2, 700)
    ran = wire({"a": [(1.5, frame)]}, ["a", "b"])
    assert ran.received == {"a": [], "b": [(1.75, frame)]}
    record = ran.records[0]
    assert (record["in_ns"], record["out_ns"], record["length"]) == (1_500_000_000, 1_750_000_000, len(frame))


def test_statistics_have_the_shape_by_which_runs_are_read() -> None:
    counted = shaped(wire({"a": [(0.0, udp(1, 2))]}, ["a", "b"]).statistics, NetboxStatistics)
    assert [port["name"] for port in counted["ports"]] == ["a", "b"]
    assert counted["frames"]["delivered"] == 1


def test_the_bridge_learns_where_an_address_is() -> None:
    frames = {"a": [(0.0, udp(1, 2)), (1.0, udp(1, 2)), (2.0, ethernet(mac(1), BROADCAST, 0x88B5, b""))], "b": [(0.5, udp(2, 1))]}
    ran = wire(frames)
    assert [len(ran.received[station]) for station in "abc"] == [1, 3, 2]  # only the first unicast and the broadcast reach c


def test_a_learned_address_is_forgotten_after_300_s() -> None:
    frames = {"a": [(0.0, udp(1, 2)), (299.9, udp(3, 2)), (300.1, udp(3, 2))], "b": [(0.0, udp(2, 9))]}
    ran = wire(frames)
    assert [time for time, _ in ran.received["c"]] == [0.25, 0.25, 300.35]


def test_a_frame_whose_destination_is_behind_the_same_station_is_filtered() -> None:
    ran = wire({"a": [(0.0, udp(1, 9)), (0.1, udp(2, 1))]})
    assert len(ran.received["b"]) == 1
    assert ran.statistics["frames"]["filtered"] == 1


def test_link_local_frames_pass_but_not_pause() -> None:
    pause = ethernet(mac(1), bytes.fromhex("0180c2000001"), 0x8808, b"\0\1\xff\xff")
    bpdu = ethernet(mac(1), bytes.fromhex("0180c2000000"), 38, b"\x42\x42\x03" + bytes(35))
    ran = wire({"a": [(0.0, pause), (0.1, bpdu)]}, ["a", "b"])
    assert [frame for _, frame in ran.received["b"]] == [bpdu]
    assert ran.statistics["frames"]["link_control"] == 1


def test_layer_3_length_leaves_out_header_and_padding() -> None:
    arp = ethernet(mac(1), BROADCAST, 0x0806, bytes.fromhex("0001080006040001") + bytes(20))
    frames = [udp(1, 2, 1), udp(1, 2, 1000), udp(1, 2, 0, version=6), arp, vlan(udp(1, 2, 1), 5)]
    ran = wire({"a": [(i * 1.0, frame) for i, frame in enumerate(frames)]}, ["a", "b"])
    assert ran.statistics["segment"]["bytes"] == 29 + 1028 + 48 + 28 + 33


def test_short_and_long_frames_are_counted_and_do_not_pass() -> None:
    fits, long = ethernet(mac(1), mac(2), 0x88B5, bytes(1504)), ethernet(mac(1), mac(2), 0x88B5, bytes(1505))
    ran = wire({"a": [(0.0, b""), (0.1, bytes(13)), (0.2, fits), (0.3, long)]}, ["a", "b"])
    assert [frame for _, frame in ran.received["b"]] == [fits]
    port = ran.statistics["ports"][0]
    assert (port["received"], port["malformed"], port["oversize_drops"]) == (4, 2, 1)


PING = ethernet(mac(1), mac(2), 0x0800, bytes.fromhex("4500001c000000004001000001020304050607080800") + bytes(6))
VOICE = {"name": "voice", "match": {"dscp": [46], "protocol": "udp", "ports": [[5060, 5061], [16384, 32767]]}}


@pytest.mark.parametrize(
    ("match", "frame", "matches"),
    [
        (VOICE["match"], udp(1, 2, dscp=46, ports=(1, 20000)), True),
        (VOICE["match"], udp(1, 2, dscp=46, ports=(5061, 1)), True),
        (VOICE["match"], udp(1, 2, dscp=46, ports=(5062, 1)), False),
        (VOICE["match"], udp(1, 2, dscp=45, ports=(5060, 1)), False),
        (VOICE["match"], udp(1, 2, dscp=46, ports=(5060, 1), version=6), True),
        (VOICE["match"], vlan(udp(1, 2, dscp=46, ports=(5060, 1)), 5), True),
        ({"protocol": "tcp"}, udp(1, 2), False),
        ({"protocol": 17}, udp(1, 2), True),
        ({"protocol": "icmp"}, PING, True),
        ({"ether_type": [0x0800]}, vlan(udp(1, 2), 5), True),
        ({"ether_type": [0x0800]}, udp(1, 2, version=6), False),
        ({"source": "10.0.0.0/30"}, udp(3, 2), True),
        ({"source": "10.0.0.0/30"}, udp(4, 2), False),
        ({"destination": "fd00::2"}, udp(4, 2, version=6), True),
        ({"destination": "fd00::2"}, udp(4, 2), False),
        ({}, ethernet(mac(1), mac(2), 0x88B5, b""), True),
    ],
)  # fmt: skip
def test_a_class_takes_the_frames_for_which_all_its_conditions_hold(match: dict[str, Any], frame: bytes, matches: bool) -> None:
    ran = wire({"a": [(0.0, frame)]}, ["a", "b"], classes=[{"name": "wanted", "match": match}])
    assert ran.records["class"][0] == (0 if matches else 1)


def test_the_first_class_that_matches_wins() -> None:
    classes = [{"name": "telephony", "match": {"dscp": [46]}}, VOICE, {"name": "all", "match": {}}]
    ran = wire({"a": [(0.0, udp(1, 2, dscp=46, ports=(5060, 1))), (1.0, udp(1, 2))]}, ["a", "b"], classes=classes)
    assert list(ran.records["class"]) == [0, 2]


SIP = [{"name": "sip", "match": {"ports": [[5060, 5060]]}}]


def sip_fragments(identification: int, version: int = 4) -> list[bytes]:
    """Three, of which only the first one has ports."""
    packet = udp(1, 2, ports=(5060, 5060), identification=identification, version=version)
    return fragments(packet, 40, identification)


@pytest.mark.parametrize("version", [4, 6])
def test_later_fragments_have_the_class_of_the_first_one(version: int) -> None:
    """Also when those of two packets take turns, and when the last one overtakes the middle one."""
    first, other = (sip_fragments(identification, version) for identification in (7, 8))
    sent = [first[0], other[0], other[1], first[2], first[1], other[2]]
    ran = wire({"a": [(at * 1.0, frame) for at, frame in enumerate(sent)]}, ["a", "b"], classes=SIP)
    assert list(ran.records["class"]) == [0] * 6


def test_a_fragment_without_a_known_first_one_is_classified_by_itself() -> None:
    first, second, _ = sip_fragments(7)
    frames = {
        "a": [
            (0.0, second),  # before the first one
            (1.0, first),
            (2.0, sip_fragments(8)[1]),  # another packet's
            (3.0, second),
            (62.0, second),  # after the time in which a host reassembles
        ],
        "b": [(4.0, second)],  # at another station
    }
    ran = wire(frames, ["a", "b"], classes=SIP)
    classes = {int(record["in_ns"]) // 10**9: int(record["class"]) for record in ran.records}
    assert classes == {0: 1, 1: 0, 2: 1, 3: 0, 4: 1, 62: 1}


def ipv6_with_extensions(*headers: tuple[int, bytes]) -> bytes:
    """A UDP datagram to port 5060 behind extension headers: pairs of header type and its bytes after "next header"."""
    plain = udp(1, 2, 20, ports=(5060, 5060), version=6)
    types = [kind for kind, _ in headers] + [17]
    chain = b"".join(bytes([following]) + rest for (_, rest), following in zip(headers, types[1:], strict=True))
    length = (len(plain) - 54 + len(chain)).to_bytes(2, "big")
    return plain[:18] + length + bytes([types[0]]) + plain[21:54] + chain + plain[54:]


@pytest.mark.parametrize(
    ("headers", "classified"),
    [
        ([(0, b"\0" + bytes(6))], True),
        ([(0, b"\1" + bytes(14)), (60, b"\0" + bytes(6)), (43, b"\0" + bytes(6))], True),
        ([(51, b"\4" + bytes(22))], True),
        ([(44, b"\0\0\1" + bytes(4))], True),
        ([(44, b"\0\0\x09" + bytes(4))], False),
        ([(0, b"\xff" + bytes(6))], False),
        ([(50, bytes(7))], False),
    ],
)
def test_ports_are_found_behind_the_extension_headers_of_ipv6(
    headers: list[tuple[int, bytes]],
    classified: bool,
) -> None:
    frame = ipv6_with_extensions(*headers)
    ran = wire({"a": [(0.0, frame)]}, ["a", "b"], classes=[{"name": "sip", "match": {"ports": [[5060, 5060]]}}])
    assert ran.records["class"][0] == (0 if classified else 1)


def test_identities_agree_with_the_vectors() -> None:
    frames = [(i * 1.0, bytes.fromhex(vector["frame"])) for i, vector in enumerate(VECTORS)]
    assert identities(wire({"a": frames}, ["a", "b"])) == [vector["identity"] for vector in VECTORS]


@settings(max_examples=20)
@given(
    st.lists(st.binary(max_size=120), max_size=60),
    st.lists(st.sampled_from([0x0800, 0x86DD, 0x8100, 0x88A8, 0x0806]), min_size=1),
)
def test_no_frame_upsets_the_netbox(contents: list[bytes], kinds: list[int]) -> None:
    heads = [mac(i % 3) + mac(3 + i % 2) + kinds[i % len(kinds)].to_bytes(2, "big") for i in range(len(contents))]
    frames = [(i * 0.001, head + content) for i, (head, content) in enumerate(zip(heads, contents, strict=True))]
    ran = wire({"a": frames}, ["a", "b"], classes=[VOICE])
    assert [frame for _, frame in ran.received["b"]] == [frame for _, frame in frames]


CLASSES = [
    {"name": name, "match": {"dscp": [dscp]}}
    for dscp, name in enumerate(["", "lost", "forgotten", "doubled", "repeated", "damaged", "marked"])
    if name
]


def test_a_lost_copy_is_recorded_with_its_reason() -> None:
    ran = wire({"a": [(0.0, udp(1, 2, dscp=1))]}, classes=CLASSES)
    assert list(ran.records["fate"]) == [Fate.ON_AIR, Fate.ON_AIR]
    assert list(ran.records["out_ns"]) == [0, 0]
    assert ran.statistics["frames"]["lost"]["on_air"] == 2


def test_a_repeated_frame_has_a_time_and_a_record_of_its_own() -> None:
    frame = udp(1, 2, dscp=4)
    ran = wire({"a": [(0.5, frame)]}, ["a", "b"], classes=CLASSES)
    assert ran.received["b"] == [(0.75, frame), (1.0, frame)]
    assert [int(record["in_ns"]) for record in ran.records] == [500_000_000] * 2
    assert [int(record["out_ns"]) for record in ran.records] == [750_000_000, 1_000_000_000]
    counted = ran.statistics["frames"]
    assert (counted["repeated"], counted["delivered"], counted["duplicates"], counted["inside"]) == (1, 2, 0, 0)


def test_a_damaged_frame_arrives_damaged_and_is_still_known() -> None:
    frame = udp(1, 2, dscp=5)
    ran = wire({"a": [(0.5, frame)]}, ["a", "b"], classes=CLASSES)
    assert ran.received["b"] == [(0.75, frame[:-1] + bytes([frame[-1] ^ 0xFF]))]
    whole = wire({"a": [(0.5, frame)]}, ["a", "b"])
    assert identities(ran) == identities(whole)


def with_ecn(frame: bytes, codepoint: int) -> bytes:
    """A packet of IPv4 with another ECN field (RFC 3168, 5), and a checksum of its header that is computed anew."""
    header = bytearray(frame[14:34])
    header[1] = header[1] & 0xFC | codepoint
    header[10:12] = bytes(2)
    header[10:12] = checksum(bytes(header)).to_bytes(2)
    return frame[:14] + bytes(header) + frame[34:]


@pytest.mark.parametrize("codepoint", [1, 2])
def test_a_copy_is_marked_and_those_for_other_stations_are_not(codepoint: int) -> None:
    frame = with_ecn(udp(1, 2, dscp=6), codepoint)
    ran = wire({"a": [(0.5, frame)]}, classes=CLASSES)
    assert ran.received["b"] == [(0.75, with_ecn(frame, 3))]
    assert ran.received["c"] == [(0.75, frame)]
    assert len(set(identities(ran))) == 1 and list(ran.records["fate"]) == [Fate.DELIVERED, Fate.DELIVERED]
    assert (ran.statistics["frames"]["marked"], ran.statistics["frames"]["inside"]) == (1, 0)


def test_a_packet_that_is_not_capable_of_ecn_is_not_marked() -> None:
    frame = udp(1, 2, dscp=6)
    ran = wire({"a": [(0.5, frame)]}, ["a", "b"], classes=CLASSES)
    assert ran.received["b"] == [(0.75, frame)]
    assert ran.statistics["frames"]["marked"] == 0


def test_a_forgotten_frame_expires_after_30_s() -> None:
    ran = wire({"a": [(0.0, udp(1, 2, dscp=2)), (7.0, udp(1, 2, dscp=2)), (8.0, udp(1, 2))]}, ["a", "b"], classes=CLASSES)
    assert ran.statistics["frames"]["lost"]["unknown"] == 2
    assert ran.statistics["frames"]["inside"] == 0
    assert list(ran.records["fate"]) == [Fate.DELIVERED, Fate.UNKNOWN, Fate.UNKNOWN]


def test_a_second_copy_is_ignored_and_counted() -> None:
    ran = wire({"a": [(0.0, udp(1, 2, dscp=3))]}, classes=CLASSES)
    assert [len(ran.received[station]) for station in "abc"] == [0, 1, 1]
    assert ran.statistics["frames"]["duplicates"] == 2


ENDS = [{"name": name, "match": {"dscp": [dscp]}} for dscp, name in enumerate(["absorbed", "echoed"], 1)]


def test_a_frame_that_the_segment_absorbs_ends_there_and_is_not_lost() -> None:
    ran = wire({"a": [(1.5, udp(1, 2, dscp=1))]}, classes=ENDS)
    assert ran.received == {"a": [], "b": [], "c": []}
    assert (ran.statistics["frames"]["absorbed"], ran.statistics["frames"]["inside"]) == (1, 0)
    assert sum(ran.statistics["frames"]["lost"].values()) == 0
    record = ran.records[0]
    assert (record["fate"], record["station_out"], record["in_ns"], record["out_ns"]) == (0, 0, 1_500_000_000, 1_500_000_000)
    assert ran.statistics["segment"]["latest"] == 1_500_000_000


def test_a_frame_that_the_segment_emits_leaves_at_that_port_at_that_time() -> None:
    frame = udp(1, 2, dscp=2)
    ran = wire({"b": [(1.5, frame)]}, classes=ENDS)
    assert ran.received == {"a": [], "b": [(1.5, frame)], "c": []}
    assert ran.statistics["frames"]["emitted"] == 1
    assert identities(ran)[0] == identities(ran)[1]


def test_a_netbox_that_holds_all_it_can_emits_nothing_more() -> None:
    forgotten = [(i * 1e-6, udp(1, 2, 0, dscp=3)) for i in range(65533)]
    classes = [*ENDS, {"name": "forgotten", "match": {"dscp": [3]}}]
    ran = wire({"a": [*forgotten, (1.0, udp(1, 2, dscp=2))]}, ["a", "b"], classes=classes)
    assert (ran.statistics["segment"]["refused"], ran.statistics["frames"]["emitted"]) == (1, 0)


def test_an_end_of_the_network_is_offered_every_frame_even_at_its_only_station() -> None:
    pause = ethernet(mac(1), bytes.fromhex("0180c2000001"), 0x8808, b"\0\1\xff\xff")
    frames = {"a": [(0.0, udp(1, 2, dscp=1)), (0.1, udp(2, 1, dscp=1)), (0.2, pause)]}
    ran = wire(
        frames, ["a"], parameters={"end": True}, classes=[ENDS[0], {"name": "absorbed", "match": {"ether_type": [0x8808]}}]
    )
    assert ran.statistics["frames"]["absorbed"] == 3
    assert len(ran.records) == 3


def test_when_all_slots_are_taken_frames_are_dropped_and_counted() -> None:
    forgotten = [(i * 1e-6, udp(1, 2, 0, dscp=2)) for i in range(65600)]
    ran = wire({"a": [*forgotten, (31.0, udp(1, 2))]}, ["a", "b"], classes=CLASSES)
    dropped = ran.statistics["ports"][0]["overload_drops"]
    assert dropped + ran.statistics["frames"]["lost"]["unknown"] == len(forgotten)
    assert 0 < dropped < 70
    assert len(ran.received["b"]) == 1  # the netbox lives on


def test_live_changes_happen_at_their_time() -> None:
    ran = wire({"a": [(i * 1.0, udp(1, 2)) for i in range(3)]}, ["a", "b"], events=[(0.5, "delay", 0.1), (2.0, "delay", 0.2)])
    assert [time for time, _ in ran.received["b"]] == [0.25, 1.1, 2.2]


def test_the_run_ends_1_s_after_the_last_frame_has_left_or_after_its_duration() -> None:
    frames = {"a": [(0.0, udp(1, 2)), (3.0, udp(1, 2))]}
    ticking = {"tick": 0.1}
    until_done = wire(frames, ["a", "b"], parameters=ticking)
    # 41 ticks, the beginning, and what the two frames take.
    assert until_done.statistics["lateness_us"]["event"]["count"] == pytest.approx(44, abs=2)
    cut = wire(frames, ["a", "b"], parameters=ticking, duration_s=2.0)
    assert len(cut.received["b"]) == 1


def test_the_journal_has_what_happened_and_the_statistics_at_each_interval() -> None:
    frames = {"a": [(1.0, udp(1, 2)), (3.0, udp(1, 2))]}
    ran = wire(frames, ["a", "b"], events=[(2.5, "delay", 0.1)], interval_s=0.5, duration_s=3.2)
    began, *lines = ran.journal
    assert list(began) == ["began_ns"]
    # Its time 0 is when the first frame enters, at 1 s.
    assert [line["at_s"] for line in lines if "statistics" in line] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert ran.events("set") == [{"at_s": 1.5, "event": "set", "parameter": "delay", "value": 0.1}]
    assert ran.statistics["events"] == ran.events("set")
    assert ran.statistics["journal"] == {"dropped": 0}


def capture_run(folder: Path) -> list[bytes]:
    """All that a run of random-looking traffic leaves, as bytes."""
    generator = np.random.default_rng(7)
    folder.mkdir()
    stations = []
    for number, name in enumerate("abc"):
        times = np.sort(generator.integers(0, 10**9, 300)) + 10**18
        frames = [(int(t), udp(number, int(generator.integers(0, 4)), int(generator.integers(0, 1400)))) for t in times]
        pcapng.write(folder / f"{name}.pcapng", frames)
        port = {"kind": "pcapng", "input": str(folder / f"{name}.pcapng"), "output": str(folder / f"{name}.out")}
        stations.append({"name": name, "port": port})
    outputs = {"records": str(folder / "frames.bin"), "statistics": str(folder / "statistics.json")}
    configuration = {
        "name": "x",
        "technology": "loopwire",
        "clock": "virtual",
        "live": LIVE,
        "stations": stations,
        "parameters": {"delay": 0.01},
    }
    (folder / "netbox.json").write_text(json.dumps({**configuration, **outputs}))
    subprocess.run([program("loopwire"), folder / "netbox.json"], check=True)
    return [(folder / name).read_bytes() for name in ("a.out", "b.out", "c.out", "frames.bin", "statistics.json")]


def test_two_runs_leave_the_same_bytes(tmp_path: Path) -> None:
    first = capture_run(tmp_path / "first")
    assert first == capture_run(tmp_path / "second")
    assert next(iter(pcapng.read(tmp_path / "first" / "b.out"))).time_ns >= 10**18
