# SPDX-License-Identifier: GPL-2.0-or-later
"""The link that services are on, and the settings of schemes that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netboxes.link_layer.service import SETTINGS, Recovery

#: Bytes of the headers of a data frame, with the common one: of Go-Back-N and Selective Repeat (4.2.1), and of RLP (4.2.2).
ARQ_HEADER, RLP_HEADER = 3, 2
#: Frames that wait for a transmitter at most (ns-2 2.1b4, ns-default.tcl).
_QUEUE = 50


@dataclass(frozen=True)
class Profile:
    """One of his links (tables 3.1 to 3.3), and what he says or leaves open of its schemes.

    Timers of retransmissions are nowhere in the text, which wants them to be "at least" a round trip and relaxed. Those here are
    a round trip and some frames, with which a re-simulation of his experiments meets the figures that he has.
    """

    #: bit/s, of each direction.
    rate: float
    #: s, one way.
    delay: float
    #: Bytes of a frame, without the headers of the link layer.
    frame: int
    #: Losses of error levels 1 to 4, as `errors` says them.
    levels: tuple[Mapping[str, Any], ...]
    #: Frames that a retransmission timer is longer than two delays.
    timer_frames: int
    #: The same of RLP that asks once (5.3): a fade's repairs wait for each other.
    once_frames: int
    #: s, of RLP.
    keepalive: float
    #: Data frames of an XOR block (5.3).
    block: int
    #: s, after which adaptive XOR ends a block: slightly over twice the interval of conferencing (5.3).
    inactivity: float


@dataclass(frozen=True)
class Link:
    """What the schemes' defaults follow from."""

    rate: float
    delay: float
    frame: int
    profile: Profile | None = None

    def frame_time(self, header: int) -> float:
        """s that a full frame is in transmission."""
        return 8 * (self.frame + header) / self.rate

    def _timer(self, frames: int, header: int) -> float:
        return 2 * self.delay + frames * self.frame_time(header)

    def defaults(self) -> dict[str, dict[str, float | int]]:
        """By scheme, what its settings are where nobody says them; in base units.

        A link without a profile has the cellular link's timers, in its own frames.
        """
        profile = self.profile
        frame_s = self.frame_time(RLP_HEADER)
        arq = {
            "timer": self._timer(profile.timer_frames if profile else 24, ARQ_HEADER),
            "window": 127,  # "the maximum allowed by our implementation" (5.2.2)
            "ack_delay": self.frame_time(ARQ_HEADER),
            "fresh_acks": False,  # as in his simulator, whose figures come out so
            "repeats_first": False,  # likewise
            "sequence_bits": 8,
        }
        rlp = {
            "timer": self._timer(profile.timer_frames if profile else 24, RLP_HEADER),
            "timer_once": self._timer(profile.once_frames if profile else 16, RLP_HEADER),
            "attempts": 3,  # for TCP (4.3)
            "ring": 128,
            "keepalive": profile.keepalive if profile else 17 * frame_s,
            "sequence_bits": 8,
            "repeats_first": False,
        }
        block = profile.block if profile else 8
        schemes: dict[str, dict[str, float | int]] = {
            "none": {},
            **{name: dict(arq) for name in ("go-back-n", "sr", "sr-m1", "sr-m2")},
            "rlp": rlp,
            "rlp-oos": {**rlp, "attempts": 1},  # for conferencing (5.3)
            "xor": {"block": block},
            "xor-adaptive": {"block": block, "inactivity": profile.inactivity if profile else 4 * frame_s},
            # Of the module that he ported (ns-2 2.1b4, snoop.h), but the number of connections, which it does not limit.
            "snoop": {"cache": 100, "connections": 256, "timer_floor": 0.1},
        }
        return {name: {"queue": _QUEUE, **settings} for name, settings in schemes.items()}

    def settings(self, service: Recovery) -> dict[str, float | int]:
        """Of its scheme: what is said, or else the defaults, as the C++ takes them (layer_json.cc)."""
        usual = self.defaults()[service.scheme]
        if service.scheme.startswith("rlp") and (service.attempts or usual["attempts"]) == 1:
            usual["timer"] = usual["timer_once"]
        own = {key: getattr(service, key) for key in SETTINGS[service.scheme]}
        return {key: usual[key] if value is None else value for key, value in own.items()}
