# SPDX-License-Identifier: GPL-2.0-or-later
"""How far another machine's clock is from this one's, by datagrams with four time stamps (as in RFC 5905, section 8).

    other machine answering = Answering(own address, token)   tell answering.port to the controller; answering.close() afterwards
    controller    reading = compare(address, port, token)     → ClockReading; raises ClocksNotCompared

Clocks are CLOCK_REALTIME, and the kernel stamps arrivals. A datagram leaves after the time that is written in it, and arrives
before the time of its stamp. So the question and the answer each bound the other clock's offset, one from each side. However
long the two paths are, the offset is no further from the middle of the two bounds than half of the round trip. The fastest
exchange gives the narrowest bounds. Half of its round trip bounds the error; it is no estimate.
"""

from __future__ import annotations

import hmac
import random
import secrets
import select
import socket
import struct
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from contracts.errors import NetBoxITError
from contracts.machines import ClockReading

#: Only questions with the token are answered.
TOKEN_BYTES = 16
#: Token, number of the exchange, arrival at and departure from the far machine (0 in questions, which are as long as answers).
_DATAGRAM = struct.Struct(f"!{TOKEN_BYTES}sIqq")
#: Linux, asm-generic/socket.h: the socket option SO_TIMESTAMPNS, which is also the kind of the control message (SCM_TIMESTAMPNS).
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")

#: Exchanges of a comparison. Their smallest round trip is within microseconds of the least, also on machines with other work.
EXCHANGES = 100
#: The pause between two exchanges is random, up to this: no timer of either machine keeps step with them.
_PAUSE_S = 0.004
#: An answer that takes longer is not waited for: its error would be half of that.
_PATIENCE_S = 0.25
#: Of a whole comparison, which also ends after so many questions when none was answered.
_DEADLINE_S = 10.0
_GIVE_UP = 12
#: What one `Answering` does at the most: both comparisons of a run.
_MOST_ANSWERS = 10 * EXCHANGES
_LISTEN_S = 60.0


class ClocksNotCompared(NetBoxITError):
    """Nobody answered where the other machine's clock should be asked for."""


def own_clock() -> ClockReading:
    """This machine's clock as seen by itself."""
    return {"offset_ns": 0, "error_ns": 0, "round_trip_ns": 0, "samples": 0, "at_ns": time.time_ns()}


@dataclass(frozen=True)
class Exchange:
    """One question and its answer: `sent` and `returned` by this machine's clock, `arrived` and `answered` by the other's."""

    sent_ns: int
    arrived_ns: int
    answered_ns: int
    returned_ns: int

    @property
    def round_trip_ns(self) -> int:
        """Time on the two paths, without what the other machine took to answer."""
        return (self.returned_ns - self.sent_ns) - (self.answered_ns - self.arrived_ns)


def reading(exchanges: Sequence[Exchange]) -> ClockReading | None:
    """What the fastest exchange tells; None without any. Exchanges in which a clock was set back are left out."""
    sound = [exchange for exchange in exchanges if exchange.round_trip_ns >= 0 and exchange.returned_ns >= exchange.sent_ns]
    best = min(sound, key=lambda exchange: exchange.round_trip_ns, default=None)
    if best is None:
        return None
    return {
        "offset_ns": ((best.arrived_ns - best.sent_ns) + (best.answered_ns - best.returned_ns)) // 2,
        "error_ns": best.round_trip_ns // 2 + 1,
        "round_trip_ns": best.round_trip_ns,
        "samples": len(sound),
        "at_ns": (best.sent_ns + best.returned_ns) // 2,
    }


def new_token() -> bytes:
    """What the controller gives to `Answering`, over the connection, and to `compare`."""
    return secrets.token_bytes(TOKEN_BYTES)


