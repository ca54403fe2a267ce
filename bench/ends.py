# SPDX-License-Identifier: GPL-2.0-or-later
"""The generator and the sink of a lab, told through their control sockets what to offer and asked what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.networks import DRAIN, SOURCE
from bench.trial import Trial
from contracts.errors import NetBoxITError
from testbed.labs.lab import Lab
from testbed.nodes.control import Control

#: How often the ends are asked: seldom, since to answer keeps them from their work.
_ASK_S = 0.05
#: What is still on its way has arrived when the sink counted nothing new for so long; queues drain, but not for ever.
_QUIET_S = 0.15
_DRAIN_S = 3.0
#: A generator that has not sent all after so much more time than asked is stopped: it cannot keep the rate.
_PATIENCE_S = 0.5
#: Until routers have asked for addresses, stations have associated.
_OPEN_S = 15.0


class NoWay(NetBoxITError):
    """Nothing of what the generator sends reaches the sink."""


class Ends:
    """Trials between the generator and the sink of one lab."""

    def __init__(self, lab: Lab, source: Control, drain: Control) -> None:
        self._lab, self._source, self._drain = lab, source, drain

    @classmethod
    @contextmanager
    def of(cls, lab: Lab) -> Iterator[Ends]:
        with lab.control(SOURCE) as source, lab.control(DRAIN) as drain:
            yield cls(lab, source, drain)

    def open_path(self) -> None:
        """Sends a few frames until one arrives: addresses are resolved then, and stations associated. Raises NoWay."""
        deadline = time.monotonic() + _OPEN_S
        while time.monotonic() < deadline:
            if self.offer(100, 0.1).received:
                return
        self._lab.check_alive()
        raise NoWay(f"lab {self._lab.name}: no frame of the generator has reached the sink within {_OPEN_S:g} s")

    def offer(self, rate: float, duration_s: float) -> Trial:
        """One trial of so many frames a second, for so long."""
        self._drain.reset()
        self._source.reset()
        self._source.set("rate", rate)
        self._source.set("count", max(1, round(rate * duration_s)))
        self._source.set("active", True)
        time.sleep(duration_s)
        sent = self._sent()
        received = self._received(sum(stream["emitted"] for stream in sent))
        delays = received["delay_us"]
        return Trial(
            rate=rate * len(sent),
            sent=sum(stream["emitted"] for stream in sent),
            lasted_s=(max(stream["last_ns"] for stream in sent) - min(stream["first_ns"] for stream in sent)) / 1e9,
            received=received["received"],
            delay_p50_us=delays.get("p50", 0.0),
            delay_p99_us=delays.get("p99", 0.0),
            delivered=received["rate"],
        )

    def _sent(self) -> list[dict[str, Any]]:
        """What each stream of the generator sent, once all have ended."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            streams = list(self._source.statistics()["segment"]["stations"].values())
            if not any(stream["active"] for stream in streams):
                return streams
            if time.monotonic() > deadline:
                self._source.set("active", False)
            time.sleep(_ASK_S)

    def _received(self, sent: int) -> dict[str, Any]:
        """What the sink counted, once nothing more arrives."""
        deadline = time.monotonic() + _DRAIN_S
        latest, since = -1, time.monotonic()
        while True:
            counted: dict[str, Any] = self._drain.statistics()["segment"]
            now = time.monotonic()
            if counted["received"] != latest:
                latest, since = counted["received"], now
            if latest >= sent or now - since >= _QUIET_S or now > deadline:
                return counted
            time.sleep(_ASK_S)
