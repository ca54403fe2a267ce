# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes a path between two hosts of a running lab, in both directions, with sockets of one process in the networks of both.

Small packets at equal distances tell delays and losses. Short trains of large ones, as fast as the host sends,
saturate the path and tell the rate: behind a bottleneck a train takes as long as the bottleneck needs. It is made to fill the
path for TRAIN_S, and is at most as long as the bound of the probing rate permits. Arrivals are stamped by the kernel, on the
clock by which packets are sent.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from contracts.errors import NetBoxITError
from system import namespaces
from testbed.observation.record_trace import OVERHEAD_BYTES, PathTrace, steps

#: How long a train is to fill the path.
TRAIN_S = 0.05
#: Packets of a train: the fewest that give a rate, and those of the first train.
_FEWEST, _FIRST = 6, 20
_HEADERS = 28
_SMALL, _LARGE = 32, 1472
#: The same as a link counts them.
_SMALL_BITS, _LARGE_BITS = ((size + _HEADERS + OVERHEAD_BYTES) * 8 for size in (_SMALL, _LARGE))
#: Packets that arrive later are lost.
_PATIENCE_S = 3.0
#: Number of the train (0: a packet by itself), number in it or by itself.
_MARK = struct.Struct("!II")
#: Linux, asm-generic/socket.h: SO_TIMESTAMPNS and SO_RCVBUFFORCE.
_TIMESTAMP_NS, _RECEIVE_BUFFER_FORCE = 35, 33


class ProbeFailed(NetBoxITError):
    """A path could not be probed: its ends do not reach each other."""


@dataclass(frozen=True)
class End:
    """A host: its name, its network namespace, its IPv4 address."""

    name: str
    namespace: str
    address: str


@dataclass(frozen=True)
class Probing:
    """How a path is probed."""

    duration_s: float
    step_s: float
    #: Small packets a second.
    packets_per_s: float
    #: Most that trains may add up to in each direction, bit/s on the mean.
    most_rate: float

    @property
    def longest_train(self) -> int:
        return max(_FEWEST, int(self.most_rate * self.step_s / _LARGE_BITS))


@dataclass
class _Train:
    sent_ns: int
    arrivals: dict[int, int] = field(default_factory=dict)

    def rate(self) -> float | None:
        """What the path carried while it was full, bit/s.

        Only times between packets that were sent one after the other count: between others a lost one may have been carried.
        """
        gaps = [self.arrivals[number + 1] - at for number, at in self.arrivals.items() if number + 1 in self.arrivals]
        if len(gaps) < 3 or sum(gaps) <= 0:
            return None
        return len(gaps) * _LARGE_BITS * 1e9 / sum(gaps)


class _Direction:
    """One direction."""

    def __init__(self, source: End, destination: End, probing: Probing) -> None:
        self.source, self.destination, self._probing = source, destination, probing
        self.sent_ns: list[int] = []
        self.arrived_ns: dict[int, int] = {}
        self.trains: list[_Train] = []
        self._out = _socket(source)
        self.incoming = _socket(destination)
        self._out.connect(self.incoming.getsockname())

    def close(self) -> None:
        self._out.close()
        self.incoming.close()

    def send_small(self) -> None:
        mark = _MARK.pack(0, len(self.sent_ns)).ljust(_SMALL, b"\0")
        self.sent_ns.append(time.time_ns())
        self._send(mark)

    def send_train(self) -> None:
        last = next((rate for train in reversed(self.trains) if (rate := train.rate())), None)
        wanted = _FIRST if last is None else round(last * TRAIN_S / _LARGE_BITS)
        count = max(_FEWEST, min(wanted, self._probing.longest_train))
        self.trains.append(_Train(time.time_ns()))
        for number in range(count):
            self._send(_MARK.pack(len(self.trains), number).ljust(_LARGE, b"\0"))

    def _send(self, data: bytes) -> None:
        try:
            self._out.send(data)
        except (BlockingIOError, ConnectionRefusedError):
            pass  # the host itself had no room, or a stray answer came: lost, as it is elsewhere
        except OSError as error:
            raise ProbeFailed(
                f"{self.source.name} cannot send to {self.destination.name} ({self.destination.address}): {error.strerror}; "
                "look at its routes"
            ) from error

    def receive(self) -> None:
        while True:
            try:
                data, ancillary, _, _ = self.incoming.recvmsg(2048, 64)
            except BlockingIOError:
                return
            if len(data) < _SMALL or not ancillary:
                continue
            seconds, nanoseconds = struct.unpack_from("@qq", ancillary[0][2])
            train, number = _MARK.unpack_from(data)
            arrivals = self.trains[train - 1].arrivals if 0 < train <= len(self.trains) else self.arrived_ns
            arrivals.setdefault(number, seconds * 1_000_000_000 + nanoseconds)

    def trace(self, start_ns: int) -> PathTrace:
        probing = self._probing
        if not self.arrived_ns:
            raise ProbeFailed(
                f"nothing of what {self.source.name} sent arrived at {self.destination.name} ({self.destination.address}); "
                f"try `netboxit exec {self.source.name} -- ping {self.destination.address}`"
            )
        sent = np.array(self.sent_ns)
        arrived = np.array([self.arrived_ns.get(number, -1) for number in range(len(sent))])
        delays = np.where(arrived < 0, np.nan, (arrived - sent) / 1e9)
        # A packet behind a train waits for it, or is dropped by a queue that the train filled: the path by itself is other.
        alone = np.ones(len(sent), bool)
        for train in self.trains:
            end = max(train.arrivals.values(), default=train.sent_ns + round(probing.step_s * 0.5e9))
            alone &= (sent < train.sent_ns) | (sent > end)
        rates: list[float | None] = [None] * round(probing.duration_s / probing.step_s)
        for train in self.trains:
            number = int((train.sent_ns - start_ns) / 1e9 / probing.step_s)
            if number < len(rates):
                rates[number] = train.rate()
        measured = steps((sent[alone] - start_ns) / 1e9, delays[alone], rates, probing.step_s, _SMALL_BITS)
        return PathTrace(self.source.name, self.destination.name, measured, len(rates) * probing.step_s)