class Answering:
    """Answers questions for the clock until it is closed, has answered `most` or listened for `for_s`."""

    def __init__(self, address: str, token: bytes, *, most: int = _MOST_ANSWERS, for_s: float = _LISTEN_S) -> None:
        """At a port of `address` that the kernel chooses. Raises ClocksNotCompared when that is not this machine's own."""
        self._socket, self._token, self._most = _socket(address), token, most
        self._until = time.monotonic() + for_s
        self.port: int = self._socket.getsockname()[1]
        self._ended, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._answer, name="clock", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._end.close()
        self._thread.join()

    def _answer(self) -> None:
        with self._socket, self._ended:
            while self._most > 0 and (left := self._until - time.monotonic()) > 0:
                ready, _, _ = select.select([self._socket, self._ended], [], [], left)
                if self._ended in ready:
                    return
                if ready:
                    self._answer_one()

    def _answer_one(self) -> None:
        question = _received(self._socket, self._token)
        if question is None:
            return
        self._most -= 1
        with suppress(OSError):  # whoever asked is gone, or the network is: to the controller it is a lost answer
            self._socket.sendto(_DATAGRAM.pack(self._token, question.number, question.at_ns, time.time_ns()), question.sender)


def compare(address: str, port: int, token: bytes, *, own_address: str = "", exchanges: int = EXCHANGES) -> ClockReading:
    """Compares the clock of the machine that answers there with this one's; takes about a third of a second."""
    there, exchanged, questions = _resolved(address, port), list[Exchange](), 0
    with _socket(own_address or ("::" if ":" in address else "0.0.0.0")) as asking:
        until = time.monotonic() + _DEADLINE_S
        while questions < exchanges and time.monotonic() < until and (exchanged or questions < _GIVE_UP):
            if exchange := _exchange(asking, there, token, questions):
                exchanged.append(exchange)
            questions += 1
            time.sleep(random.random() * _PAUSE_S)
    best = reading(exchanged)
    if best is None:
        raise ClocksNotCompared(
            f"the clock of {address} could not be compared: none of {questions} questions to its UDP port {port} was answered; "
            "a packet filter between the two machines may drop them: allow UDP between their addresses"
        )
    return best


def _exchange(asking: socket.socket, there: Any, token: bytes, number: int) -> Exchange | None:
    sent_ns, until = time.time_ns(), time.monotonic() + _PATIENCE_S
    try:
        asking.sendto(_DATAGRAM.pack(token, number, 0, 0), there)
    except OSError as error:
        raise ClocksNotCompared(f"no datagram can be sent to {there[0]}: {error.strerror}; look at the routes to it") from error
    while (left := until - time.monotonic()) > 0 and select.select([asking], [], [], left)[0]:
        answer = _received(asking, token)
        if answer is not None and answer.number == number:
            return Exchange(sent_ns, answer.arrived_ns, answer.answered_ns, answer.at_ns)
    return None


@dataclass(frozen=True)
class _Received:
    number: int
    arrived_ns: int
    answered_ns: int
    #: The kernel's stamp of this datagram.
    at_ns: int
    sender: Any


def _received(listening: socket.socket, token: bytes) -> _Received | None:
    """The next datagram; None for one of whoever does not know the token."""
    try:
        data, ancillary, _, sender = listening.recvmsg(_DATAGRAM.size + 1, socket.CMSG_SPACE(_TIMESPEC.size))
    except OSError:
        return None  # an ICMP error to what was sent before, or a datagram with a wrong checksum
    stamps = [value for level, kind, value in ancillary if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS)]
    if len(data) != _DATAGRAM.size or not stamps:
        return None
    seconds, nanoseconds = _TIMESPEC.unpack_from(stamps[0])
    received_token, number, arrived_ns, answered_ns = _DATAGRAM.unpack(data)
    if not hmac.compare_digest(received_token, token):
        return None
    return _Received(number, arrived_ns, answered_ns, seconds * 1_000_000_000 + nanoseconds, sender)


def _socket(address: str) -> socket.socket:
    there = _resolved(address, 0)
    udp_socket = socket.socket(socket.AF_INET6 if len(there) == 4 else socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        udp_socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        udp_socket.bind(there)
    except OSError as error:
        udp_socket.close()
        raise ClocksNotCompared(
            f"no clock can be compared at {address}: {error.strerror}; netboxit_address in the inventory has to be an address of "
            "the machine itself"
        ) from error
    return udp_socket


def _resolved(address: str, port: int) -> Any:
    """A numeric address, with the scope of a link-local one, as sockets take it."""
    try:
        return socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST)[0][4]
    except OSError as error:
        raise ClocksNotCompared(f"{address} is no IP address: {error.strerror}") from error
