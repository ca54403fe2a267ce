# SPDX-License-Identifier: GPL-2.0-or-later
"""Transfers by TCP. A line of 10 Mbit/s and 20 ms carries 1448 bytes of data in frames of 1514."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from applications.application import ApplicationFailed
from applications.bulk.application import Bulk, BulkOptions
from applications.conftest import ALLOWED, NamespaceHosts, captured, metrics_of, traffic_plan
from applications.congestion_control import VIRTUAL_ONLY
from applications.congestion_control_of_host import VariantMissing
from applications.registry import applications
from applications.segment_size import SegmentTooSmall
from contracts.installation import CHECKOUT
from results import pcapng
from results.datagram import datagram
from results.pages import count
from testbed.virtual_time.hosts import _of_host

#: Flags of TCP (RFC 9293, 3.1).
SYN_AND_ACK = 0x12
EF = 46
MEGABYTES_2 = 2_000_000
RATE, DELAY_S, DATA, FRAME = 10e6, 0.02, 1448, 1514
#: There and back, with the time of a frame on the line.
RTT_S = 2 * DELAY_S + FRAME * 8 / RATE

LINE = """\
name: line
seed: 5
centre: right
hosts:
  left: {{address: {left}}}
  right: {{address: {right}}}
netboxes:
  line:
    technology: link
    stations: {{a: {{}}, b: {{}}}}
    rate: 10 Mbit/s
    delay: 20 ms
    queue: {{bytes: {queue}}}
    loss: {loss}
wires: [[left, line.a], [line.b, right]]
realtime: {{limit: 50 ms}}
traffic:
  file: {{application: bulk, from: left, to: right, {options}}}
