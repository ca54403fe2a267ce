# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of numbered datagrams between hosts of a lab, sent and counted from here: each socket is in the network of its host."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from bench.ends import NoWay
from system import namespaces
from testbed.labs.lab import Lab

_PORT = 7000
#: Until addresses are resolved and segments carry frames.
_OPEN_S = 15.0
#: What is still on its way when the flows end.
_DRAIN_S = 0.5


class Pair:
    """Who sends to whom, and the address there."""

    def __init__(self, source: str, destination: str, address: str) -> None:
        self.source, self.destination, self.address = source, destination, address


class Flows:
    """One for each pair, from when the first datagram of each has arrived until the end of the with block."""

    #: Datagrams a second of each flow.
    RATE = 100.0

    def __init__(self, lab: Lab, pairs: Sequence[Pair]) -> None:
        self._lab, self._pairs = lab, pairs
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send, name="flows", daemon=True)
        #: Datagrams of each flow so far.
        self.sent = 0
        self._received = [0] * len(pairs)

    def __enter__(self) -> Self:
        self._into = [self._socket(pair.destination) for pair in self._pairs]
        self._out = [self._socket(pair.source) for pair in self._pairs]
        self._ready = selectors.DefaultSelector()
        for number, (pair, out, into) in enumerate(zip(self._pairs, self._out, self._into, strict=True)):
            into.bind((pair.address, _PORT))
            out.connect((pair.address, _PORT))
            self._ready.register(into, selectors.EVENT_READ, number)
        self._open()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._ready.close()
        for endpoint in (*self._into, *self._out):
            endpoint.close()

    def lost(self) -> list[int]:
        """Of each flow, once they have ended."""
        return [self.sent - received for received in self._received]

    def _socket(self, host: str) -> socket.socket:
        with namespaces.entered(self._lab.node(host).namespace):
            udp_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp_socket.setblocking(False)
        return udp_socket

    def _open(self) -> None:
        """Until every flow's way carries: then nothing of that is counted."""
        deadline = time.monotonic() + _OPEN_S
        while not all(self._received):
            if time.monotonic() > deadline:
                raise NoWay(f"lab {self._lab.name}: not every flow's way carries after {_OPEN_S:g} s")
            self._send_round()
            self._receive(0.1)
        while self._receive(_DRAIN_S):
            pass
        self._received = [0] * len(self._pairs)

    def _send(self) -> None:
        began = time.monotonic()
        while not self._over.is_set():
            self._send_round()
            self.sent += 1
            due = began + self.sent / self.RATE
            while (left := due - time.monotonic()) > 0:
                self._receive(left)
        while self._receive(_DRAIN_S):
            pass

    def _send_round(self) -> None:
        for out in self._out:
            try:
                out.send(b"datagram of a flow")
            except OSError:
                continue  # an interface is being made anew: that one is lost

    def _receive(self, timeout_s: float) -> bool:
        """Counts what is there, waiting for it for so long at most; false when there was nothing."""
        ready = self._ready.select(timeout_s)
        for key, _ in ready:
            try:
                while key.fileobj.recv(64):  # type: ignore[union-attr]
                    self._received[key.data] += 1
            except BlockingIOError:
                continue
        return bool(ready)
