# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of TCP and of queues of whole runs, against Wireshark's analysis of the same captures and against queueing theory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from results import records
from testbed.run import DRAIN_S

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

#: Of frames of 1250 bytes, which take 1 ms each, so many that the line is busy for 0.8 of the time.
FRAME, HEADERS, LOAD_S = 1250, 42, 60
POISSON_KBPS = 0.8 * 10e3 * (FRAME - 14) / FRAME

#: What lies between two hosts besides a rate of 10 Mbit/s and 10 ms, and what goes through it.
LINES = {
    "lossy": ("loss: 0.01, queue: {bytes: 100 kB}", "application: bulk, size: 2 MB, parallel: 2, duration: 60 s"),
    "clean": ("queue: {bytes: 3 MB}", "application: bulk, size: 1 MB, duration: 60 s"),
    "mixed": (
        "queue: {bytes: 3 MB}, reordering: {probability: 0.01, by: 4 ms}",
        "application: bulk, size: 1 MB, duration: 60 s",
    ),
    "busy": (
        "queue: {packets: 1000}",
        f"application: udp-flow, pattern: poisson, payload: {FRAME - HEADERS} B, rate: {POISSON_KBPS:.3f} kbit/s, duration: 90 s",
    ),
}
#: One that every program on this machine may take.
_VARIANT = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip().replace("reno", "newreno")
IN_A_LAB = {
    "lab": ("loss: 0.005, queue: {bytes: 100 kB}", f"application: bulk, size: 4 MB, duration: 30 s, variant: {_VARIANT}"),
}


def topology(lines: Mapping[str, tuple[str, str]]) -> str:
    """A host left and one right of each line."""
    parts = ["name: lines", "seed: 11", f"centre: right-{next(iter(lines))}", "realtime: {limit: 50 ms}", "hosts:"]
    for number, name in enumerate(lines):
        parts += [f"  {side}-{name}: {{address: 10.0.{number}.{at}/24}}" for at, side in ((1, "left"), (2, "right"))]
    parts.append("netboxes:")
    for name, (between, _) in lines.items():
        parts.append(f"  {name}: {{technology: link, stations: {{a: {{}}, b: {{}}}}, rate: 10 Mbit/s, delay: 10 ms, {between}}}")
    parts.append("wires:")
    parts += [f"  - [{end}]" for name in lines for end in (f"left-{name}, {name}.a", f"{name}.b, right-{name}")]
    parts.append("traffic:")
    parts += [f"  {name}: {{from: left-{name}, to: right-{name}, {traffic}}}" for name, (_, traffic) in lines.items()]
    return "\n".join(parts) + "\n"


#: Columns of `wireshark`.
SOURCE, SIZE, AGAIN, OUT_OF_ORDER, DUPLICATE, RTT, FLIGHT, WINDOW, FIRST_RTT, IS_SYN, NEXT, ACKED = range(12)
FIELDS = (
    *("ip.src", "tcp.len", "tcp.analysis.retransmission", "tcp.analysis.out_of_order"),
    *("tcp.analysis.duplicate_ack_num", "tcp.analysis.ack_rtt", "tcp.analysis.bytes_in_flight", "tcp.window_size"),
    *("tcp.analysis.initial_rtt", "tcp.flags.syn", "tcp.nxtseq", "tcp.ack"),
)
#: As one version of tshark or another writes flags.
TRUE = ("1", "True")


def ran(folder: Path, lines: Mapping[str, tuple[str, str]], *arguments: str, **environment: str) -> Path:
    """The run folder."""
    (file := folder / "lines.yaml").write_text(topology(lines))
    command: list[str | Path] = [CHECKOUT / "netboxit.py", "run", file, "--results", folder / "results", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return folder / "results/latest"


@pytest.fixture(scope="module")
def virtual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("virtual"), LINES, "--virtual", "--duration", f"{LOAD_S}s")


