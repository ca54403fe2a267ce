# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that `doctor` names do in each kind of node what it names them for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testbed.labs.lab import Lab
from testbed.probes.programs import tools
from tests.switched_labs import clean_lab

pytestmark = [pytest.mark.lab, pytest.mark.patient]

_NETWORK = """\
name: kinds
hosts:
  host: {address: 10.0.0.1/24, gateway: 10.0.0.2}
  other: {address: 10.0.2.1/24, gateway: 10.0.2.2}
netboxes:
  netbox: {technology: ethernet, stations: {left: {}, right: {}}}
routers:
  click:
    engine: click
    configuration: click/ip-router.click
    interfaces: {a: 10.0.0.2/24, b: 10.0.1.1/24}
  linux:
    engine: linux
    interfaces: {left: 10.0.1.2/24, right: 10.0.2.2/24}
switches:
  switch: {ports: {left: , right: }}
wires:
  - [host, netbox.left]
  - [netbox.right, click.a]
  - [click.b, linux.left]
  - [linux.right, switch.left]
  - [switch.right, other]
"""
_PING = "ping -q -c 2 -i 0.2 127.0.0.1"
#: In a shell of the node; each ends with 0 when it has worked.
_USES = {
    "baresip": "mkdir -p /tmp/phone && baresip -f /tmp/phone -t 1 >/tmp/said; grep -q 'baresip is ready' /tmp/said",
    "ffmpeg": "ffmpeg -v error -nostdin -f lavfi -i testsrc=duration=0.2 -c:v libx264 -f h264 -y /tmp/v && test -s /tmp/v",
    "mgen": "mgen nolog event '0.0 ON 1 UDP DST 127.0.0.1/5000 PERIODIC [20 64]' event '0.5 OFF 1'",
    "iperf3": "iperf3 -s -1 -B 127.0.0.1 >/tmp/served & sleep 0.3; iperf3 -c 127.0.0.1 -n 100K >/tmp/sent && wait $!",
    "/usr/sbin/nginx": "mkdir /tmp/web && cd /tmp/web && echo 'events {} daemon off; user root; pid n.pid;' >n.conf && "
    "nginx -p /tmp/web -c n.conf -e stderr 2>/tmp/web/log & sleep 0.5; kill -INT $!; wait $!",
    "/usr/bin/python3": "/usr/bin/python3 -c 'import pycurl; pycurl.Curl().close()'",
    "espeak-ng": "espeak-ng -w /tmp/speech.wav 'one two' && test -s /tmp/speech.wav",
    "dumpcap": f"dumpcap -q -i lo -c 1 -w /tmp/dump & sleep 0.7; {_PING}; wait $! && test -s /tmp/dump",
    "tcpdump": f"tcpdump -n -i lo -c 1 >/tmp/frames & sleep 0.5; {_PING}; wait $! && grep -q 'ICMP echo' /tmp/frames",
    "ping": _PING,
}
#: For the machine alone: what it puts a program into needs namespaces, which no node may make.
_OF_THE_MACHINE = {"bwrap"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with clean_lab(tmp_path_factory.mktemp("kinds"), _NETWORK, "k") as lab:
        yield lab


def test_all_of_them_are_tried() -> None:
    assert {program.name for program in tools()} == {*_USES, *_OF_THE_MACHINE}


@pytest.mark.parametrize("program", _USES)
@pytest.mark.parametrize("node", ["host", "netbox", "click", "linux", "switch"])
def test_it_works(lab: Lab, node: str, program: str) -> None:
    done = lab.run(node, ["sh", "-c", _USES[program]], timeout_s=30)
    assert done.returncode == 0, done.stdout + done.stderr


def test_who_says_as_whom_tcpdump_shall_go_on_is_heard(lab: Lab) -> None:
    """Which no node may."""
    done = lab.run("host", ["tcpdump", "-Z", "nobody", "-i", "lo", "-c", "1"], timeout_s=30)
    assert done.returncode == 1 and "Couldn't change to 'nobody'" in done.stderr
