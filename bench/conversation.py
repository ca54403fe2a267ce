# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording to measure with: what a call with video looks like on the wire, made from a seed, so that nobody has to keep it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from applications.dscp import DSCP
from netboxes.engine.virtual import udp

#: Opus at 28 kbit/s in RTP, as in topologies/emergency.reference.yaml: 124 bytes on Ethernet every 20 ms.
VOICE_GAP_NS, VOICE_PAYLOAD = 20_000_000, 124 - 4 - 14 - 28
#: Pictures at 12.5 Hz, cut into packets of an RTP encoder's usual size that leave its host back to back.
PICTURE_GAP_NS, PICTURE_PACKETS, VIDEO_PAYLOAD, VIDEO_SPACING_NS = 80_000_000, (1, 6), 1000, 100_000
#: How much an end's own scheduling moves its packets: else the phase between 20 ms and a medium's frame would always be the same.
UNREST_NS = 4_000_000


class Conversation(NamedTuple):
    """What each of two ends sends: times in ns from a common start, and frames. All frames differ."""

    left: list[tuple[int, bytes]]
    right: list[tuple[int, bytes]]


def conversation(duration_s: float, seed: int = 1) -> Conversation:
    """Both speak, the left end also shows pictures: about 750 kbit/s from it, 50 kbit/s to it."""
    chance = random.Random(seed)
    duration_ns = round(duration_s * 1e9)
    left = [*_voice(1, 2, duration_ns, chance), *_video(1, 2, duration_ns, chance)]
    return Conversation(sorted(left), sorted(_voice(2, 1, duration_ns, chance)))


def _voice(source: int, destination: int, duration_ns: int, chance: random.Random) -> Iterator[tuple[int, bytes]]:
    for number, start in enumerate(range(0, duration_ns, VOICE_GAP_NS)):
        frame = udp(source, destination, VOICE_PAYLOAD, dscp=DSCP["ef"], ports=(16384, 16384), identification=number)
        yield start + chance.randrange(UNREST_NS), frame


def _video(source: int, destination: int, duration_ns: int, chance: random.Random) -> Iterator[tuple[int, bytes]]:
    number = 0
    for start in range(0, duration_ns, PICTURE_GAP_NS):
        leaves = start + chance.randrange(UNREST_NS)
        for packet in range(chance.randint(*PICTURE_PACKETS)):
            frame = udp(source, destination, VIDEO_PAYLOAD, dscp=DSCP["af41"], ports=(5004, 5004), identification=number)
            yield leaves + packet * VIDEO_SPACING_NS, frame
            number += 1
