# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless player of a video by MPEG-DASH, over one connection of HTTP/1.1, again and again until its time is over.

    python3 player.zip URL RECORD OPTIONS

It runs in a host of a lab, by nothing but Python's standard library. What it decides and when is as of a player with a
screen; media are fetched whole and thrown away. netboxes/endpoints/dash_client.cc is the same player in virtual time.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import socket
import sys
import time
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, NoReturn, TypedDict
from urllib.parse import urljoin, urlsplit

from applications.dash.adaptation import RateAdaptation, Rule
from applications.dash.manifest import BadManifest, Manifest
from applications.dash.play_buffer import PlayBuffer, State

if TYPE_CHECKING:
    from applications.dash.record import PlaybackRecord, SegmentRecord


class PlayerOptions(TypedDict):
    """Times are seconds."""

    #: Of the entry of the traffic.
    name: str
    duration_s: float
    #: Of the play-out buffer: the most that it holds, and how much before it plays, at first and after it stood still.
    buffer_s: float
    start_up_s: float
    rebuffer_s: float
    #: A buffer above has it wait before the next request; null: never.
    back_off_above_s: float | None
    adaptation: Rule
    safety: float
    #: The octet of the IP header.
    traffic_class: int
    #: Of the times that it backs off.
    seed: int


class _Over(Exception):
    """Its time is over."""


class _MarkedConnection(http.client.HTTPConnection):
    """One whose packets are of a traffic class from the first one on."""

    def __init__(self, host: str, port: int, traffic_class: int) -> None:
        super().__init__(host, port)
        self._traffic_class = traffic_class

    def connect(self) -> None:
        family, kind, protocol, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
        self.sock = socket.socket(family, kind, protocol)
        if family == socket.AF_INET6:
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, self._traffic_class)
        else:
            self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self._traffic_class)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.connect(address)


class Player:
    """Plays the video of a manifest, and takes down what it does."""

    def __init__(self, url: str, record: IO[str], options: PlayerOptions) -> None:
        self._url, self._record, self._options = url, record, options
        server = urlsplit(url)
        assert server.hostname is not None
        self._connection = _MarkedConnection(server.hostname, server.port or 80, options["traffic_class"])
        self._buffer = PlayBuffer(options["start_up_s"], options["rebuffer_s"], self._tell)
        self._random = random.Random(options["seed"])
        self._began = time.monotonic()

    def play(self) -> NoReturn:
        """Raises _Over, OSError, http.client.HTTPException, BadManifest."""
        options = self._options
        manifest = Manifest.parsed(self._get(self._url))
        rates = [one.rate for one in manifest.representations]
        adaptation = RateAdaptation(options["adaptation"], rates, options["safety"], options["buffer_s"])
        initialized, number = set[int](), 0
        while True:
            self._buffer.advance(self._now())
            level, estimate = self._buffer.level, adaptation.estimate()
            chosen = adaptation.choose(level)
            representation = manifest.representations[chosen]
            if chosen not in initialized:
                self._get(urljoin(self._url, representation.initialization))
                initialized.add(chosen)
            requested = self._now()
            name = representation.segments[number % len(representation.segments)]
            length = len(self._get(urljoin(self._url, name)))
            completed = self._now()
            self._buffer.fill(completed, manifest.segment_s)
            self._write(
                {
                    "record": "segment",
                    "flow": options["name"],
                    "segment": number,
                    "representation": chosen,
                    "bytes": length,
                    "requested_s": requested,
                    "completed_s": completed,
                    "decided_at_s": level,
                    "estimate_bit_per_s": estimate,
                    "buffer_s": self._buffer.level,
                }
            )
            adaptation.add(length * 8 / (completed - requested))
            number += 1
            self._wait(manifest.segment_s)

    def end(self) -> None:
        """Of the time that it plays."""
        self._buffer.advance(self._options["duration_s"])

    def _wait(self, segment_s: float) -> None:
        """Until the buffer has room, and for as long as it backs off."""
        wait, level, above = 0.0, self._buffer.level, self._options["back_off_above_s"]
        wait = max(wait, level + segment_s - self._options["buffer_s"])
        if above is not None and level > above:
            wait += self._random.random()
        time.sleep(wait)

    def _get(self, url: str) -> bytes:
        """Raises OSError, http.client.HTTPException."""
        self._connection.request("GET", urlsplit(url).path)
        reply = self._connection.getresponse()
        content = reply.read()
        if reply.status != http.client.OK:
            raise http.client.HTTPException(f"{url}: {reply.status} {reply.reason}")
        return content

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _tell(self, state: State, at: float) -> None:
        self._write({"record": "playback", "flow": self._options["name"], "state": state, "time_s": at})

    def _write(self, line: SegmentRecord | PlaybackRecord) -> None:
        self._record.write(json.dumps(line) + "\n")
        self._record.flush()


def _over(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Over


def main() -> int:
    """The program; its exit status."""
    url, file, text = sys.argv[1:]
    options: PlayerOptions = json.loads(text)
    signal.signal(signal.SIGALRM, _over)
    with Path(file).open("w") as record:
        player = Player(url, record, options)
        signal.setitimer(signal.ITIMER_REAL, options["duration_s"])
        try:
            player.play()
        except _Over:
            player.end()
        except (OSError, http.client.HTTPException, BadManifest) as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            print(f"{url}: {error!r}", file=sys.stderr)
            return 1
    return 0
