# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx in a host, asked by a client that is not ours: that of Python's library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from applications import web_server
from applications.application import Application, ApplicationFailed
from applications.conftest import NamespaceHosts, captured, traffic_plan
from applications.web_server import WebServer, authority
from contracts.flow import Flow
from results import pcapng
from results.datagram import datagram

PORT, AF41 = 8080, 34
#: Gets paths of an authority one after another by one connection: status, version of HTTP and length of each.
CLIENT = """\
import http.client, sys
client = http.client.HTTPConnection(sys.argv[1], timeout=5)
client.connect()
client.auto_open = 0
for path in sys.argv[2:]:
    client.request("GET", path)
    reply = client.getresponse()
    print(reply.status, reply.version, len(reply.read()))
"""
ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()[0]


class Serving(Application):
    """An application that only serves."""

    def prepare(self) -> None: ...
    def arrange(self) -> None: ...
    def flows(self) -> list[Flow]:
        return []

    def facts(self) -> Mapping[str, object]:
        return {}


def test_an_address_of_ipv6_is_in_brackets() -> None:
    assert (authority("10.0.0.1", 80), authority("fd00::1", 8080)) == ("10.0.0.1:80", "[fd00::1]:8080")


@pytest.mark.parametrize("sizes", [{"0/0": 10, "0/1": 2_000_000}, {"0/" + "x" * 300: 1}])
def test_a_file_that_cannot_be_made_is_told_with_its_remedy(sizes: dict[str, int], tmp_path: Path) -> None:
    """As one that is longer than the disk of its host."""
    (tmp_path / "sizes.json").write_text(json.dumps(sizes))
    program = Path(web_server.__file__).with_name("web_server_program.py")
    command = ["prlimit", "--fsize=1000000", "/usr/bin/python3", str(program), str(tmp_path), "127.0.0.1", "0", "0", ""]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"/{list(sizes)[-1]} of {list(sizes.values())[-1]} bytes cannot be made: File " in done.stderr
    assert "limits: {disk: …}" in done.stderr


@pytest.mark.lab
def test_files_are_served_with_the_mark_and_the_congestion_control_that_were_said(hosts: NamespaceHosts, tmp_path: Path) -> None:
    serving = Serving(traffic_plan("bulk"), hosts, tmp_path / "talk")
    server = WebServer(serving, "left", "10.98.0.1", PORT, traffic_class=AF41 << 2, congestion_control=ALLOWED)
    server.prepare({"pages/1": 300_000, "empty": 0})
    serving.own_files("left").write("own", b"of one's own")
    try:
        server.launch()
        assert ALLOWED in hosts.run("left", ["ss", "-tlni"]).stdout
        with captured(hosts, "left", tmp_path / "left.pcapng"):
            asked = hosts.run(
                "right", ["/usr/bin/python3", "-c", CLIENT, server.authority, "/pages/1", "/empty", "/own", "/none"]
            )
        assert asked.stdout.splitlines() == ["200 11 300000", "200 11 0", "200 11 12", "404 11 153"], asked.stderr
    finally:
        serving.stop()
        server.keep()
    sent = [packet for one in pcapng.read(tmp_path / "left.pcapng") if (packet := datagram(one.data)) and packet.payload_bytes]
    assert {packet.dscp for packet in sent if packet.source_port == PORT} == {AF41}
    log = (tmp_path / "talk/access.log").read_text().splitlines()
    assert [line.split()[5:7] for line in log] == [["200", "300000"], ["200", "0"], ["200", "12"], ["404", "153"]]


@pytest.mark.lab
def test_an_address_that_the_host_has_not_is_an_error_with_the_systems_words(hosts: NamespaceHosts, tmp_path: Path) -> None:
    serving = Serving(traffic_plan("bulk"), hosts, tmp_path / "talk")
    server = WebServer(serving, "left", "10.98.0.9", PORT)
    server.prepare({})
    try:
        with pytest.raises(ApplicationFailed, match="Cannot assign requested address"):
            server.launch()
    finally:
        serving.stop()
