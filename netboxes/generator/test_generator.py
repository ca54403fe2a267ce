# SPDX-License-Identifier: GPL-2.0-or-later
"""What a generator sends and when, in virtual time, where it is never late."""

from __future__ import annotations

import re
import struct
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from contracts.installation import CHECKOUT
from netboxes.engine.virtual import Emulation, emulate, udp
from netboxes.generator.parameters import Parameters
from results import pcapng
from testbed.description.topology_file import load

#: Where a generator's sequence number and stamp are in its frames.
PAYLOAD = struct.Struct(">HQq")
PAYLOAD_AT = 42


def generate(duration_s: float | None = 1.0, events: Any = (), frames: Any = None, **parameters: Any) -> Emulation:
    stations = parameters.pop("stations", {"out": {}})
    return emulate("generator", {"stations": stations, **parameters}, frames or {}, duration_s=duration_s, events=events)


def times(ran: Emulation, station: str = "out") -> NDArray[np.int64]:
    """Departures in ns."""
    return np.rint(np.array([time for time, _ in ran.received[station]]) * 1e9).astype(np.int64)


def payloads(ran: Emulation, station: str = "out") -> list[tuple[int, int, int]]:
    return [PAYLOAD.unpack_from(frame, PAYLOAD_AT) for _, frame in ran.received[station]]


