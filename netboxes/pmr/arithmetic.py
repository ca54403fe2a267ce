# SPDX-License-Identifier: GPL-2.0-or-later
"""What EN 300 392-2 says of slots and blocks: what the segment is judged by."""

from __future__ import annotations

import math

#: s (clause 7).
SLOT = 85e-3 / 6
FRAME = 4 * SLOT
#: Net bits of a slot (clause 8).
BLOCK = {"none": 432, "low": 288, "high": 144}
#: Bits of headers: once a packet (SNDCP, FCS), in the first block and in further ones (MAC, LLC).
PACKET_HEADERS, FIRST_HEADERS, FURTHER_HEADERS = 16 + 32, 37 + 17, 4 + 17


def net_rate(protection: str, slots: int = 1) -> float:
    """bit/s of a channel, the control frame taken off: 7200, 4800 or 2400 for each slot."""
    return slots * BLOCK[protection] * 17 / 18 / FRAME


def blocks(packet: int, protection: str) -> int:
    """That carry a layer-3 packet of so many bytes."""
    bits = 8 * packet + PACKET_HEADERS
    return 1 + max(0, math.ceil((bits - (BLOCK[protection] - FIRST_HEADERS)) / (BLOCK[protection] - FURTHER_HEADERS)))


def sent_by(start: float, count: int, first: int = 1, slots: int = 1) -> float:
    """When the last of so many blocks ends, which fill these slots of each frame from the first whole one after `start`; s."""
    frame = math.ceil((start - first * SLOT) / FRAME - 1e-7)
    end = start
    while count:
        if frame % 18 != 17:
            here = min(count, slots)
            count -= here
            end = frame * FRAME + (first + here) * SLOT
        frame += 1
    return end


def access_ends(start: float) -> float:
    """End of the first random access opportunity from `start` on: two in the control slot of each frame; s."""
    frame = int(start / FRAME)
    begins = (f * FRAME + half * SLOT / 2 for f in (frame, frame + 1) for half in (0, 1))
    return next(begin for begin in begins if begin >= start - 1e-9) + SLOT / 2


def goodput(packet: int, protection: str, slots: int = 1, acknowledged: bool = False) -> float:
    """Of layer-3 packets in a call that lasts, bit/s: each begins a frame, and an acknowledgement takes another one."""
    frames = math.ceil(blocks(packet, protection) / slots) + acknowledged
    return packet * 8 / (frames * FRAME) * 17 / 18


def bit_error_rate(symbol_snr: float) -> float:
    """Of differentially detected pi/4-DQPSK over a Rayleigh fade, by the mean ratio of a symbol's energy to noise (not in dB).

    Proakis, Digital Communications, 4th ed., 14.4.
    """
    mu = symbol_snr / (1 + symbol_snr)
    return 0.5 * (1 - mu / math.sqrt(2 - mu * mu))


def accesses_of_two(window: int) -> float:
    """Mean accesses of each of two terminals that begin together: they collide, and then with probability 1/window again."""
    return 1 + window / (window - 1)
