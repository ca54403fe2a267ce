# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports by packet sockets: who else sees what they send."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from netboxes.engine.real import running_netbox, wait_for
from netboxes.engine.virtual import udp
from system import namespaces
from tests.two_hosts import ETH_P_ALL, Lab, ip

pytestmark = pytest.mark.lab

OUTGOING = 4  # packet(7): PACKET_OUTGOING


def test_what_leaves_by_a_tunnel_is_seen_by_captures(lab: Lab, tmp_path: Path) -> None:
    """A tunnel leads to another machine, and its frames are captured at both ends to know how long they are on their way."""
    ip("-n", lab.netbox, "address", "add", "10.9.1.1/24", "dev", "b")
    tunnel = ("remote", "10.9.1.2", "dstport", "4789", "dev", "b")
    ip("-n", lab.netbox, "link", "add", "tunnel", "address", "02:00:00:00:00:07", "type", "vxlan", "id", "7", *tunnel)
    stations = [{"name": port, "port": {"kind": "packet", "interface": port}} for port in ("a", "tunnel")]
    frames = [udp(1, 2, 100 + number) for number in range(5)]
    with namespaces.entered(lab.netbox):
        namespaces.write_settings({"ipv6/conf/tunnel/disable_ipv6": "1"})
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    for port in ("a", "b", "tunnel"):
        lab.raise_port(port)
    with (
        capture,
        running_netbox(tmp_path, "loopwire", inside=("ip", "netns", "exec", lab.netbox), stations=stations),
        lab.packet_socket(0) as sender,
    ):
        wait_for((tmp_path / "control.sock").exists)
        capture.bind(("tunnel", ETH_P_ALL))
        capture.settimeout(5.0)
        for frame in frames:
            sender.send(frame)
        seen = [capture.recvfrom(2048) for _ in frames]
    assert [data for data, _ in seen] == frames
    assert {address[2] for _, address in seen} == {OUTGOING}
