# SPDX-License-Identifier: GPL-2.0-or-later
"""Two real switches and a trunk, with the frames that they pass and those that they do not."""

from __future__ import annotations

import re
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system import namespaces
from testbed.labs import lab_status, restart, switch_statistics
from testbed.labs.lab import Lab, NodeFailed
from tests.switched_labs import ETH_P_ALL, Wiretaps, clean_lab, statistics
from tests.waiting import until

pytestmark = pytest.mark.lab

FLOORS = """\
name: floors
hosts:
  a: {address: 10.10.0.1/24}
  b: {address: 10.10.0.2/24}
  c: {address: 10.20.0.1/24}
  d: {address: 10.10.0.3/24}
  e: {address: 10.20.0.2/24}
  f: {address: 10.30.0.1/24}
  g: {address: 10.30.0.2/24}
  monitor: {address: 10.50.0.1/24}
switches:
  left:
    ports:
      a: {vlan: 10, police: 1 Mbit/s, burst: 4 kB}
      b: {vlan: 10}
      c: {vlan: 20}
      f: {vlan: 30}
      trunk: {trunk: [10, 20, 99], limit: 20 Mbit/s, queue: 60, queues: {voice: {dscp: [ef, va]}}}
      tap: {}
    mirror: {from: [b], to: tap}
    own: {address: 10.99.0.1/24, vlan: 99}
    tunnels: {far: {vlan: 30, remote: 10.99.0.2, key: 42}}
  right:
    ports:
      d: {vlan: 10, limit: 400 kbit/s, queue: 40, queues: {voice: {dscp: ef}}}
      e: {vlan: 20}
      g: {vlan: 30}
      trunk: {trunk: [10, 20, 99]}
    own: {address: 10.99.0.2/24, vlan: 99}
    tunnels: {far: {vlan: 30, remote: 10.99.0.1, key: 42}}
    flows: ["priority=10,udp,in_port=e,tp_dst=9,actions=drop"]
wires:
  - [a, left.a]
  - [b, left.b]
  - [c, left.c]
  - [f, left.f]
  - [monitor, left.tap]
  - [d, right.d]
  - [e, right.e]
  - [g, right.g]
  - [left.trunk, right.trunk]
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with clean_lab(tmp_path_factory.mktemp("floors"), FLOORS, "floors") as found:
        yield found


HOSTS = dict.fromkeys("abcde", "eth0")


def test_a_broadcast_stays_in_its_vlan_also_across_a_trunk(lab: Lab) -> None:
    with Wiretaps(lab, HOSTS) as taps:
        taps.send("b", b"of vlan ten")
        taps.send("c", b"of vlan twenty")
        until(lambda: taps.saw(b"of vlan ten") >= {"a", "d"} and taps.saw(b"of vlan twenty") >= {"e"}, "both broadcasts arrive")
        # What would have gone astray came before the answer to a later frame of the same sender.
        taps.send("b", b"later ten")
        taps.send("c", b"later twenty")
        until(lambda: taps.saw(b"later ten") >= {"a", "d"} and taps.saw(b"later twenty") >= {"e"}, "the later ones arrive")
        assert taps.saw(b"of vlan ten") == {"a", "d"}
        assert taps.saw(b"of vlan twenty") == {"e"}


def test_frames_cross_the_trunk_with_the_tag_of_their_vlan(lab: Lab) -> None:
    with Wiretaps(lab, HOSTS) as taps, namespaces.entered(lab.node("left").namespace):
        trunk = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        with trunk:
            trunk.bind(("trunk", ETH_P_ALL))
            taps.send("c", b"tagged")
            sent: list[bytes] = []

            def seen() -> bool:
                while select.select([trunk], [], [], 0)[0]:
                    sent.append(trunk.recv(65536))
                return any(b"tagged" in frame for frame in sent)

            until(seen, "the frame crosses the trunk")
        frame = next(frame for frame in sent if b"tagged" in frame)
        assert frame[12:16] == b"\x81\x00" + (20).to_bytes(2, "big")


def test_what_is_sent_to_a_known_address_goes_to_its_port_only_and_what_is_not_known_to_all(lab: Lab) -> None:
    with Wiretaps(lab, HOSTS) as taps:
        taps.send("b", b"to nobody known", to="02:00:00:00:00:99")
        until(lambda: taps.saw(b"to nobody known") == {"a", "d"}, "an unknown address is flooded")
        taps.send("a", b"here is a")
        until(lambda: taps.saw(b"here is a") == {"b", "d"}, "everybody hears a")
        taps.send("b", b"to a alone", to="a")
        taps.send("b", b"to all again")
        until(lambda: taps.saw(b"to all again") == {"a", "d"}, "the later frame arrives")
        assert taps.saw(b"to a alone") == {"a"}


def test_the_mirror_has_a_copy_of_what_goes_in_and_out_at_a_port(lab: Lab) -> None:
    with Wiretaps(lab, {**HOSTS, "monitor": "eth0"}) as taps:
        taps.send("b", b"from b", to="a")
        taps.send("a", b"for b", to="b")
        taps.send("c", b"none of its business")
        until(lambda: "monitor" in taps.saw(b"from b") & taps.saw(b"for b"), "the monitor sees both")
        until(lambda: "e" in taps.saw(b"none of its business"), "the other VLAN's frame arrives")
        assert "monitor" not in taps.saw(b"none of its business")


def test_policing_drops_what_comes_in_beyond_its_rate_and_counts_it(lab: Lab) -> None:
    # So small that all of them have room in the socket of a switch that is kept from running.
    frames, size = 100, 200
    before = statistics(lab, "left")["ports"]["a"]
    with Wiretaps(lab, HOSTS) as taps:
        began = time.monotonic()
        for _ in range(frames):
            taps.send("a", b"policed", to="b", size=size)
        took_s = time.monotonic() - began
        counted = {}

        def all_counted() -> bool:
            now = statistics(lab, "left")["ports"]["a"]
            counted.update({key: now[key] - before[key] for key in ("received", "policed")})
            return counted["received"] >= frames and counted["policed"] + taps.count("b", b"policed") >= frames

        until(all_counted, "each frame arrived or was dropped by the meter")
        passed = taps.count("b", b"policed")
        assert passed + counted["policed"] == frames
        # The burst of 4 kB, and 1 Mbit/s while they were sent; a frame more or less at each end.
        assert 19 <= passed <= 21 + took_s * 1e6 / 8 / size


def test_before_a_limited_port_the_queue_for_voice_goes_first(lab: Lab) -> None:
    """Thirty frames of 1000 bytes wait 0.6 s at 400 kbit/s; the packet that is sent after all of them does not."""
    with Wiretaps(lab, HOSTS) as taps, namespaces.entered(lab.node("b").namespace):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as voice:
            voice.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2)
            voice.sendto(b"hello", ("10.10.0.3", 4000))
            until(lambda: taps.count("d", b"hello") == 1, "the address of d is known")
            for number in range(30):
                taps.send("b", b"bulk %02d" % number, to="d", size=1000)
            voice.sendto(b"speech", ("10.10.0.3", 4000))
        until(lambda: taps.count("d", b"bulk") == 30 and taps.count("d", b"speech") == 1, "all of them arrive")
        order = [b"speech" in frame for frame in taps.came["d"] if b"bulk" in frame or b"speech" in frame]
        assert order.index(True) < 25


def test_behind_a_tag_the_code_point_is_seen_too(lab: Lab) -> None:
    def waited_for_voice() -> int:
        told = lab.run("left", ["tc", "-s", "class", "show", "dev", "trunk"]).stdout
        found = re.search(r"class htb 1:2 .*\n Sent \d+ bytes (\d+) pkt", told)
        assert found is not None, told
        return int(found[1])

    before = waited_for_voice()
    with namespaces.entered(lab.node("b").namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speech:
        for dscp in (46, 44, 0):
            speech.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
            speech.sendto(b"speech", ("10.10.0.3", 4000))
    with Wiretaps(lab, HOSTS) as taps:
        taps.send("b", b"the last")
        until(lambda: "d" in taps.saw(b"the last"), "what was sent before it crossed the trunk")
    assert waited_for_voice() == before + 2


def test_a_flow_drops_what_it_says_and_nothing_else(lab: Lab) -> None:
    with Wiretaps(lab, HOSTS) as taps, namespaces.entered(lab.node("e").namespace):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"discarded", ("10.20.0.1", 9))
            sender.sendto(b"passed", ("10.20.0.1", 10))
        until(lambda: "c" in taps.saw(b"passed"), "the datagram to the other port arrives")
        assert taps.saw(b"discarded") == set()
    flows = lab.run("right", ["ovs-ofctl", "dump-flows", "br0"]).stdout
    assert re.search(r"n_packets=1,.*tp_dst=9 actions=drop", flows)


def test_a_tunnel_joins_a_vlan_through_another_one_and_its_mtu_is_told(lab: Lab) -> None:
    ping = ["ping", "-c", "1", "-W", "5", "-M", "do"]
    # 1500 bytes less IPv4, UDP, VXLAN, Ethernet and a tag; less IPv4 and ICMP.
    largest = 1500 - (20 + 8 + 8 + 14 + 4) - (20 + 8)
    assert lab.run("f", [*ping, "-s", str(largest), "g"]).returncode == 0
    assert "message too long" in lab.run("f", [*ping, "-s", str(largest + 1), "g"]).stderr


def test_a_switch_says_what_moves_its_frames_and_what_it_counts(lab: Lab) -> None:
    status: Any = lab_status.of(lab)
    left = next(node for node in status["nodes"] if node["name"] == "left")
    planned = {interface.port for interface in lab.node("left").interfaces}
    assert left["switch"]["datapath"] == ("system" if planned == {"kernel"} else "netdev")
    assert list(left["switch"]["ports"]) == ["a", "b", "c", "f", "trunk", "tap", "far"]
    assert "Bridge br0" in lab.run("left", ["ovs-vsctl", "show"]).stdout
    ends = [end for wire in status["wires"] for end in wire["ends"] if end["node"] == "left"]
    assert all("openvswitch" in end["reason"] or "module" in end["reason"] for end in ends)


def test_two_labs_with_the_same_vlans_do_not_meet(lab: Lab, tmp_path: Path) -> None:
    text = """\
