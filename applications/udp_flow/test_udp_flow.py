# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from applications.conftest import NamespaceHosts, captured, traffic_plan
from applications.registry import applications
from applications.udp_flow.application import UdpFlow, UdpFlowOptions
from contracts.flow import ApplicationRecord
from results import pcapng
from results.datagram import datagram
from results.identity import identity

AF41 = 34


def made(folder: Path, hosts: NamespaceHosts | None = None, **options: object) -> UdpFlow:
    said = UdpFlowOptions.model_validate(options)
    return UdpFlow(traffic_plan("udp-flow", **said.model_dump(mode="json")), hosts, folder)  # type: ignore[arg-type]


def test_it_is_found_by_its_name() -> None:
    assert applications()["udp-flow"] is UdpFlow


def test_the_script_says_when_each_flow_sends(tmp_path: Path) -> None:
    flow = made(tmp_path, rate="81600 bit/s", payload="74 B", count=2, port=5000, dscp="ef", duration="10 s")
    assert flow.script().splitlines() == [
        "0.000000 ON 1 UDP SRC 5000 DST 10.98.0.2/5000 PERIODIC [100 74] TOS 0xb8 TTL 64",
        "0.005000 ON 2 UDP SRC 5001 DST 10.98.0.2/5001 PERIODIC [100 74] TOS 0xb8 TTL 64",
        "10.000000 OFF 1",
        "10.000000 OFF 2",
    ]
    assert [one.name for one in flow.flows()] == ["talk.1", "talk.2"]
    (stream,) = flow.options.streams()
    assert (stream.frames_per_s, stream.frame_bytes) == (200.0, 116.0)


def test_on_off_is_written_out_and_poisson_left_to_the_generator(tmp_path: Path) -> None:
    bursts = made(tmp_path, rate="1 Mbit/s", pattern="on-off", on_time="200 ms", off_time="300 ms", duration="10 s")
    events = [line.split()[1] for line in bursts.script().splitlines()]
    assert events == ["ON", "OFF"] * (len(events) // 2)
    assert len(events) > 20
    assert "POISSON [100 472]" in made(tmp_path, rate="400 kbit/s", pattern="poisson", payload="472 B").script()


def test_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="belong to pattern: on-off"):
        UdpFlowOptions.model_validate({"rate": "1 Mbit/s", "on_time": "1 s"})
    with pytest.raises(ValidationError, match="end beyond 65535"):
        UdpFlowOptions.model_validate({"rate": "1 Mbit/s", "port": 65_500, "count": 100})
    with pytest.raises(ValidationError, match="28 B"):
        UdpFlowOptions.model_validate({"rate": "1 Mbit/s", "payload": "20 B"})


@pytest.mark.lab
@pytest.mark.parametrize(
    ("options", "datagrams", "tolerance"),
    [
        ({"rate": "32 kbit/s", "payload": "472 B"}, 24, 1),
        ({"rate": "400 kbit/s", "payload": "72 B", "count": 2}, 3000, 4),
        # 4 s of 250 a second: 1000, with a standard deviation of 32; four of them.
        ({"rate": "200 kbit/s", "payload": "72 B", "pattern": "poisson", "duration": "4 s"}, 1000, 127),
    ],
)
def test_flows_arrive_marked_and_in_their_number(
    hosts: NamespaceHosts, tmp_path: Path, options: dict[str, object], datagrams: int, tolerance: int
) -> None:
    flow = made(tmp_path / "flow", hosts, **{"duration": "3 s", "dscp": "af41", **options})
    flow.prepare()
    with captured(hosts, "right", tmp_path / "right.pcapng"):
        try:
            flow.arrange()
            flow.start()
            flow.wait()
        finally:
            flow.stop()
    packets = list(pcapng.read(tmp_path / "right.pcapng"))
    seen = [(packet, found) for packet in packets if (found := datagram(packet.data)) is not None]
    count = flow.options.count
    assert len(seen) == pytest.approx(datagrams, abs=tolerance)
    assert {found.destination_port for _, found in seen} == set(range(6000, 6000 + count))
    assert {found.payload_bytes for _, found in seen} == {int(flow.options.payload)}
    assert {packet.data[15] >> 2 for packet, _ in seen} == {AF41}
    # What tells one frame from another on its way.
    assert len({identity(packet.data) for packet, _ in seen}) == len(seen)
    assert len(ApplicationRecord.model_validate_json((tmp_path / "flow/flows.json").read_text()).flows) == count


@pytest.mark.lab
def test_nothing_is_sent_before_it_starts(hosts: NamespaceHosts, tmp_path: Path) -> None:
    flow = made(tmp_path / "flow", hosts, rate="32 kbit/s", duration="1 s")
    flow.prepare()
    with captured(hosts, "right", tmp_path / "right.pcapng"):
        try:
            flow.arrange()
            time.sleep(0.3)
            started_ns = time.time_ns()
            flow.start()
            flow.wait()
        finally:
            flow.stop()
    sent = [packet.time_ns for packet in pcapng.read(tmp_path / "right.pcapng") if datagram(packet.data) is not None]
    assert sent and min(sent) > started_ns


@pytest.mark.lab
def test_of_one_that_is_never_started_no_program_stays_and_no_flow_is_told(hosts: NamespaceHosts, tmp_path: Path) -> None:
    flow = made(tmp_path / "flow", hosts, rate="32 kbit/s", duration="1 s")
    flow.prepare()
    flow.arrange()
    programs = [running.program for running in flow._running]
    assert [program.poll() for program in programs] == [None, None]
    flow.stop()
    assert None not in [program.poll() for program in programs]
    assert not (tmp_path / "flow/flows.json").exists()


@pytest.mark.lab
def test_on_off_keeps_its_timetable(hosts: NamespaceHosts, tmp_path: Path) -> None:
    options = {"rate": "80 kbit/s", "payload": "72 B", "pattern": "on-off", "on_time": "300 ms", "off_time": "300 ms"}
    flow = made(tmp_path / "flow", hosts, duration="4 s", **options)
    flow.prepare()
    with captured(hosts, "left", tmp_path / "left.pcapng"):
        try:
            flow.arrange()
            flow.start()
            flow.wait()
        finally:
            flow.stop()
    packets = list(pcapng.read(tmp_path / "left.pcapng"))
    sent = np.asarray([packet.time_ns / 1e9 for packet in packets if datagram(packet.data) is not None])
    (timetable,) = flow.options.timetables("talk")
    due = timetable.departures()
    assert sent.size == pytest.approx(due.size, abs=len(timetable.periods()))
    # A silence of the timetable is one on the wire, but for what a busy host is late.
    long = max(np.diff(due))
    assert max(np.diff(sent)) == pytest.approx(long, abs=0.2)