def metrics(run: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((run / "metrics.json").read_text())
    return document


def wireshark(run: Path, host: str, stream: Mapping[str, Any]) -> list[list[str]]:
    """Of the connection of a stream, the fields of each segment at a host."""
    ports = f"tcp.port == {stream['source_port']} && tcp.port == {stream['destination_port']}"
    if stream["source_port"] == stream["destination_port"]:
        ports = f"tcp.srcport == {stream['source_port']} && tcp.dstport == {stream['source_port']}"
    fields = [word for name in FIELDS for word in ("-e", name)]
    command = ["tshark", "-r", str(run / f"captures/{host}.pcapng"), "-Y", ports, "-T", "fields", *fields]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [row.split("\t") for row in told.splitlines()]


def is_left(row: Sequence[str]) -> bool:
    return row[SOURCE].endswith(".1")


def streams_of(run: Path, traffic: str) -> list[dict[str, Any]]:
    return [stream for stream in metrics(run)["tcp"] if stream["traffic"] == traffic]


def agrees_at_the_sender(stream: Mapping[str, Any], segments: Sequence[Sequence[str]]) -> None:
    """In all that both mean alike. Out of order at the sender is what is sent again soon after other data."""
    data = [row for row in segments if is_left(row) and int(row[SIZE])]
    again = [int(row[SIZE]) for row in data if row[AGAIN] or row[OUT_OF_ORDER]]
    assert (stream["segments"], stream["retransmissions"], stream["retransmitted_bytes"]) == (len(data), len(again), sum(again))
    # The answer to a FIN repeats a number, but no data is outstanding then (RFC 5681, 2).
    end = max(int(row[NEXT]) for row in data if row[NEXT])
    duplicates = [row for row in segments if not is_left(row) and row[DUPLICATE] and int(row[ACKED]) < end]
    assert stream["duplicate_acks"] == len(duplicates)
    assert stream["syn_rtt_ms"] == pytest.approx(1e3 * float(data[-1][FIRST_RTT]), rel=0.05)
    windows = [int(row[WINDOW]) for row in segments if not is_left(row) and row[IS_SYN] not in TRUE]
    assert (stream["window_bytes"]["min"], stream["window_bytes"]["max"]) == (min(windows), max(windows))


def rtt_ms(segments: Sequence[Sequence[str]]) -> list[float]:
    """Of data that left sent; numbers count from its SYN."""
    return sorted(1e3 * float(row[RTT]) for row in segments if not is_left(row) and row[RTT] and int(row[ACKED]) > 1)


def test_losses_in_virtual_time_are_told_as_wireshark_tells_them(virtual: Path) -> None:
    streams = streams_of(virtual, "lossy")
    assert sorted(stream["flow"] for stream in streams) == ["lossy.1", "lossy.2"]
    for stream in streams:
        agrees_at_the_sender(stream, wireshark(virtual, "left-lossy", stream))
        assert stream["retransmissions"] > 5
        assert (stream["bytes"], stream["reordering"]["reordered"], stream["unseen_bytes"]) == (2_000_000, 0, 0)
        assert (stream["ended"], stream["reasons"]) == ("fin", [])
    (fairness,) = metrics(virtual)["fairness"]
    assert (fairness["netboxes"], sorted(fairness["flows"])) == (["lossy"], ["lossy.1", "lossy.2"])
    assert 0.5 < fairness["intervals"]["worst"] <= fairness["intervals"]["mean"] <= 1
    page = (virtual / "report.html").read_text()
    assert "<h3>TCP</h3>" in page
    assert "<h3>How streams of TCP shared netboxes</h3>" in page
    assert "<h2>Queues</h2>" in page


def test_round_trips_and_bytes_in_flight_are_wiresharks_where_nothing_is_lost(virtual: Path) -> None:
    (stream,) = streams_of(virtual, "clean")
    segments = wireshark(virtual, "left-clean", stream)
    agrees_at_the_sender(stream, segments)
    times = rtt_ms(segments)
    told = stream["rtt_ms"]
    assert told["count"] == len(times)
    assert told["min"] == pytest.approx(times[0], abs=1e-3)
    assert told["max"] == pytest.approx(times[-1], abs=1e-3)
    assert told["mean"] == pytest.approx(sum(times) / len(times), abs=1e-3)
    assert told["p50"] == pytest.approx(times[(len(times) - 1) // 2], abs=1e-3)
    assert stream["in_flight_bytes"]["max"] == max(int(row[FLIGHT]) for row in segments if row[FLIGHT])


def test_reordering_is_what_wireshark_finds_out_of_order(virtual: Path) -> None:
    """At the receiver Wireshark has nothing but numbers: a segment that was sent again without need seems to be late, too."""
    (stream,) = streams_of(virtual, "mixed")
    data = [row for row in wireshark(virtual, "right-mixed", stream) if is_left(row) and int(row[SIZE])]
    late = sum(bool(row[AGAIN] or row[OUT_OF_ORDER]) for row in data)
    reordered = stream["reordering"]["reordered"]
    assert 3 < reordered <= late <= reordered + stream["retransmissions"]
    # A frame takes 1.2 ms: at most four overtake one that is held back for 4 ms.
    assert 1 <= stream["reordering"]["extent_max"] <= 4
    assert stream["reordering"]["late_ms_max"] <= 4


def test_a_queue_is_as_long_as_arrivals_and_theory_make_it(virtual: Path) -> None:
    """Lindley's recursion on the arrivals gives its mean to the last digit, M/D/1 (netboxes/queueing/test_queue.cc) to 15 %.

    After the traffic nothing waits.
    """
    (queue,) = [one for one in metrics(virtual)["queues"] if (one["netbox"], one["station"]) == ("busy", "a")]
    statistics = json.loads((virtual / "nodes/busy/statistics.json").read_text())
    measured_s = sum(statistics["segment"]["stations"]["a"]["queue"]["length_s"])
    assert measured_s == pytest.approx(LOAD_S + DRAIN_S, abs=1e-3), "not since its netbox was made"
    arrivals = records.read(virtual / "nodes/busy/frames.bin")
    free_ns, waited_ns = 0, 0
    for at_ns in sorted(arrivals["in_ns"][arrivals["length"] == FRAME].tolist()):
        begins_ns = max(at_ns, free_ns)
        waited_ns, free_ns = waited_ns + begins_ns - at_ns, begins_ns + 1_000_000
    assert queue["mean"] == pytest.approx(waited_ns / 1e9 / measured_s, rel=1e-9)
    assert queue["mean"] * measured_s / LOAD_S == pytest.approx(1.6, rel=0.15)
    assert 1 - (1 - queue["empty"]) * measured_s / LOAD_S == pytest.approx(0.4451, abs=0.03)
    assert (queue["p50"], queue["p90"]) in ((0, 4), (1, 4), (1, 5))
    assert queue["p99"] == pytest.approx(10, abs=2)


@pytest.mark.lab
def test_a_transfer_of_iperf3_through_a_lab_is_told_as_wireshark_tells_it(tmp_path: Path) -> None:
    (state := tmp_path / "state").mkdir()
    run = ran(tmp_path, IN_A_LAB, "--name", f"measures{os.getpid()}", NETBOXIT_STATE=str(state))
    (stream,) = streams_of(run, "lab")
    segments = wireshark(run, "left-lab", stream)
    agrees_at_the_sender(stream, segments)
    assert stream["retransmissions"] > 0
    assert stream["bytes"] >= 4_000_000
    times = rtt_ms(segments)
    assert stream["rtt_ms"]["min"] == pytest.approx(times[0], abs=1e-3)
    assert stream["rtt_ms"]["p50"] == pytest.approx(times[len(times) // 2], rel=0.05)
    assert stream["largest_segment"] <= stream["mss"]