name: other
hosts:
  a: {address: 10.10.0.1/24}
  b: {address: 10.10.0.2/24}
switches:
  left: {ports: {a: {vlan: 10}, b: {vlan: 10}}}
wires: [[a, left.a], [b, left.b]]
"""
    with clean_lab(tmp_path, text, "other") as other, Wiretaps(other, {"a": "eth0", "b": "eth0"}) as there:
        with Wiretaps(lab, HOSTS) as here:
            here.send("b", b"of the first lab")
            there.send("b", b"of the second lab")
            until(lambda: here.saw(b"of the first lab") == {"a", "d"}, "the first lab hears its own")
            until(lambda: there.saw(b"of the second lab") == {"a"}, "the second lab hears its own")
            assert here.saw(b"of the second lab") == set()
            assert there.saw(b"of the first lab") == set()
        database = other.run("left", ["ovs-vsctl", "list-br"]).stdout
        assert database == "br0\n"
        # Its switch killed, the node has ended, and says why.
        pid = other.run("left", ["cat", "/run/openvswitch/ovs-vswitchd.pid"]).stdout.strip()
        assert other.run("left", ["kill", "-9", pid]).returncode in (0, 137)
        until(lambda: not other.alive()["left"], "the node ends with its switch")
        with pytest.raises(NodeFailed, match="ovs-vswitchd ended with status -9"):
            other.check_alive()


def test_a_switch_that_starts_again_finds_its_wires_and_makes_its_queues_anew(lab: Lab) -> None:
    restart.stop(lab.folder, lab.node("right"))
    restart.start(lab.folder, lab.node("right"))
    lab.wait_ready()
    with Wiretaps(lab, HOSTS) as taps:
        taps.send("b", b"after the restart")
        until(lambda: taps.saw(b"after the restart") == {"a", "d"}, "the frame arrives behind the other switch")
    found = switch_statistics.of(lab, "right")
    assert found is not None
    assert found["ports"]["d"]["queue_drops"] == 0
    # Frames that came while it was not there are not its fault.
    assert not found["unserved"]
