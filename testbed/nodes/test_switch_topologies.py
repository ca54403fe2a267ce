# SPDX-License-Identifier: GPL-2.0-or-later
"""Switches in a ring, and a switch that only does what its controller says."""

from __future__ import annotations

import socket
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from system import namespaces
from system.wires import Switch
from tests.switched_labs import RING, Wiretaps, clean_lab, statistics
from tests.waiting import until

pytestmark = pytest.mark.lab


def test_a_ring_of_switches_floods_a_frame_once_and_goes_the_other_way_when_a_wire_is_cut(tmp_path: Path) -> None:
    with clean_lab(tmp_path, RING, "ring") as ring, Wiretaps(ring, {"a": "eth0", "b": "eth0"}) as taps:
        taps.send("a", b"round and round")
        until(lambda: "b" in taps.saw(b"round and round"), "the frame arrives")
        taps.send("b", b"back again")
        until(lambda: "a" in taps.saw(b"back again"), "the answer arrives")
        assert (taps.count("b", b"round and round"), taps.count("a", b"round and round")) == (1, 0)
        with closing(Switch(ring.node("x"), "z")) as plug:
            plug.set("down")
        tried = count()

        def arrives() -> bool:
            words = b"the other way %05d" % next(tried)
            taps.send("a", words)
            return "b" in taps.saw(words)

        until(arrives, "frames go the other way", deadline_s=30.0)


def test_a_switch_by_af_xdp_asks_its_controller_and_without_flows_of_its_passes_nothing(tmp_path: Path) -> None:
    text = """\
name: asking
hosts:
  a: {address: 10.10.0.1/24}
  b: {address: 10.10.0.2/24}
switches:
  left:
    datapath: xdp
    ports: {a: , b: }
    own: {address: 10.10.0.9/24}
    controller: {address: 10.10.0.2, fail: secure}
wires: [[a, left.a], [b, left.b]]
"""
    with clean_lab(tmp_path, text, "asking") as asking, Wiretaps(asking, {"a": "eth0", "b": "eth0"}) as taps:
        with namespaces.entered(asking.node("b").namespace):
            listening = socket.create_server(("10.10.0.2", 6653))
        with listening:
            listening.settimeout(30.0)
            switch, address = listening.accept()
            with switch:
                switch.settimeout(10.0)
                hello = switch.recv(8, socket.MSG_WAITALL)
        # OpenFlow 1.3.5, 7.1.1: a message's version and type; 0 is OFPT_HELLO.
        assert (address[0], hello[0] >= 4, hello[1]) == ("10.10.0.9", True, 0)
        taps.send("a", b"nobody said where to")
        until(lambda: statistics(asking, "left")["ports"]["a"]["received"] > 0, "the frame came to the switch")
        assert taps.saw(b"nobody said where to") == set()