def checksum(header: bytes) -> int:
    """RFC 1071; 0 when the header's own checksum is right."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF)


def test_a_constant_rate_is_exact_to_the_nanosecond_and_does_not_drift() -> None:
    times_ns = times(generate(rate="30 kpps"))
    assert len(times_ns) == 30_000
    assert np.array_equal(times_ns, np.rint(np.arange(30_000) * 1e9 / 30e3))


def test_frames_have_the_stated_size_addresses_and_marks() -> None:
    ran = generate(
        rate="10 pps",
        size="512 B",
        dscp="ef",
        source_address="10.0.0.1",
        destination_address="10.0.0.2",
        source_mac="02:00:00:00:00:0a",
        destination_mac="02:00:00:00:00:0B",
        source_port=1000,
        destination_port=2000,
    )
    frame = ran.received["out"][0][1]
    assert len(frame) == 508
    assert frame[:14].hex() == "02000000000b02000000000a0800"
    version, tos, length, _, _, ttl, protocol, _, source, destination = struct.unpack_from(">BBHHHBBH4s4s", frame, 14)
    assert (version, tos, length, ttl, protocol) == (0x45, 46 << 2, 494, 64, 17)
    assert (source, destination) == (bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    assert struct.unpack_from(">HHHH", frame, 34) == (1000, 2000, 474, 0)


def test_the_smallest_frame_of_64_bytes_holds_number_and_time_of_departure() -> None:
    ran = generate(rate="1 kpps")
    assert {len(frame) for _, frame in ran.received["out"]} == {60}
    assert payloads(ran) == [(0x4E42, number, number * 1_000_000) for number in range(1000)]


def test_every_frame_has_its_own_identification_and_a_right_checksum() -> None:
    frames = [frame for _, frame in generate(rate="70 kpps").received["out"]]
    assert [int.from_bytes(frame[18:20]) for frame in frames] == [number & 0xFFFF for number in range(70_000)]
    assert {checksum(frame[14:34]) for frame in frames} == {0}


def test_identities_of_frames_differ() -> None:
    ran = generate(rate="10 kpps")
    assert len(np.unique(ran.records["identity"])) == 10_000


def test_a_poisson_stream_has_exponential_independent_gaps() -> None:
    gaps = np.diff(times(generate(rate="20 kpps", pattern="poisson", duration_s=5.0)))
    mean = 1e9 / 20e3
    # 100 000 gaps: standard error of the mean 0.3 %, of the variance 0.9 %; five of each.
    assert gaps.mean() == pytest.approx(mean, rel=0.016)
    assert gaps.var() == pytest.approx(mean**2, rel=0.045)
    assert np.mean(gaps > mean) == pytest.approx(np.exp(-1), abs=0.01)
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 0.016


def test_bursts_are_back_to_back_at_equal_distances_and_keep_the_mean_rate() -> None:
    times_ns = times(generate(rate="1 kpps", pattern="burst", burst=100))
    assert np.array_equal(times_ns, np.repeat(np.arange(10) * 100_000_000, 100))


def test_after_count_frames_it_stops_and_active_starts_it_anew() -> None:
    ran = generate(rate="1 kpps", count=10, events=[(0.5, "active", True)])
    assert np.array_equal(times(ran), [start + number * 1_000_000 for start in (0, 500_000_000) for number in range(10)])
    assert [number for _, number, _ in payloads(ran)] == list(range(20))
    assert ran.statistics["segment"]["stations"]["out"]["active"] is False


def test_it_starts_and_stops_while_it_runs() -> None:
    ran = generate(rate="1 kpps", active=False, events=[(0.25, "active", True), (0.5, "active", False)])
    times_ns = times(ran)
    assert (times_ns[0], times_ns[-1], len(times_ns)) == (250_000_000, 499_000_000, 250)


@pytest.mark.parametrize("pattern", ["constant", "poisson"])
def test_the_rate_changes_while_it_runs(pattern: str) -> None:
    times_ns = times(generate(rate="1 kpps", pattern=pattern, events=[(0.5, "rate", 10_000.0)]))
    assert np.sum(times_ns < 500_000_000) == pytest.approx(500, abs=0 if pattern == "constant" else 110)
    assert np.sum(times_ns >= 500_000_000) == pytest.approx(5000, abs=1 if pattern == "constant" else 350)


def test_a_slow_stream_that_is_made_faster_does_not_wait_for_its_old_gap() -> None:
    times_ns = times(generate(rate="0.01 pps", events=[(0.5, "rate", 10.0)]))
    assert list(times_ns[:3]) == [0, 500_000_000, 600_000_000]


def test_the_size_changes_while_it_runs() -> None:
    ran = generate(rate="10 pps", events=[(0.45, "size", 1518.0)])
    assert [len(frame) for _, frame in ran.received["out"]] == [60] * 5 + [1514] * 5


@pytest.mark.parametrize(
    ("parameter", "value"), [("rate", 0.0), ("size", 63.0), ("size", 64.5), ("count", -1), ("burst", 3), ("active", 1)]
)
def test_a_live_value_that_cannot_be_is_refused(parameter: str, value: object) -> None:
    with pytest.raises(Exception, match=f"generator: .*{parameter}"):
        generate(events=[(0.1, parameter, value)])


def test_statistics_tell_what_was_intended_and_what_left() -> None:
    counts = generate(rate="1 kpps", size="128 B").statistics["segment"]["stations"]["out"]
    expected = {"intended": 1000, "emitted": 1000, "refused": 0, "behind": 0, "bytes": 128_000, "rate": 1000.0}
    assert counts.items() >= expected.items()


def test_each_station_sends_a_flow_of_its_own() -> None:
    ran = generate(rate="10 pps", stations={"a": {}, "b": {}})
    ports = {station: {frame[34:36] for _, frame in ran.received[station]} for station in "ab"}
    assert ports == {"a": {(40000).to_bytes(2)}, "b": {(40001).to_bytes(2)}}
    assert len(ran.received["b"]) == 10


def test_what_reaches_it_ends_there() -> None:
    ran = generate(active=False, frames={"out": [(0.1, udp(1, 2)), (0.2, udp(2, 1))]})
    assert ran.statistics["segment"]["received"] == 2
    assert ran.received["out"] == []


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bytes]]:
    monkeypatch.setattr("netboxes.generator.parameters.CHECKOUT", tmp_path)
    monkeypatch.setattr("netboxes.generator.parameters.INSTALLATION", tmp_path)
    packets = [(10**18 + gap, udp(1, 2, size)) for gap, size in ((0, 40), (1, 50), (1, 60), (700_000_000, 1400))]
    pcapng.write(tmp_path / "call.pcapng", packets)
    return packets


def test_a_trace_is_replayed_once_as_it_is_with_its_own_spacing(recording: list[tuple[int, bytes]]) -> None:
    ran = generate(pattern="trace", trace="call.pcapng", active=False, events=[(0.1, "active", True)])
    assert [frame for _, frame in ran.received["out"]] == [frame for _, frame in recording]
    assert list(times(ran)) == [100_000_000 + time - 10**18 for time, _ in recording]


def test_a_frame_too_long_for_its_port_is_refused_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netboxes.generator.parameters.CHECKOUT", tmp_path)
    monkeypatch.setattr("netboxes.generator.parameters.INSTALLATION", tmp_path)
    pcapng.write(tmp_path / "jumbo.pcapng", [(0, bytes(9000)), (1, udp(1, 2))])
    counters = generate(pattern="trace", trace="jumbo.pcapng").statistics["segment"]["stations"]["out"]
    assert (counters["refused"], counters["emitted"]) == (1, 1)


@pytest.mark.usefixtures("recording")
def test_a_trace_has_no_rate_that_could_change() -> None:
    with pytest.raises(Exception, match="its own spacing"):
        generate(pattern="trace", trace="call.pcapng", events=[(0.1, "rate", 5.0)])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rate": "1000"}, "has no unit"),
        ({"rate": "30 Mpps"}, "outside"),
        ({"size": "63 B"}, "outside 64 B"),
        ({"size": "1519 B"}, "outside"),
        ({"pattern": "trace"}, "belong together"),
        ({"trace": "README.md"}, "belong together"),
        ({"pattern": "trace", "trace": "README.md", "rate": "5 pps"}, "leave out rate"),
        ({"pattern": "trace", "trace": "nowhere.pcapng"}, "there is no file"),
        ({"pattern": "trace", "trace": "/etc/passwd"}, "copy it below"),
        ({"burst": 5}, "pattern: burst"),
        ({"source_mac": "02:00"}, "not a MAC address"),
        ({"destination_address": "fd00::1"}, "not an IPv4 address"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate({"stations": {"a": {}}, **parameters})


def test_the_readmes_example_is_a_topology(tmp_path: Path) -> None:
    example = re.search(r"((?: {4}.*\n)+)", (Path(__file__).parent / "README.md").read_text())
    assert example
    (tmp_path / "example.yaml").write_text("name: example\n" + textwrap.dedent(example[1]))
    assert list(load(tmp_path / "example.yaml").netboxes) == ["source", "link", "drain"]


def test_a_file_that_is_no_capture_is_refused_by_the_netbox() -> None:
    assert (CHECKOUT / "README.md").exists()
    with pytest.raises(Exception, match="is not a pcapng capture"):
        generate(pattern="trace", trace="README.md")


@pytest.mark.usefixtures("recording")
def test_a_trace_of_the_other_byte_order_is_replayed(tmp_path: Path) -> None:
    """Of a big-endian machine (draft-ietf-opsawg-pcapng, 4.1); its times count milliseconds from 1000 s on."""

    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack(">I", len(body) + 12)
        return struct.pack(">I", kind) + length + body + length

    section = block(pcapng.SECTION, struct.pack(">IHHq", pcapng.BYTE_ORDER_MAGIC, 1, 0, -1))
    interface = block(pcapng.INTERFACE, struct.pack(">HHIHHB3xHHqHH", 1, 0, 0, 9, 1, 3, 14, 8, 1000, 0, 0))
    frames = [udp(1, 2, 61), udp(1, 2, 302)]
    packets = [
        block(pcapng.ENHANCED, struct.pack(">IIIII", 0, 0, at_ms, len(frame), len(frame)) + frame + bytes(-len(frame) % 4))
        for at_ms, frame in zip((500, 750), frames, strict=True)
    ]
    (tmp_path / "call.pcapng").write_bytes(section + interface + b"".join(packets))
    ran = generate(pattern="trace", trace="call.pcapng", active=False, events=[(0.1, "active", True)])
    assert [frame for _, frame in ran.received["out"]] == frames
    assert list(times(ran)) == [100_000_000, 350_000_000]


@pytest.mark.usefixtures("recording")
def test_a_trace_of_which_a_part_is_missing_is_refused_by_the_netbox(tmp_path: Path) -> None:
    content = (trace := tmp_path / "call.pcapng").read_bytes()
    trace.write_bytes(content[:120] + content[124:])
    with pytest.raises(Exception, match=r"call\.pcapng: it is damaged: a block of \d+ bytes ends as another one"):
        generate(pattern="trace", trace="call.pcapng")
