# SPDX-License-Identifier: GPL-2.0-or-later
"""What the overheads of IEEE 802.11-2020 leave of a rate. Times in us, lengths in bytes, rates in Mbit/s.

Validation and tests hold the netbox against it. `length` is that of a packet at layer 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MAC_HEADER, FCS = 24, 4  # 9.2.3
QOS_CONTROL = 2  # 9.2.4.5
LLC_SNAP = 8  # RFC 1042
ACK, RTS, CTS, CF_END = 14, 20, 14, 20  # 9.3.1.4, 9.3.1.2, 9.3.1.3, 9.3.1.6
#: A compressed Block Ack with a bitmap for 64 or 256 frames (9.3.1.8.2).
BLOCK_ACK, LONG_BLOCK_ACK = 32, 56


@dataclass(frozen=True)
class Phy:
    """Times of a PHY, as its clause's table of characteristics has them."""

    slot: float
    sifs: float
    cw_min: int
    cw_max: int = 1023

    def aifs(self, aifsn: int = 2) -> float:
        """10.3.2.3.6; with 2 slots the DIFS (10.3.2.3.5)."""
        return self.sifs + aifsn * self.slot

    @property
    def difs(self) -> float:
        return self.aifs()

    def backoff(self, cw: float | None = None) -> float:
        """The mean of a random number of slots from 0 to `cw` (10.3.3); default: CWmin."""
        return (self.cw_min if cw is None else cw) / 2 * self.slot

    def cycle(self, exchange: float) -> float:
        """From the end of one acknowledgement to that of the next one, for one saturated sender whom nobody disturbs."""
        return self.difs + self.backoff() + exchange


OFDM = Phy(slot=9, sifs=16, cw_min=15)  # Table 17-21
DSSS = Phy(slot=20, sifs=10, cw_min=31)  # Table 15-4
ERP = Phy(slot=9, sifs=10, cw_min=15)  # Table 18-5, short slots


@dataclass(frozen=True)
class Category:
    """An EDCA access category as a station has it that was told nothing else (Table 9-155)."""

    name: str
    aifsn: int
    cw_min: int
    cw_max: int
    #: Longest transmit opportunity; 0: one frame each time. The table has 2528 us for background and best effort since 2016; here
    #: as in ns-3 (and in Linux) it is still 0.
    txop: float

    def burst(self, exchange: float, sifs: float = OFDM.sifs) -> tuple[int, float]:
        """How many exchanges of this length fit into a transmit opportunity, and how long it is used.

        They are a SIFS apart; when room is left for it, a CF-End at 6 Mbit/s gives the rest back (10.23.2.10).
        """
        count = max(1, math.floor((self.txop + sifs) / (exchange + sifs)))
        used = count * exchange + (count - 1) * sifs
        cf_end = sifs + ofdm(6, CF_END)
        return count, used + cf_end if self.txop >= used + cf_end else used


BACKGROUND = Category("background", 7, 15, 1023, 0.0)
BEST_EFFORT = Category("best_effort", 3, 15, 1023, 0.0)
VIDEO = Category("video", 2, 7, 15, 4096.0)
VOICE = Category("voice", 2, 3, 7, 2080.0)
CATEGORIES = (BACKGROUND, BEST_EFFORT, VIDEO, VOICE)

#: An acknowledgement takes the fastest mandatory rate that is not above the data's (10.6.6.5.2).
MANDATORY_OFDM = (24, 12, 6)
#: 802.11g's signal extension: 6 us of silence after each frame (18.3.2.4).
ERP_EXTENSION = 6.0


def psdu(length: int, qos: bool = False) -> int:
    """A data frame from its MAC header to its FCS."""
    return MAC_HEADER + QOS_CONTROL * qos + LLC_SNAP + length + FCS


def ofdm(rate: float, octets: float, extension: float = 0.0) -> float:
    """A PPDU of the OFDM PHY at 20 MHz (17.4.3): preamble and SIGNAL 20 us, service field 16 bits, tail 6 bits."""
    return 20 + 4 * math.ceil((16 + 8 * octets + 6) / (4 * rate)) + extension


def ofdm_ack_rate(rate: float) -> float:
    return next(basic for basic in MANDATORY_OFDM if basic <= rate)


def ofdm_ack(rate: float, extension: float = 0.0) -> float:
    """An ACK or CTS in answer to a frame at this rate."""
    return ofdm(ofdm_ack_rate(rate), ACK, extension)


def ofdm_exchange(rate: float, length: int, phy: Phy = OFDM, qos: bool = False, extension: float = 0.0) -> float:
    """A data frame and its acknowledgement."""
    return ofdm(rate, psdu(length, qos), extension) + phy.sifs + ofdm_ack(rate, extension)


def rts_cts(basic: float = 6, phy: Phy = OFDM) -> float:
    """What announcing a frame takes: RTS and CTS at one of the basic rates (10.6.6.2), and the two SIFS after them."""
    return ofdm(basic, RTS) + phy.sifs + ofdm_ack(basic) + phy.sifs


def dsss(rate: float, octets: float, preamble: float = 192.0) -> float:
    """A PPDU of the DSSS or HR/DSSS PHY: a preamble of 192 us, or a short one of 96 us (16.2.2, 16.3.4)."""
    return preamble + math.ceil(8 * octets / rate)


def dsss_exchange(rate: float, length: int, ack_rate: float, preamble: float = 192.0) -> float:
    return dsss(rate, psdu(length), preamble) + DSSS.sifs + dsss(ack_rate, ACK, preamble)


