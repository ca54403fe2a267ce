# SPDX-License-Identifier: GPL-2.0-or-later
"""The identity of a frame: a hash of what routers leave alone, the same at every point of the network.

docs/architecture.md ("Identity of a frame") defines it, netboxes/engine/identity.cc computes the same; identity_vectors.json
holds frames on which both must agree.
"""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from results.captured_frames import ETHERNET_HEADER, IPV4, IPV6, Frames, Octets, Places, numbers

_IPV4_HEADER, _IPV6_HEADER = 20, 40
_PAYLOAD = 128
_TCP = 6
#: Of IPv4's flags and fragment offset.
_FRAGMENT_OFFSET = 0x1FFF
#: Of a TCP header (RFC 9293, section 3.1), where window and checksum begin and end: a stage of a netbox may change them.
_BEFORE_WINDOW, _BEHIND_CHECKSUM = 14, 18
#: Of an IP header in the order in which they are hashed: IPv4's addresses, protocol, identification and fragment; IPv6's
#: addresses, next header, payload length.
_OF_IPV4, _OF_IPV6 = [*range(12, 20), 9, *range(4, 8)], [*range(8, 40), 6, 4, 5]


def identity(frame: bytes) -> int:
    """That of one Ethernet frame without FCS. Raises ValueError for less than an Ethernet header."""
    if len(frame) < ETHERNET_HEADER:
        raise ValueError(f"{len(frame)} bytes are no Ethernet frame")
    return int(identities(Frames.of([frame]))[0])


def identities(frames: Frames) -> NDArray[np.uint64]:
    """XXH3-64 of the invariant part of each frame; 0 for less than an Ethernet header."""
    kind, at = frames.network_layers
    captured = frames.end - at
    version = frames.at(at) >> 4
    #: Of each frame what is hashed before its payload, and where that begins and ends.
    heads, begin, end = [b""] * at.size, at.copy(), np.minimum(at + _PAYLOAD, frames.end)
    is_tcp = np.zeros(at.size, bool)

    def head(places: Places, rows: Octets) -> None:
        for place, row in zip(places.tolist(), np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0].tolist(), strict=True):
            heads[place] = row

    v4 = np.flatnonzero((kind == IPV4) & (captured >= _IPV4_HEADER) & (version == 4))
    rows = frames.rows(at[v4], _IPV4_HEADER)
    header, total = (rows[:, 0] & 0x0F).astype(np.int64) * 4, numbers(rows[:, 2:4], ">u2")
    # A header that is inconsistent or cut short is hashed as what is no IP.
    sound = (header >= _IPV4_HEADER) & (total >= header) & (captured[v4] >= header)
    v4, rows, header, total = v4[sound], rows[sound], header[sound], total[sound]
    head(v4, np.hstack([rows[:, _OF_IPV4], (total - header).astype(">u2").view(np.uint8).reshape(-1, 2)]))
    is_tcp[v4] = (rows[:, 9] == _TCP) & (numbers(rows[:, 6:8], ">u2") & _FRAGMENT_OFFSET == 0)
    begin[v4] += header
    end[v4] = np.minimum(at[v4] + np.minimum(total, header + _PAYLOAD), frames.end[v4])

    v6 = np.flatnonzero((kind == IPV6) & (captured >= _IPV6_HEADER) & (version == 6))
    rows = frames.rows(at[v6], _IPV6_HEADER)
    head(v6, rows[:, _OF_IPV6])
    is_tcp[v6] = rows[:, 6] == _TCP
    begin[v6] += _IPV6_HEADER
    end[v6] = np.minimum(begin[v6] + np.minimum(numbers(rows[:, 4:6], ">u2"), _PAYLOAD), frames.end[v6])

    others = np.ones(at.size, bool)
    others[v4] = others[v6] = False
    head(others := np.flatnonzero(others), kind[others].astype(">u2").view(np.uint8).reshape(-1, 2))
    content, digest = frames.content, xxhash.xxh3_64_intdigest
    # Of a TCP segment without window and checksum.
    window, behind_checksum = (
        np.where(is_tcp, np.minimum(begin + offset, end), end) for offset in (_BEFORE_WINDOW, _BEHIND_CHECKSUM)
    )
    hashed = [
        digest(row + content[first:until] + content[on:behind])
        for row, first, until, on, behind in zip(
            heads, *(places.tolist() for places in (begin, window, behind_checksum, end)), strict=True
        )
    ]
    return np.where(frames.end - frames.begin < ETHERNET_HEADER, 0, np.array(hashed, np.uint64)).astype(np.uint64)