def probe(left: End, right: End, probing: Probing, progress: Callable[[str], None] = lambda _: None) -> list[PathTrace]:
    """Both directions, from the left first. Raises ProbeFailed."""
    with (
        closing(_Direction(left, right, probing)) as there,
        closing(_Direction(right, left, probing)) as back,
        selectors.DefaultSelector() as arrivals,
    ):
        directions = [there, back]
        for direction in directions:
            arrivals.register(direction.incoming, selectors.EVENT_READ, direction)
        # Not counted: addresses are asked for (ARP), paths are learned.
        _warm_up(directions, arrivals)
        start_ns = _measure(directions, arrivals, probing, progress)
    return [direction.trace(start_ns) for direction in directions]


def _measure(
    directions: list[_Direction], arrivals: selectors.BaseSelector, probing: Probing, progress: Callable[[str], None]
) -> int:
    """Sends what is due, takes what comes; returns when it began."""
    gap = 1 / probing.packets_per_s
    start, start_ns = time.monotonic(), time.time_ns()
    small, trains = 0, 0
    shown_s = -1
    while (now := time.monotonic() - start) < probing.duration_s + _PATIENCE_S:
        while now < probing.duration_s and small * gap <= now:
            for direction in directions:
                direction.send_small()
            small += 1
        # Trains of the two directions are half a step apart, and not at its edges.
        while now < probing.duration_s and (trains / 2 + 0.25) * probing.step_s <= now:
            directions[trains % 2].send_train()
            trains += 1
        if int(now) != shown_s and now < probing.duration_s:
            shown_s = int(now)
            progress(f"probing, {probing.duration_s - now:.0f} s left")
        if now > probing.duration_s and all(len(direction.arrived_ns) == len(direction.sent_ns) for direction in directions):
            break
        due = min(small * gap, (trains / 2 + 0.25) * probing.step_s) if now < probing.duration_s else now + 0.05
        _receive(arrivals, due - (time.monotonic() - start))
    return start_ns


def _receive(arrivals: selectors.BaseSelector, patience_s: float) -> None:
    for key, _ in arrivals.select(max(0.0, patience_s)):
        key.data.receive()


def _warm_up(directions: list[_Direction], arrivals: selectors.BaseSelector) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and not all(direction.arrived_ns for direction in directions):
        for direction in directions:
            direction.send_small()
        _receive(arrivals, 0.1)
        time.sleep(0.1)
    # What is still on its way now is not to be taken for what comes next.
    settle = time.monotonic() + 0.5
    while time.monotonic() < settle:
        _receive(arrivals, 0.1)
    for direction in directions:
        direction.sent_ns.clear()
        direction.arrived_ns.clear()


def _socket(end: End) -> socket.socket:
    """In the host's network, also after the calling thread has left it."""
    with namespaces.entered(end.namespace):
        udp_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        udp_socket.setsockopt(socket.SOL_SOCKET, _TIMESTAMP_NS, 1)
        udp_socket.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, 8 << 20)
        udp_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        udp_socket.bind((end.address, 0))
    except OSError as error:
        udp_socket.close()
        raise ProbeFailed(f"{end.name}: no socket at {end.address}: {error.strerror}") from error
    return udp_socket
