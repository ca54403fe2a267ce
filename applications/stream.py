# SPDX-License-Identifier: GPL-2.0-or-later
"""What traffic asks of a network, on the mean: so many frames a second, of such a size."""

from __future__ import annotations

from dataclasses import dataclass

#: Headers of Ethernet, IPv4 and UDP; the FCS is not counted, as in captures.
UDP_HEADERS = 14 + 20 + 8
RTP_HEADER = 12


@dataclass(frozen=True)
class Stream:
    """Frames of one direction. `frame_bytes` is the mean size of their Ethernet frames without FCS."""

    frames_per_s: float
    frame_bytes: float
    #: True: from the application's destination to its source.
    back: bool = False
