# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether frames of full size pass a wire between two machines, both ways, asked at the nodes' own interfaces."""

from __future__ import annotations

import hmac
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from contracts.errors import NetBoxITError
from system import namespaces
from testbed.labs.lab import Lab

#: For experiments in a local network (IEEE 802, clause 9.2).
_ETHERTYPE: Final = 0x88B5
#: Of the reserved addresses that no bridge hands on (IEEE 802.1Q, table 8-1): the probe does not get into the emulated network.
_NEAREST_BRIDGE: Final = bytes.fromhex("0180c200000e")
_HEADER: Final = 14
_TRIES, _PATIENCE_S = 12, 0.25
#: Longer than anybody asks.
_LISTEN_S: Final = 60.0
_QUESTION, _ANSWER = b"?", b"!"


class WireNotPassed(NetBoxITError):
    """Frames do not get through between two machines."""


class Prober:
    """Sends and answers probes at the interfaces of one machine's part of a lab."""

    def __init__(self, lab: Callable[[], Lab]) -> None:
        self._lab = lab
        self._open: dict[tuple[str, str], _Answerer] = {}

    def methods(self) -> dict[str, Callable[..., int | None]]:
        """By the names by which another machine calls them."""
        return {"answer_probes": self.answer, "probes_answered": self.answered, "probe": self.ask}

    def answer(self, node: str, interface: str, token: str) -> None:
        """Begins to answer; `answered` follows."""
        self._open[node, interface] = _Answerer(self._lab(), node, interface, bytes.fromhex(token))

    def answered(self, node: str, interface: str) -> int:
        """Ends answering. Returns how many questions came."""
        return self._open.pop((node, interface)).close()

    def ask(self, node: str, interface: str, token: str, mtu: int) -> int | None:
        """The shortest round trip of some frames of full size, in nanoseconds; None when no answer came."""
        secret, round_trips_ns = bytes.fromhex(token), list[int]()
        with _socket(self._lab(), node, interface) as asking:
            for _ in range(_TRIES):
                sent_ns = time.monotonic_ns()
                with suppress(OSError):  # it is too long for what carries it, or that is down: no answer will come
                    _send(asking, _QUESTION, secret, mtu + _HEADER)
                if _received(asking, _ANSWER, secret, _PATIENCE_S) is not None:
                    round_trips_ns.append(time.monotonic_ns() - sent_ns)
        return min(round_trips_ns, default=None)

    def close(self) -> None:
        for name in list(self._open):
            self.answered(*name)


class _Answerer:
    """Answers each question by a frame of its size."""

    def __init__(self, lab: Lab, node: str, interface: str, token: bytes) -> None:
        self._socket, self._token = _socket(lab, node, interface), token
        self._questions = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._answer, name=f"probes at {node}", daemon=True)
        self._thread.start()

    def close(self) -> int:
        self._over.set()
        self._thread.join()
        return self._questions

    def _answer(self) -> None:
        until = time.monotonic() + _LISTEN_S
        with self._socket:
            while not self._over.is_set() and time.monotonic() < until:
                if (frame := _received(self._socket, _QUESTION, self._token, 0.1)) is not None:
                    self._questions += 1
                    with suppress(OSError):
                        _send(self._socket, _ANSWER, self._token, len(frame))


def _socket(lab: Lab, node: str, interface: str) -> socket.socket:
    with namespaces.entered(lab.node(node).namespace):
        packet_socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETHERTYPE))
    packet_socket.bind((interface, _ETHERTYPE))
    return packet_socket


def _send(by: socket.socket, kind: bytes, token: bytes, length: int) -> None:
    own = by.getsockname()[4]
    by.send((_NEAREST_BRIDGE + own + _ETHERTYPE.to_bytes(2, "big") + kind + token).ljust(length, b"\0"))


def _received(by: socket.socket, kind: bytes, token: bytes, patience_s: float) -> bytes | None:
    """The next frame that is one of these; those that this machine sent itself do not count."""
    until = time.monotonic() + patience_s
    while (left := until - time.monotonic()) > 0:
        if select.select([by], [], [], left)[0]:
            frame, origin = by.recvfrom(1 << 16)
            message = frame[_HEADER : _HEADER + 1 + len(token)]
            if origin[2] != socket.PACKET_OUTGOING and hmac.compare_digest(message, kind + token):
                return frame
    return None


def not_passed(wire: str, mtu: int, asking: str, answering: str, questions: int) -> WireNotPassed:
    """What is wrong: so many questions came from one machine to the other, and no answer."""
    sender, receiver = (asking, answering) if questions == 0 else (answering, asking)
    return WireNotPassed(
        f"wire {wire}: no frame of full size ({mtu + _HEADER} bytes) gets from {sender} to {receiver}; see whether a firewall on "
        "the way lets the tunnel's UDP port through (`netboxit plan` says which), and whether the path takes packets of that "
        "size and the tunnel's headers, or give the wire a smaller mtu"
    )
