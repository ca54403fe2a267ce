# SPDX-License-Identifier: GPL-2.0-or-later
"""A configuration that takes over from a running one by the handler `hotconfig`: what is kept, what is refused, what is lost."""

from __future__ import annotations

import random
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from testbed.nodes.routers import HandlerRefused
from tests.click_lab import Meoc
from tests.namespaces import Tap, ipv4, udp, wait_for

pytestmark = pytest.mark.lab

CONFIGURATION = (Path(__file__).resolve().parent / "meoc.click").read_text()
#: The same network with one queue towards the satellite and no shaper.
PLAIN = CONFIGURATION.replace("-> jan_shaper :: BandwidthRatedUnqueue($JAN_RATE, BURST_BYTES 1514)", "")
PLAIN = PLAIN.replace("-> jan_queue :: Queue(10) -> ToDevice", "-> ToDevice")


class Stream(threading.Thread):
    """Sends numbered packets from fr1 to eoc at a rate until it is told to stop."""

    def __init__(self, tap: Tap, meoc: Meoc, rate: float) -> None:
        super().__init__()
        self.tap, self.meoc, self.rate = tap, meoc, rate
        self.sent, self.over = 0, threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        while not self.over.is_set():
            if (ahead := began + self.sent / self.rate - time.monotonic()) > 0:
                time.sleep(ahead)
            self.tap.send(self.meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(struct.pack("!I", self.sent) + bytes(60)))))
            self.sent += 1


def ours(frame: bytes) -> bool:
    return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == struct.pack("!H", 9000)


def test_a_stream_crosses_swaps_of_the_configuration_without_a_lost_or_disordered_frame(meoc: Meoc) -> None:
    """2000 packets a second, 1.7 Mbit/s: the shaper's rate, so that its queue is never empty for long."""
    meoc.fr1.run("ping", "-c", "1", "10.20.0.20")
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc, meoc.router.handlers() as handlers:
        stream = Stream(fr1, meoc, 2000.0)
        stream.start()
        for configuration in (PLAIN, CONFIGURATION) * 3:
            time.sleep(0.1)
            assert handlers.write("hotconfig", configuration) == ""
        stream.over.set()
        stream.join()
        arrived = [struct.unpack("!I", frame[42:46])[0] for _, frame in eoc.frames(1.0) if ours(frame)]
        assert arrived == list(range(stream.sent))


def test_what_waits_in_the_queues_leaves_before_the_new_configuration_takes_over(meoc: Meoc) -> None:
    """90 packets of 1000 bytes are 0.4 s of the shaper's rate, and fewer than the queue of best effort takes."""
    meoc.fr1.run("ping", "-c", "1", "10.20.0.20")
    with Tap(meoc.fr1, "eth0") as fr1, Tap(meoc.eoc, "eth0") as eoc, meoc.router.handlers() as handlers:
        for number in range(90):
            fr1.send(meoc.to_router(ipv4("10.10.0.11", "10.20.0.20", udp(struct.pack("!I", number) + bytes(968)))))
        wait_for(lambda: int(handlers.read("jan_be.length")) > 0, "a queue")
        assert handlers.write("hotconfig", PLAIN) == ""
        assert handlers.write("hotconfig", CONFIGURATION) == ""
        assert [struct.unpack("!I", frame[42:46])[0] for _, frame in eoc.frames(1.0) if ours(frame)] == list(range(90))


def test_addresses_that_were_learnt_are_still_known(meoc: Meoc) -> None:
    meoc.fr1.run("ping", "-c", "1", "10.20.0.20")
    with meoc.router.handlers() as handlers:
        handlers.write("hotconfig", CONFIGURATION)
        assert handlers.read("jan_arp.table").startswith("10.20.0.20 1 02-00-00-00-02-20")
        assert handlers.read("jan_arp.queries") == "0"


def test_a_wrong_configuration_is_refused_with_its_line_and_the_old_one_goes_on(meoc: Meoc) -> None:
    with meoc.router.handlers() as handlers:
        handlers.write("jan_be.capacity", "77")
        with pytest.raises(HandlerRefused, match=r"hotconfig:2:.*NoSuchElement") as refused:
            handlers.write("hotconfig", "Idle -> Discard;\nIdle -> NoSuchElement -> Discard;\n")
        assert refused.value.code == 520
        with pytest.raises(HandlerRefused, match=r"interface 'gone' is not in this network namespace"):
            handlers.write("hotconfig", "FromDevice(gone) -> Discard;")
        with pytest.raises(HandlerRefused, match="BPF_FILTER is not possible here"):
            handlers.write("hotconfig", "FromDevice(ian, BPF_FILTER ip) -> Discard;")
        assert handlers.read("jan_be.capacity") == "77"
        handlers.write("jan_be.capacity", "100")
    assert "1 received" in meoc.fr1.run("ping", "-c", "1", "-W", "2", "10.20.0.20").stdout


def test_control_sockets_of_a_configuration_come_and_go_with_it(meoc: Meoc) -> None:
    own = meoc.router.folder / "own.sock"
    with meoc.router.handlers() as handlers:
        handlers.write("hotconfig", f"{CONFIGURATION} ControlSocket(UNIX, {own});")
        wait_for(own.exists, "the configuration's own control socket")
        handlers.write("hotconfig", CONFIGURATION)
        wait_for(lambda: not own.exists(), "its end")


@pytest.mark.parametrize("seed", range(3))
def test_mutilated_configurations_do_no_harm(meoc: Meoc, seed: int) -> None:
    chance = random.Random(seed)
    with meoc.router.handlers() as handlers:
        for _ in range(30):
            text = list(CONFIGURATION)
            for _ in range(chance.randint(1, 30)):
                at, length = chance.randrange(len(text)), chance.randint(0, 40)
                text[at : at + length] = chance.choice(["", "(", ")", "{", "->", "::", '"', "$", "\\", "// ", "[9]", "é", ";"])
            with suppress(HandlerRefused):
                handlers.write("hotconfig", "".join(text))
        handlers.write("hotconfig", CONFIGURATION)
    assert "1 received" in meoc.fr1.run("ping", "-c", "1", "-W", "2", "10.20.0.20").stdout


def test_many_swaps_take_no_memory_and_leave_no_file_open(meoc: Meoc) -> None:
    process = Path("/proc", str(meoc.router.process.pid))

    def pages() -> int:
        return int((process / "statm").read_text().split()[1])

    with meoc.router.handlers() as handlers:
        for _ in range(20):
            handlers.write("hotconfig", CONFIGURATION)
        before, files = pages(), len(list((process / "fd").iterdir()))
        for _ in range(100):
            handlers.write("hotconfig", CONFIGURATION)
        assert len(list((process / "fd").iterdir())) == files
        # Click keeps about 2 kB of each configuration; 200 kB are 50 pages.
        assert pages() - before < 128