"""
ADDRESSES = {4: ("10.0.0.1/24", "10.0.0.2/24"), 6: ("fd00::1/64", "fd00::2/64")}


def frames_s(data: float) -> float:
    """How long the line takes for so many bytes."""
    return data / DATA * FRAME * 8 / RATE


def ran(
    folder: Path,
    options: str,
    *arguments: str,
    queue: str = "200 kB",
    loss: float = 0.0,
    version: int = 4,
    further: str = "",
    **environment: str,
) -> dict[str, Any]:
    """The metrics of a run."""
    left, right = ADDRESSES[version]
    (file := folder / "line.yaml").write_text(
        LINE.format(left=left, right=right, queue=queue, loss=loss, options=options) + further
    )
    return metrics_of(file, *arguments, environment=environment)


def made(folder: Path, hosts: NamespaceHosts | None = None, **options: object) -> Bulk:
    said = BulkOptions.model_validate(options)
    return Bulk(traffic_plan("bulk", **said.model_dump(mode="json")), hosts, folder)  # type: ignore[arg-type]


def test_it_is_found_by_its_name() -> None:
    assert applications()["bulk"] is Bulk


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "cubik"}, "did you mean cubic"),
        ({"variant": "westwood"}, r"did you mean westwood\+"),
        ({"variant": "reno1999"}, "did you mean reno-1999"),
        ({"variant": "?"}, "use one of newreno, "),
        ({"parallel": 65}, "less than or equal to 64"),
        ({"parallel": 2, "port": 65_535}, "end beyond 65535"),
        ({"port": 80}, "greater than or equal to 1024"),
        ({"mss": 47}, "greater than or equal to 48"),
        ({"window": "4 kB"}, "4 KiB"),
        ({"size": "0 B"}, "1 B"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        BulkOptions.model_validate(options)


def test_flows_are_the_data_of_each_connection(tmp_path: Path) -> None:
    bulk = made(tmp_path, parallel=2, port=7000)
    real, virtual = bulk.flows(), Bulk.virtual(bulk.plan).flows
    assert [(flow.name, flow.source_ports, flow.destination_ports) for flow in real] == [
        ("talk.1", (7000, 7000), (7000, 7000)),
        ("talk.2", (7000, 7000), (7001, 7001)),
    ]
    assert [(flow.source_ports, flow.destination_ports) for flow in virtual] == [
        ((7000, 7000), (7000, 7000)),
        ((7001, 7001), (7000, 7000)),
    ]
    assert {(flow.protocol, flow.direction) for flow in (*real, *virtual)} == {("tcp", "return")}


def test_a_transfer_takes_as_long_as_its_frames_and_slow_start(tmp_path: Path) -> None:
    """Slow start from 10 segments fills the 35 that are on the way in two round trips; 6 are generous."""
    document = ran(tmp_path, "size: 2 MB, duration: 10 s", "--virtual", queue="3 MB")
    (transfer,) = document["transfers"]
    assert frames_s(MEGABYTES_2) + DELAY_S < transfer["completed_s"] < frames_s(MEGABYTES_2) + 6 * RTT_S
    assert (transfer["bytes"], transfer["size"], transfer["fairness"]) == (MEGABYTES_2, MEGABYTES_2, None)
    assert transfer["goodput_kbps"] == pytest.approx(MEGABYTES_2 * 8e-3 / transfer["completed_s"])
    (flow,) = document["flows"]
    assert (flow["loss_ratio"], flow["direction"]) == (0, "return")
    page = (tmp_path / "results/latest/report.html").read_text()
    assert "<h3>Transfers</h3>" in page
    assert f"<td>{count(MEGABYTES_2)}</td>" in page


def test_one_without_a_size_lasts_as_long_as_its_duration(tmp_path: Path) -> None:
    (transfer,) = ran(tmp_path, "start: 1 s, duration: 5 s, dscp: ef", "--virtual")["transfers"]
    assert transfer["bytes"] == pytest.approx(5 * RATE / 8 * DATA / FRAME, rel=0.1)
    assert transfer["goodput_kbps"] == pytest.approx(RATE / 1e3 * DATA / FRAME, rel=0.1)
    assert transfer["completed_s"] is None
    packets = [datagram(packet.data) for packet in pcapng.read(tmp_path / "results/latest/captures/left.pcapng")]
    assert {packet.dscp for packet in packets if packet and packet.payload_bytes} == {EF}


def test_segments_are_as_long_as_said(tmp_path: Path) -> None:
    """Of 500 bytes with 12 of timestamps, as in Linux (RFC 9293, 3.7.1: the MSS counts no options; RFC 6691: the sender does)."""
    ran(tmp_path, "size: 100 kB, duration: 10 s, mss: 500", "--virtual", queue="3 MB")
    captured = pcapng.read(tmp_path / "results/latest/captures/left.pcapng")
    data = [found.payload_bytes for frame in captured if (found := datagram(frame.data)) is not None and found.payload_bytes]
    assert max(data) == 488
    assert sum(data) == 100_000


def test_segments_of_the_tcp_of_1999_have_no_options(tmp_path: Path) -> None:
    """Of 50 bytes, as on the slowest link of Xylomenos (1999, table 3.1)."""
    ran(tmp_path, "size: 10 kB, duration: 60 s, variant: reno-1999, mss: 50", "--virtual", queue="3 MB")
    captured = pcapng.read(tmp_path / "results/latest/captures/left.pcapng")
    data = [found.payload_bytes for frame in captured if (found := datagram(frame.data)) is not None and found.payload_bytes]
    assert data == [50] * 200


def test_a_segment_that_linux_refuses_is_an_error_in_real_time(tmp_path: Path) -> None:
    """TCP_MIN_MSS; setsockopt(TCP_MAXSEG) says EINVAL."""
    with socket.socket() as own, pytest.raises(OSError, match="Invalid argument"):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 87)
    kernel: Any = Kernel("reno cubic", "reno cubic")
    with pytest.raises(SegmentTooSmall, match="Linux takes no `mss` below 88, and it asks for 87; run the file with --virtual"):
        made(tmp_path / "talk", kernel, mss=87).prepare()
    made(tmp_path / "talk", kernel, mss=88).prepare()


def test_a_window_is_sent_each_round_trip(tmp_path: Path) -> None:
    """Goodput is window over round trip (RFC 1323, 1.1), with the time that its last frame takes on the line."""
    window = 20 * DATA
    document = ran(tmp_path, f"size: 1 MB, duration: 20 s, window: {window} B", "--virtual", queue="3 MB")
    (transfer,) = document["transfers"]
    rounds = 1_000_000 / window
    assert transfer["completed_s"] == pytest.approx(rounds * (RTT_S + FRAME * 8 / RATE), rel=0.1)


def test_from_the_slow_start_threshold_a_window_grows_by_a_segment_in_each_round_trip(tmp_path: Path) -> None:
    """RFC 5681, 3.1: 245 segments are windows of 10, 11, …, 24. These are fewer than are on the way, so none waits.

    The last segment of an odd window is acknowledged after 40 ms (Linux). Slow start would be over after five round trips.
    """
    size, windows, delayed_acks_s = 245 * DATA, 15, 7 * 0.04
    options = f"size: {size} B, duration: 10 s, variant: newreno, initial_ssthresh: {10 * DATA} B"
    (transfer,) = ran(tmp_path, options, "--virtual", queue="3 MB")["transfers"]
    assert windows * RTT_S < transfer["completed_s"] < (1 + windows) * RTT_S + delayed_acks_s


def test_a_slow_start_threshold_is_of_virtual_time_alone(tmp_path: Path) -> None:
    with pytest.raises(ApplicationFailed, match=r"talk: a kernel's connections begin without a slow-start threshold"):
        made(tmp_path, initial_ssthresh="5 kB").prepare()


def test_two_connections_are_fair(tmp_path: Path) -> None:
    document = ran(tmp_path, "parallel: 2, duration: 20 s", "--virtual")
    (transfer,) = document["transfers"]
    assert 0.9 < transfer["fairness"] <= 1
    assert [one["flow"] for one in transfer["connections"]] == ["file.1", "file.2"]
    assert sum(one["bytes"] for one in transfer["connections"]) == transfer["bytes"]


# All are in netboxes/endpoints/test_tcp.py: what a file says comes to them one way.
@pytest.mark.parametrize("variant", ["cubic", *(pytest.param(name, marks=pytest.mark.long) for name in ("dctcp", "noordwijk"))])
def test_every_byte_is_delivered_in_spite_of_losses(variant: str, tmp_path: Path) -> None:
    version = 6 if variant == "cubic" else 4
    options = f"size: 2 MB, parallel: 2, variant: {variant}, duration: 60 s"
    document = ran(tmp_path, options, "--virtual", loss=0.01, version=version)
    (transfer,) = document["transfers"]
    assert [one["bytes"] for one in transfer["connections"]] == [MEGABYTES_2, MEGABYTES_2]
    assert transfer["completed_s"] > frames_s(2 * MEGABYTES_2)
    # Two of noordwijk do not see each other, and each sends as fast as the line is (netboxes/endpoints/README.md).
    most = 0.6 if variant == "noordwijk" else 0.1
    assert all(0 < flow["loss_ratio"] < most for flow in document["flows"])


def test_datagrams_and_a_transfer_have_one_port_of_a_host_each(tmp_path: Path) -> None:
    """Ports of UDP are not those of TCP: the receiver of each is there for all of the run."""
    further = (
        "  beside: {application: udp-flow, from: left, to: right, port: 5201, rate: 99 kbit/s, start: 15 s, duration: 3 s}\n"
    )
    document = ran(tmp_path, "size: 1 MB, duration: 10 s", "--virtual", further=further)
    assert document["transfers"][0]["bytes"] == 1_000_000
    assert {flow["name"]: flow["loss_ratio"] for flow in document["flows"]}["beside"] == 0


def test_one_receiver_listens_for_several_transfers_and_knows_what_dctcp_needs() -> None:
    plans = [traffic_plan("bulk", variant=variant) for variant in ("bbr", "dctcp", "cubic")]
    ends = [end for plan in plans for end in Bulk.virtual(plan).ends]
    (receiver,) = _of_host("right", ends)
    assert (receiver["port"], receiver.get("tcp")) == (5201, {"variant": "dctcp"})
    assert [end.get("tcp") for end in _of_host("left", ends)] == [{"variant": name} for name in ("bbr", "dctcp", "cubic")]


def test_a_port_of_a_connection_is_refused_to_a_later_one_in_virtual_time(tmp_path: Path) -> None:
    further = "  again: {application: bulk, from: right, to: left, start: 30 s, duration: 10 s}\n"
    left, right = ADDRESSES[4]
    text = LINE.format(left=left, right=right, queue="200 kB", loss=0, options="duration: 10 s") + further
    (file := tmp_path / "line.yaml").write_text(text)
    command: list[str | Path] = [CHECKOUT / "netboxit.py", "run", file, "--virtual", "--results", tmp_path / "results"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.search(r"line\.yaml:\d+:\d+: left has port 5201 of the traffic file already.*give it another port", done.stderr)


class Kernel:
    """Hosts whose kernel has some congestion controls, and lets programs take others of them."""

    def __init__(self, available: str, allowed: str) -> None:
        self.available, self.allowed = available, allowed

    def run(self, node: str, argv: Sequence[str], *, timeout_s: float = 10.0) -> subprocess.CompletedProcess[str]:
        if argv[0] == "cat":
            return subprocess.CompletedProcess(argv, 0, self.available, "")
        denied = argv[-1] not in self.allowed.split()
        return subprocess.CompletedProcess(argv, int(denied), "", "Operation not permitted\n" if denied else "")


def test_a_variant_that_the_kernel_has_not_or_does_not_allow_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    kernel: Any = Kernel("reno cubic bbr", "reno cubic")
    made(tmp_path / "talk", kernel, variant="linux-reno").prepare()
    with pytest.raises(VariantMissing, match=r"left has no congestion control westwood; it has reno, cubic, bbr .*modprobe"):
        made(tmp_path / "talk", kernel, variant="westwood+").prepare()
    for variant in VIRTUAL_ONLY:
        with pytest.raises(VariantMissing, match=f"no kernel has the congestion control {variant}; run the file with --virtual"):
            made(tmp_path / "talk", kernel, variant=variant).prepare()
    with pytest.raises(VariantMissing, match=r"left may not take .* bbr: Operation not permitted; allow it .* `sysctl -w net"):
        made(tmp_path / "talk", kernel, variant="bbr").prepare()


@pytest.mark.lab
def test_what_iperf3_says_that_failed_is_told(hosts: NamespaceHosts, tmp_path: Path) -> None:
    bulk = made(tmp_path / "talk", hosts, duration="20 s")
    bulk.prepare()
    try:
        bulk.arrange()
        hosts.run("right", ["ip", "address", "flush", "dev", "wire"])
        bulk.start()
        with pytest.raises(ApplicationFailed, match=r"iperf3 on right: .*unable to connect"):
            bulk.wait()
    finally:
        bulk.stop()


@pytest.mark.lab
def test_iperf3_sends_marked_data_by_the_flows_ports_and_its_account_is_kept(hosts: NamespaceHosts, tmp_path: Path) -> None:
    for number in range(2):  # the ports are free again at once
        bulk = made(tmp_path / f"talk{number}", hosts, size="1 MB", parallel=2, mss=1300, dscp="ef", duration="20 s")
        bulk.prepare()
        with captured(hosts, "left", tmp_path / "left.pcapng"):
            try:
                bulk.arrange()
                bulk.start()
                bulk.wait()
            finally:
                bulk.stop()
        frames = [packet.data for packet in pcapng.read(tmp_path / "left.pcapng")]
        packets = [found for frame in frames if (found := datagram(frame)) is not None]
        data = [found for found in packets if found.source == "10.98.0.1" and found.source_port == 5201 and found.dscp == EF]
        ports = {found.destination_port for found in data if found.payload_bytes > 1000}
        assert ports == {port for flow in bulk.flows() for port in flow.destination_ports or ()} == {5201, 5202}
        answers = [tcp for frame in frames if (tcp := frame[34:])[:2] == (5201).to_bytes(2) and tcp[13] == SYN_AND_ACK]
        announced = [tcp[20:].count(b"\x02\x04" + (1300).to_bytes(2)) for tcp in answers]  # RFC 9293, 3.2: MSS option
        assert sorted(announced) == [0, 1, 1], "also that by which iperf3's ends talk with each other"
        account = json.loads((tmp_path / f"talk{number}/right-client.log").read_text())
        assert account["end"]["sum_received"]["bytes"] >= 2_000_000
        assert json.loads((tmp_path / f"talk{number}/flows.json").read_text())["facts"] == {
            "size": 1_000_000,
            "parallel": 2,
            "variant": "cubic",
        }


@pytest.mark.lab
@pytest.mark.parametrize("version", [4, pytest.param(6, marks=pytest.mark.long)])
def test_a_transfer_of_iperf3_through_a_lab_takes_as_long_as_its_frames(version: int, tmp_path: Path) -> None:
    """10 MB: slow start is a small part of it. Within 10 % of what the line carries."""
    (state := tmp_path / "state").mkdir()
    options = f"size: 10 MB, duration: 60 s, variant: {ALLOWED}"
    document = ran(tmp_path, options, "--name", f"bulk{os.getpid()}", version=version, NETBOXIT_STATE=str(state))
    (transfer,) = document["transfers"]
    headers = FRAME + (20 if version == 6 else 0) - DATA
    data = FRAME - headers
    assert transfer["goodput_kbps"] == pytest.approx(RATE / 1e3 * data / FRAME, rel=0.1)
    assert transfer["completed_s"] > 10_000_000 / data * FRAME * 8 / RATE
    assert transfer["bytes"] >= 10_000_000
    (flow,) = document["flows"]
    assert flow["packets"] >= 10_000_000 / data
