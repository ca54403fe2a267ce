# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.application import ApplicationFailed
from applications.camera import analysis
from applications.camera.application import Camera
from applications.conftest import NamespaceHosts, captured, traffic_plan
from applications.media.number_strip import BITS, NumberStrip
from results import pcapng
from results.datagram import datagram

AF41 = 34


@pytest.mark.lab
def test_a_stream_arrives_decodes_and_is_what_was_sent(hosts: NamespaceHosts, tmp_path: Path) -> None:
    camera = Camera(traffic_plan("camera", duration=4.0, dscp=AF41), hosts, tmp_path / "camera")
    camera.prepare()
    with captured(hosts, "right", tmp_path / "right.pcapng"):
        try:
            camera.arrange()
            camera.start()
            camera.wait()
        finally:
            camera.stop()
    alike = analysis.likeness(tmp_path / "camera/sent.h264", tmp_path / "camera/received.mkv", 640, 360, 60)
    assert (alike["frames_sent"], alike["frames_decoded"], alike["frames_damaged"]) == (60, 60, 0)
    assert alike["identical_ratio"] == 1.0
    (flow,) = camera.flows()
    packets = [packet.data for packet in pcapng.read(tmp_path / "right.pcapng")]
    found = [(data, found) for data in packets if (found := datagram(data)) is not None and found.destination_port == 21_000]
    assert {(one.source, one.source_port, one.destination) for _, one in found} == {("10.98.0.1", 21_000, "10.98.0.2")}
    assert flow.source_ports == (21_000, 21_000)
    assert {data[15] >> 2 for data, _ in found} == {AF41}
    assert max(one.ethernet_bytes for _, one in found) <= 1414


@pytest.mark.lab
def test_a_receiver_that_cannot_start_is_named(hosts: NamespaceHosts, tmp_path: Path) -> None:
    camera = Camera(traffic_plan("camera", duration=2.0), hosts, tmp_path / "camera")
    camera.prepare()
    (hosts.node_folder("right") / "talk/camera.sdp").write_text("nonsense")
    try:
        with pytest.raises(ApplicationFailed, match="receiver on right ended with status"):
            camera.arrange()
    finally:
        camera.stop()


@pytest.mark.parametrize("number", [0, 1, 77, (1 << BITS) - 1])
def test_a_number_in_a_picture_is_read_back(number: int) -> None:
    strip = NumberStrip(360)
    luma = np.full((360, 640), 128, np.uint8)
    for bit in range(BITS):
        for row, white in enumerate((number >> bit & 1, 1 - (number >> bit & 1))):
            luma[strip.top + 16 * row : strip.top + 16 * (row + 1), 16 + 16 * bit : 32 + 16 * bit] = 235 if white else 16
    assert strip.read(luma) == number


def test_a_picture_without_a_number_says_so() -> None:
    assert NumberStrip(360).read(np.full((360, 640), 128, np.uint8)) is None
