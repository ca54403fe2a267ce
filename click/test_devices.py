# SPDX-License-Identifier: GPL-2.0-or-later
"""Real interfaces under ordinary Click configurations, whatever arrives there."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed.nodes import routers
from tests.click_lab import Meoc, Router, counted, three_namespaces
from tests.namespaces import Namespace, Tap, ethernet, ipv4, udp, wait_for

pytestmark = pytest.mark.lab

#: A two-port bridge as it stands in any Click tutorial.
BRIDGE = """
left :: FromDevice(ian, SNIFFER false, PROMISC true);
right :: FromDevice(jan, SNIFFER false, PROMISC true);
left -> there :: Counter -> Queue(200) -> ToDevice(jan);
right -> back :: Counter -> Queue(200) -> ToDevice(ian);
"""


@contextmanager
def bridged(folder: Path, text: str = BRIDGE, mtu: int = 1500, *options: str) -> Iterator[tuple[Namespace, Namespace, Router]]:
    configuration = folder / "bridge.click"
    configuration.write_text(text)
    with three_namespaces(mtu) as (fr1, space, eoc), Router(space, folder, configuration, {}, *options) as router:
        yield fr1, eoc, router


def test_a_textbook_bridge_passes_frames_and_counts_them(tmp_path: Path) -> None:
    with (
        bridged(tmp_path) as (fr1, eoc, router),
        Tap(fr1, "eth0") as left,
        Tap(eoc, "eth0") as right,
        router.handlers() as handlers,
    ):
        frames = [ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, ipv4("192.0.2.1", "192.0.2.2", udp(bytes([n] * 40)))) for n in range(100)]
        for frame in frames:
            left.send(frame)
        assert [right.expect(lambda frame: frame[26:30] == b"\xc0\x00\x02\x01")] == frames[:1]
        assert [frame for _, frame in right.frames(0.3) if frame[26:30] == b"\xc0\x00\x02\x01"] == frames[1:]
        # FromDevice's own handler, by the name that the user gave it.
        assert int(handlers.read("left.count")) == int(handlers.read("there.count")) >= 100
    found = counted(tmp_path)
    assert found["ian"]["received"] >= 100 and found["jan"]["sent"] >= 100
    assert found["jan"]["send_drops"] == found["ian"]["overload_drops"] == 0


def test_an_interface_that_is_unplugged_can_have_stages_and_has_them_when_it_is_plugged_in(tmp_path: Path) -> None:
    def frame(number: int) -> bytes:
        return ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, ipv4("192.0.2.1", "192.0.2.2", udp(bytes([number] * 1000))))

    with (
        bridged(tmp_path) as (fr1, eoc, router),
        Tap(fr1, "eth0") as left,
        Tap(eoc, "eth0") as right,
        router.handlers() as handlers,
    ):
        handlers.write("unplug", "ian")
        handlers.set_stages("ian", [{"stage": "police", "rate": 8.0, "burst": 3000.0}])
        handlers.write("plug", "ian")
        for number in range(10):
            left.send(frame(number))
        ours = [arrived for _, arrived in right.frames(0.3) if arrived[26:30] == b"\xc0\x00\x02\x01"]
        # The kernel sends a few frames of its own, which count as well: ARP of IPv6 neighbours.
        assert ours == [frame(number) for number in range(len(ours))]
        assert len(ours) in (1, 2)


def test_a_vlan_tag_passes_unchanged(tmp_path: Path) -> None:
    with bridged(tmp_path) as (fr1, eoc, _), Tap(fr1, "eth0") as left, Tap(eoc, "eth0") as right:
        tagged = ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, struct.pack("!HH", (5 << 13) | 42, 0x0800) + b"tagged".ljust(60), 0x8100)
        left.send(tagged)
        # The receiving kernel takes the tag out of the frame again, into its own notes: what is left must be the rest.
        assert right.expect(lambda frame: b"tagged" in frame) == tagged[:12] + tagged[16:]


def test_a_vlan_tag_is_seen_by_click(tmp_path: Path) -> None:
    text = "FromDevice(ian) -> c :: Classifier(12/8100 14/002a%0fff, -); c[0] -> tagged :: Counter -> Discard; c[1] -> Discard;"
    with bridged(tmp_path, text) as (fr1, _, router), Tap(fr1, "eth0") as left, router.handlers() as handlers:
        left.send(ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, struct.pack("!HH", (5 << 13) | 42, 0x0800) + bytes(60), 0x8100))
        wait_for(lambda: handlers.read("tagged.count") == "1", "the tagged frame")


def test_jumbo_frames_pass_up_to_8192_bytes_and_longer_ones_are_counted(tmp_path: Path) -> None:
    with bridged(tmp_path, mtu=9000) as (fr1, eoc, _), Tap(fr1, "eth0") as left, Tap(eoc, "eth0") as right:
        left.send(ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, b"too long".ljust(8179, b".")))
        left.send(ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, b"just right".ljust(8178, b".")))
        assert len(right.expect(lambda frame: b"too long" in frame or b"just right" in frame)) == 8192
    assert counted(tmp_path)["ian"]["oversize_drops"] == 1


def test_a_frame_that_the_far_interface_cannot_carry_is_counted_as_send_drop(tmp_path: Path) -> None:
    with bridged(tmp_path, mtu=9000) as (fr1, eoc, router), Tap(fr1, "eth0") as left, Tap(eoc, "eth0") as right:
        eoc.run("ip", "link", "set", "eth0", "mtu", "1500")  # the remote end only: the router's end refuses nothing
        subprocess.run(
            ("nsenter", f"--net=/proc/{router.process.pid}/ns/net", "ip", "link", "set", "jan", "mtu", "1500"), check=True
        )
        left.send(ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, b"long".ljust(4000, b".")))
        left.send(ethernet(Meoc.EOC_MAC, Meoc.FR1_MAC, b"short".ljust(100, b".")))
        right.expect(lambda frame: b"short" in frame)
    assert counted(tmp_path)["jan"]["send_drops"] == 1


def malformed(chance: random.Random) -> bytes:
    """A frame to the router that is wrong somewhere: cut, flipped, with lying lengths, or noise."""
    packet = bytearray(
        ipv4("10.10.0.11", chance.choice(["10.20.0.20", "10.10.0.1"]), udp(chance.randbytes(chance.randrange(100))))
    )
    for _ in range(chance.randrange(6)):
        packet[chance.randrange(len(packet))] = chance.randrange(256)
    if chance.random() < 0.5:
        packet[10:12] = b"\0\0"
        total = sum(struct.unpack("!10H", packet[:20]))
        packet[10:12] = struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)  # past the checksum, into the router
    packet = packet[: chance.randrange(1, len(packet) + 1)] if chance.random() < 0.3 else packet
    kind = chance.choice([0x0800, 0x0800, 0x0806, 0x8100, 0x86DD, chance.randrange(65536)])
    if chance.random() < 0.1:
        return Meoc.IAN_MAC.encode()[: chance.randrange(14, 17)] + chance.randbytes(chance.randrange(200))
    return ethernet(Meoc.IAN_MAC, Meoc.FR1_MAC, bytes(packet), kind)


def test_malformed_frames_do_no_harm(meoc: Meoc) -> None:
    chance = random.Random(20121)
    with Tap(meoc.fr1, "eth0") as fr1:
        for _ in range(5000):
            fr1.send(malformed(chance))
    assert meoc.router.process.poll() is None, meoc.router.messages()
    assert "3 received" in meoc.fr1.run("ping", "-c", "3", "-i", "0.05", "10.20.0.20").stdout


def test_an_interface_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    configuration = tmp_path / "one.click"
    configuration.write_text("FromDevice(nowhere0) -> Discard;\n")
    with Namespace("alone") as space:
        result = space.run(str(routers.EXECUTABLE), "--wait", "0", str(configuration))
    assert result.returncode == 1
    assert "interface 'nowhere0' is not in this network namespace" in result.stderr and "there are: lo" in result.stderr


def test_an_interface_that_is_removed_ends_the_router_with_its_name(tmp_path: Path) -> None:
    configuration = tmp_path / "gone.click"
    configuration.write_text("FromDevice(gone0) -> Discard;\n")
    with Namespace("gone") as space:
        assert space.run("ip", "link", "add", "gone0", "type", "veth", "peer", "name", "gone1").returncode == 0
        assert space.run("ip", "link", "set", "gone0", "up").returncode == 0
        command = space.command(*routers.command(configuration, {}, folder=str(tmp_path)))
        router = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_for((tmp_path / "control.sock").exists, "the control socket")
        assert space.run("ip", "link", "del", "gone0").returncode == 0
        _, messages = router.communicate(timeout=15)
    assert router.returncode == 1
    assert "interface 'gone0' was removed while the router used it" in messages


def test_an_interface_that_appears_late_is_waited_for(tmp_path: Path) -> None:
    configuration = tmp_path / "late.click"
    configuration.write_text("FromDevice(late0) -> Discard;\n")
    with Namespace("late") as space:
        router = subprocess.Popen(space.command(*routers.command(configuration, {}, folder=str(tmp_path))))
        try:
            assert space.run("ip", "link", "add", "late0", "type", "veth", "peer", "name", "late1").returncode == 0
            wait_for((tmp_path / "control.sock").exists, "the control socket")
        finally:
            router.terminate()
            assert router.wait(timeout=15) == 0


def test_what_to_host_would_get_is_told_to_be_discarded(tmp_path: Path) -> None:
    with bridged(tmp_path, "FromDevice(ian) -> sink :: ToHost;") as (_, _, router):
        assert "sink discards what it gets" in router.messages()


def test_real_time_priority_is_used_or_its_absence_told(tmp_path: Path) -> None:
    with bridged(tmp_path, BRIDGE, 1500, "--priority", "5") as (_, _, router):
        fifo = Path(f"/proc/{router.process.pid}/stat").read_text().rpartition(")")[2].split()[38] == "1"
        assert fifo or "no real-time scheduling" in router.messages()