def saturation(rate: float, length: int) -> float:
    """Goodput in bit/s of 802.11a with one station that always has something to send and whom nobody disturbs."""
    return length * 8 / OFDM.cycle(ofdm_exchange(rate, length)) * 1e6


#: Bits of a symbol of one subcarrier, and the code rate, by MCS (Tables 19-27, 21-29; IEEE 802.11ax-2021, 27.5).
_MODULATION = (
    (1, 1 / 2), (2, 1 / 2), (2, 3 / 4), (4, 1 / 2), (4, 3 / 4), (6, 2 / 3),
    (6, 3 / 4), (6, 5 / 6), (8, 3 / 4), (8, 5 / 6), (10, 3 / 4), (10, 5 / 6),
)  # fmt: skip


@dataclass(frozen=True)
class HighThroughput:
    """A PHY that sends A-MPDUs, one spatial stream and the long guard interval."""

    #: Preamble of a single-user PPDU and symbol with guard interval.
    preamble: float
    symbol: float
    #: Data subcarriers by channel width in MHz.
    subcarriers: dict[int, int]
    #: Octets of the longest A-MPDU that a receiver can grant.
    longest_ampdu: int
    block_ack: int = BLOCK_ACK
    #: MPDUs that one Block Ack can tell of: the largest buffer of an agreement (9.4.1.13).
    window: int = 64
    #: aPPDUMaxTime (Tables 19-25 and 21-29; IEEE 802.11ax-2021, 27.4.4).
    longest_ppdu: float = 5484.0

    def bits(self, mcs: int, width: int) -> int:
        """Data bits of a symbol."""
        modulation, code = _MODULATION[mcs]
        return math.floor(self.subcarriers[width] * modulation * code + 1e-9)

    def ppdu(self, octets: float, mcs: int, width: int) -> float:
        return self.preamble + self.symbol * math.ceil((16 + 8 * octets + 6) / self.bits(mcs, width))

    def exchange(self, count: int, length: int, mcs: int, width: int) -> float:
        """An A-MPDU of so many packets and its Block Ack, or one packet and its ACK.

        The answer's rate follows from that with the same modulation and code rate on OFDM's 48 subcarriers (10.6.11).
        """
        modulation, code = _MODULATION[mcs]
        answer = ofdm(ofdm_ack_rate(48 * modulation * code / 4), self.block_ack if count > 1 else ACK)
        return self.ppdu(count * subframe(length), mcs, width) + OFDM.sifs + answer

    def subframes(self, length: int, mcs: int, width: int, room: float = math.inf) -> int:
        """How many packets the longest A-MPDU has whose exchange takes at most `room`; 0: not even one fits."""
        most = min(self.window, self.longest_ampdu // subframe(length))
        fitting = (
            count
            for count in range(most, 0, -1)
            if self.ppdu(count * subframe(length), mcs, width) <= self.longest_ppdu
            and self.exchange(count, length, mcs, width) <= room
        )
        return next(fitting, 0)

    def burst(self, length: int, mcs: int, width: int, category: Category) -> tuple[int, float]:
        """How many packets a saturated station sends at a time, and how long that takes.

        Without a limit of the transmit opportunity one A-MPDU, else as many as fit, a SIFS apart; when room is left for it, a
        CF-End at 6 Mbit/s gives the rest back (10.23.2.10). A first packet that does not fit goes all the same (10.23.2.9).
        """
        if category.txop == 0:
            count = max(1, self.subframes(length, mcs, width))
            return count, self.exchange(count, length, mcs, width)
        sent = max(1, self.subframes(length, mcs, width, category.txop))
        used = self.exchange(sent, length, mcs, width)
        while more := self.subframes(length, mcs, width, category.txop - used - OFDM.sifs):
            sent += more
            used += OFDM.sifs + self.exchange(more, length, mcs, width)
        cf_end = OFDM.sifs + ofdm(6, CF_END)
        return sent, used + cf_end if category.txop >= used + cf_end else used

    def goodput(self, length: int, mcs: int, width: int, category: Category = BEST_EFFORT) -> float:
        """bit/s of one saturated station that announces no frame."""
        sent, used = self.burst(length, mcs, width, category)
        return sent * length * 8 / (OFDM.aifs(category.aifsn) + OFDM.backoff(category.cw_min) + used) * 1e6


def subframe(length: int) -> int:
    """Octets of a frame in an A-MPDU: delimiter, MPDU, padding to 4 (9.7.1)."""
    return 4 + math.ceil(psdu(length, qos=True) / 4) * 4


#: Mixed format (Table 19-6): 20 us as OFDM has, HT-SIG 8, HT-STF 4, HT-LTF 4. A-MPDUs: 2^(13 + 3) - 1 octets (9.4.2.55.3).
HT = HighThroughput(36.0, 4.0, {20: 52, 40: 108}, 65_535)
#: Table 21-5: 20 us, VHT-SIG-A 8, VHT-STF 4, VHT-LTF 4, VHT-SIG-B 4. A-MPDUs: 2^(13 + 7) - 1 octets (9.4.2.157.2).
VHT = HighThroughput(40.0, 4.0, {20: 52, 40: 108, 80: 234, 160: 468}, 1_048_575)
#: IEEE 802.11ax-2021, Table 27-12: 20 us, RL-SIG 4, HE-SIG-A 8, HE-STF 4, and a fourfold HE-LTF with its guard interval, 16.
#: A-MPDUs at 5 GHz: the longest PSDU, since 2^(20 + 3) - 1 octets are more (9.4.2.248.2 and 27.4.4 there).
HE = HighThroughput(52.0, 16.0, {20: 234, 40: 468, 80: 980, 160: 1960}, 6_500_631, LONG_BLOCK_ACK, window=256)
