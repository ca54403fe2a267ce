# SPDX-License-Identifier: GPL-2.0-or-later
"""What Xylomenos (1999) sends over each of his links: tables 4.1, 5.1 and 7.1.

Only what he chose is said here. What follows from it and from the link (profiles.py) is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netboxes.link_layer.link import Profile
from netboxes.multiservice.profiles import PROFILES, ProfileName

#: s, means of exponential durations: talk and silence of conferencing (table 5.1, section 5.1.1).
TALK, SILENCE = 1.0, 1.35
#: Share of the time in which somebody talks.
SPEECH_ACTIVITY = TALK / (TALK + SILENCE)


@dataclass(frozen=True)
class Traffic:
    """One link's: a packet is as long as a frame."""

    link: Profile
    #: Bytes of a file (table 4.1).
    transfer: int
    #: bit/s of conferencing while somebody talks (table 5.1).
    conference_rate: float
    #: Of the scheduler, for TCP and for UDP (table 7.1). Only their ratio counts.
    tcp_share: float
    udp_share: float

    @property
    def transfer_packets(self) -> int:
        """Of a file."""
        return self.transfer // self.link.frame

    @property
    def transfer_time(self) -> float:
        """s in which the link, without headers and errors, carries a file."""
        return 8 * self.transfer / self.link.rate

    @property
    def conference_interval(self) -> float:
        """s between packets while somebody talks."""
        return 8 * self.link.frame / self.conference_rate

    @property
    def conference_mean_rate(self) -> float:
        """bit/s, silence included."""
        return self.conference_rate * SPEECH_ACTIVITY

    @property
    def tcp_rate(self) -> float:
        """bit/s that the scheduler leaves TCP while UDP sends."""
        return self.link.rate * self.tcp_share / (self.tcp_share + self.udp_share)

    @property
    def udp_rate(self) -> float:
        """bit/s that it leaves UDP while TCP sends."""
        return self.link.rate * self.udp_share / (self.tcp_share + self.udp_share)

    @property
    def tcp_mean_rate(self) -> float:
        """bit/s for TCP on average: all that conferencing leaves."""
        return self.link.rate - self.conference_mean_rate


TRAFFIC: Mapping[ProfileName, Traffic] = {
    "cellular": Traffic(PROFILES["cellular"], transfer=2_000_000, conference_rate=9.6e3, tcp_share=0.33, udp_share=0.66),
    "pcs": Traffic(PROFILES["pcs"], transfer=10_000_000, conference_rate=32e3, tcp_share=0.5, udp_share=0.5),
    "wlan": Traffic(PROFILES["wlan"], transfer=100_000_000, conference_rate=1e6, tcp_share=0.5, udp_share=0.5),
}
