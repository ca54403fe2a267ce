# SPDX-License-Identifier: GPL-2.0-or-later
"""What IEEE 802.15.4-2006 (2.4 GHz, no beacons) and RFC 4944 say of times, sizes and errors: what the segment is judged by."""

from __future__ import annotations

import math

# In us: a symbol is 16 us, a byte two symbols (6.5.1).
SYMBOL = 16.0
BYTE = 2 * SYMBOL
BACKOFF_PERIOD = 20 * SYMBOL  # aUnitBackoffPeriod, Table 85
CCA = 8 * SYMBOL  # 6.9.9
TURNAROUND = 12 * SYMBOL  # aTurnaroundTime, Table 22
LIFS, SIFS, LONGEST_WITH_SIFS = 40 * SYMBOL, 12 * SYMBOL, 18  # macMinLIFSPeriod, macMinSIFSPeriod; aMaxSIFSFrameSize in bytes
ACK_WAIT = 54 * SYMBOL  # macAckWaitDuration, 7.4.2: a backoff period, a turnaround, a preamble with its delimiter, and 6 bytes

PHY_HEADERS = 6  # bytes: preamble 4, delimiter 1, length 1
LONGEST_FRAME = 127
ACK_FRAME = 5


def mac_overhead(extended: bool = False) -> int:
    """MAC header and FCS of a data frame within one PAN: 11 bytes with short addresses, 23 with extended ones."""
    return 2 + 1 + 2 + 2 * (8 if extended else 2) + 2


def fragments(packet: int, extended: bool = False) -> list[int]:
    """MAC frames, in bytes, that carry a layer-3 packet (RFC 4944, 5.1 and 5.3): a dispatch byte; when that does not fit,
    a header of 4 bytes in the first fragment and of 5 in further ones, parts in units of 8 bytes."""
    overhead = mac_overhead(extended)
    payload = LONGEST_FRAME - overhead
    if packet + 1 <= payload:
        return [overhead + 1 + packet]
    first = (payload - 5) // 8 * 8
    frames, left = [overhead + 5 + first], packet - first
    while left > payload - 5:
        frames.append(overhead + 5 + first)
        left -= first
    return [*frames, overhead + 5 + left]


def airtime(frame: int) -> float:
    """us, with preamble and PHY header."""
    return (PHY_HEADERS + frame) * BYTE


def interframe_space(frame: int) -> float:
    return SIFS if frame <= LONGEST_WITH_SIFS else LIFS


def frame_delay(frame: int, backoff: float) -> float:
    """From a frame's turn to its arrival, us, when the channel is idle; `backoff` in backoff periods."""
    return backoff * BACKOFF_PERIOD + CCA + TURNAROUND + airtime(frame)


def frame_cycle(frame: int, min_be: int = 3, acknowledged: bool = True) -> float:
    """Mean time that a frame takes a lone sender which always has another one, us (as Latré et al. 2006 reckon, with CCA and
    turnaround before the frame, which they leave out)."""
    acknowledgement = TURNAROUND + airtime(ACK_FRAME) if acknowledged else 0.0
    return frame_delay(frame, (2**min_be - 1) / 2) + acknowledgement + interframe_space(frame)


def packet_cycle(packet: int, *, min_be: int = 3, acknowledged: bool = True, extended: bool = False) -> float:
    """The same of a layer-3 packet with all its fragments, us."""
    return sum(frame_cycle(frame, min_be, acknowledged) for frame in fragments(packet, extended))


def goodput(packet: int, *, min_be: int = 3, acknowledged: bool = True, extended: bool = False) -> float:
    """Of layer-3 packets, bit/s."""
    return packet * 8e6 / packet_cycle(packet, min_be=min_be, acknowledged=acknowledged, extended=extended)


def bit_error_rate(sinr: float) -> float:
    """Of O-QPSK at 2.4 GHz by the ratio of signal to noise and interference (not in dB; IEEE 802.15.4-2006, E.4.1.8)."""
    terms = ((-1) ** k * math.comb(16, k) * math.exp(20.0 * sinr * (1.0 / k - 1.0)) for k in range(2, 17))
    return 8.0 / 15.0 / 16.0 * float(sum(terms))


def frame_error_rate(sinr_db: float, frame: int) -> float:
    """Every bit counts, those of preamble and PHY header as well."""
    return 1.0 - (1.0 - bit_error_rate(10 ** (sinr_db / 10))) ** (8 * (PHY_HEADERS + frame))


def contention(stations: int, frame: int, *, min_be: int = 3, max_be: int = 5, backoffs: int = 4) -> tuple[float, float]:
    """Frames a second that get through, of all stations together, and the share of attempts that never found the channel idle.

    Each station always has a frame to send and hears all others; frames are acknowledged, but not repeated.

    A fixed point in the manner of Di Marco et al. 2012 (IEEE Trans. Vehicular Technology 61(7)) for one clear channel assessment,
    in continuous time: the channel is busy at an assessment with the same probability each time, and a frame collides when
    another station assesses the channel within the turnaround before or after.
    """
    delays = [(2 ** min(min_be + i, max_be) - 1) / 2 * BACKOFF_PERIOD + CCA for i in range(backoffs + 1)]
    good = TURNAROUND + airtime(frame) + TURNAROUND + airtime(ACK_FRAME) + interframe_space(frame)
    bad = TURNAROUND + airtime(frame) + ACK_WAIT
    heard = airtime(frame)
    busy, collided = 0.3, 0.1
    for _ in range(2000):
        backing_off = sum(busy**i * delay for i, delay in enumerate(delays))
        sends = 1.0 - busy ** (backoffs + 1)
        attempt = backing_off + sends * ((1 - collided) * good + collided * bad)
        rate = sends / attempt  # frames that one station begins, a us
        # Of the time that this station does not send, the others' frames take so much; simultaneous ones take it once.
        share = (stations - 1) * rate * (heard * (1 - collided / 2) + (1 - collided) * airtime(ACK_FRAME))
        own = rate * ((1 - collided) * good + collided * bad)
        now_busy = min(share / max(1e-9, 1 - own), 0.999)
        # How often the others assess an idle channel, which only happens when it is idle.
        idle = max(1e-3, 1 - share - rate * heard)
        now_collided = 1.0 - math.exp(-(stations - 1) * rate * 2 * TURNAROUND / idle)
        busy, collided = 0.9 * busy + 0.1 * now_busy, 0.9 * collided + 0.1 * now_collided
    return stations * rate * (1 - collided) * 1e6, busy ** (backoffs + 1)
