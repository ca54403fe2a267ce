# SPDX-License-Identifier: GPL-2.0-or-later
"""What follows from IEEE 802.16-2009 with paper and pencil, apart from the C++: times, room and errors of WirelessMAN-OFDM.

Bytes are those of MAC PDUs, times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from contracts.nature import SPEED_OF_LIGHT

DATA_CARRIERS = 192
#: Generic header, CRC, fragmentation and packing subheader, grant management subheader, bandwidth request (6.3.2, 6.3.3).
HEADER, CRC, FRAGMENT, PACKED, PIGGYBACK, REQUEST = 6, 4, 2, 3, 2, 6
LONGEST_PDU = 2047
ETHERNET = 14
#: A burst ends with a byte for the convolutional coder (8.3.3.2.1).
TAIL = 1
LONG_PREAMBLE, SHORT_PREAMBLE, FCH = 2, 1, 1
#: Sampling factor of the bandwidths that are a multiple of the first number, MHz (8.3.2.4); the first rule that fits holds.
SAMPLING = (
    (1.75, Fraction(8, 7)),
    (1.5, Fraction(86, 75)),
    (1.25, Fraction(144, 125)),
    (2.75, Fraction(316, 275)),
    (2.0, Fraction(57, 50)),
)

#: Constants of the suburban models: A, B, C, and dB a decade of the subscriber's height (IEEE 802.16.3c-01/29r4).
TERRAINS = {"a": (4.6, 0.0075, 12.6, 10.8), "b": (4.0, 0.0065, 17.1, 10.8), "c": (3.6, 0.005, 20.0, 20.0)}


@dataclass(frozen=True)
class Profile:
    """Modulation and coding (8.3.3.2.3)."""

    name: str
    bits_per_carrier: int
    rate: Fraction
    #: Of the outer Reed-Solomon code: bytes after it, and how many wrong ones it repairs.
    outer: tuple[int, int]
    #: Of the inner convolutional code: information bits in a period of its puncturing, with one bit more on the air.
    period: int
    #: dB; editions of 2004 and 2009 (8.3.11.1).
    thresholds: tuple[float, float]

    @property
    def symbol_bytes(self) -> int:
        return int(DATA_CARRIERS * self.bits_per_carrier * self.rate / 8)


PROFILES = (
    Profile("BPSK 1/2", 1, Fraction(1, 2), (12, 0), 1, (6.4, 3.0)),
    Profile("QPSK 1/2", 2, Fraction(1, 2), (32, 4), 2, (9.4, 6.0)),
    Profile("QPSK 3/4", 2, Fraction(3, 4), (40, 2), 5, (11.2, 8.5)),
    Profile("16-QAM 1/2", 4, Fraction(1, 2), (64, 8), 2, (16.4, 11.5)),
    Profile("16-QAM 3/4", 4, Fraction(3, 4), (80, 4), 5, (18.2, 15.0)),
    Profile("64-QAM 2/3", 6, Fraction(2, 3), (108, 6), 3, (22.7, 19.0)),
    Profile("64-QAM 3/4", 6, Fraction(3, 4), (120, 6), 5, (24.4, 21.0)),
)


@dataclass(frozen=True)
class Frame:
    """A TDD frame (8.3.5.1), by default of the cells that are measured."""

    bandwidth: float = 10e6
    guard: float = 0.25
    duration: float = 10e-3
    downlink_share: float = 0.5
    ttg: float = 100e-6
    rtg: float = 50e-6
    opportunities: int = 4
    #: One frame in so many has an initial ranging opportunity, the first one among them.
    ranging_every: int = 10

    @property
    def sampling(self) -> float:
        """Fs, Hz."""
        fits = (factor for unit, factor in SAMPLING if (self.bandwidth / 1e6 / unit).is_integer())
        return 8000 * math.floor(self.bandwidth * next(fits, Fraction(8, 7)) / 8000 + 1e-6)

    @property
    def symbol(self) -> float:
        return 256 / self.sampling * (1 + self.guard)

    def _gap(self, gap: float) -> float:
        """In whole physical slots of 4 / Fs."""
        return math.ceil(gap * self.sampling / 4 - 1e-9) * 4 / self.sampling

    @property
    def symbols(self) -> int:
        return math.floor((self.duration - self._gap(self.ttg) - self._gap(self.rtg)) / self.symbol + 1e-9)

    @property
    def downlink(self) -> int:
        return math.floor(self.downlink_share * self.symbols + 1e-9)

    @property
    def uplink(self) -> int:
        return self.symbols - self.downlink

    @property
    def uplink_start(self) -> float:
        """Since the frame's beginning: where the contention slots are."""
        return self.downlink * self.symbol + self._gap(self.ttg)

    def has_ranging(self, frame: int) -> bool:
        return frame % self.ranging_every == 0

    def downlink_overhead(self, frame: int, *, bursts: int = 1, grants: int = 0) -> int:
        """Symbols of preamble, FCH and maps: DL-MAP of 18 bytes and 4 an element, UL-MAP 17 and 6, each with one for its end."""
        elements = grants + (self.opportunities > 0) + self.has_ranging(frame) + 1
        maps = 18 + 4 * (bursts + 1) + 17 + 6 * elements + TAIL
        return LONG_PREAMBLE + FCH + math.ceil(maps / PROFILES[0].symbol_bytes)

    def uplink_overhead(self, frame: int) -> int:
        """Symbols of contention: 2 a request; for ranging a long preamble, RNG-REQ of 26 bytes, and a round trip of TTG."""
        ranging = LONG_PREAMBLE + math.ceil((26 + TAIL) / PROFILES[0].symbol_bytes) + math.ceil(self.ttg / self.symbol)
        return 2 * self.opportunities + (ranging if self.has_ranging(frame) else 0)

    def downlink_room(self, frame: int, profile: Profile) -> int:
        """Bytes of one burst that has the whole subframe."""
        return (self.downlink - self.downlink_overhead(frame)) * profile.symbol_bytes - TAIL

    def uplink_room(self, frame: int, profile: Profile) -> int:
        return (self.uplink - self.uplink_overhead(frame) - SHORT_PREAMBLE) * profile.symbol_bytes - TAIL


def carried(rooms: Iterable[int], sdu: int, *, fragmentation: bool = True, packing: bool = False, crc: bool = True) -> int:
    """SDUs of so many bytes that end in bursts of so much room, when there is always another one (6.3.3.3, 6.3.3.4)."""
    overhead = HEADER + (CRC if crc else 0)
    left, ended = sdu, 0
    for burst in rooms:
        room = burst
        while room > overhead:
            inside = min(room, LONGEST_PDU) - overhead
            together = (inside - left - PACKED) // (sdu + PACKED) + 1 if packing and inside >= left + PACKED else 0
            if together > 1:
                room -= overhead + left + PACKED + (together - 1) * (sdu + PACKED)
                left, ended = sdu, ended + together
            elif left == sdu and inside >= sdu:
                room -= sdu + overhead
                ended += 1
            else:
                part = min(left, inside - FRAGMENT) if fragmentation else 0
                if part <= 0:
                    break
                room -= part + FRAGMENT + overhead
                left -= part
                if left == 0:
                    left, ended = sdu, ended + 1
    return ended


def collisions(stations: int, window: int) -> tuple[float, float]:
    """Stations that always draw among `window` opportunities together, until each was alone in one (6.3.8).

    Returns the share of them that is alone at the first time, and how often one must ask again in the mean.
    """
    repeats = [0.0, 0.0]
    for number in range(2, stations + 1):
        alone = [_alone(number, window, free) for free in range(number + 1)]
        # All those who were not alone ask again.
        again = sum(alone[free] * (number - free + repeats[number - free]) for free in range(1, number + 1))
        repeats.append((again + alone[0] * number) / (1 - alone[0]))
    return (1 - 1 / window) ** (stations - 1), repeats[stations] / stations


def _alone(stations: int, window: int, free: int) -> float:
    """Probability that exactly so many of the stations are alone in an opportunity (inclusion and exclusion)."""
    most = min(stations, window)
    return float(
        sum(
            Fraction((-1) ** (k - free) * math.comb(k, free) * math.comb(window, k) * math.perm(stations, k))
            * Fraction(window - k) ** (stations - k)
            / Fraction(window) ** stations
            for k in range(free, most + 1)
        )
    )


def loss_db(
    model: str, distance: float, *, frequency: float, exponent: float = 3.0, base: float = 30.0, own: float = 2.0
) -> float:
    """Path loss; base and own are heights of antennas in m.

    Friis (1946); two-ray: Rappaport, Wireless Communications, 4.6; sui: IEEE 802.16.3c-01/29r4.
    """
    wavelength = SPEED_OF_LIGHT / frequency
    if model == "log-distance":
        return loss_db("friis", 1.0, frequency=frequency) + 10 * exponent * math.log10(distance)
    if model == "two-ray" and distance > 4 * math.pi * base * own / wavelength:
        return 40 * math.log10(distance) - 20 * math.log10(base * own)
    if model.startswith("sui") and distance > 100.0:
        a, b, c, slope = {"a": (4.6, 0.0075, 12.6, 10.8), "b": (4.0, 0.0065, 17.1, 10.8), "c": (3.6, 0.005, 20.0, 20.0)}[
            model[-1]
        ]
        corrections = 6 * math.log10(frequency / 2e9) - slope * math.log10(own / 2)
        near = 20 * math.log10(4 * math.pi * 100 / wavelength)
        return near + 10 * (a - b * base + c / base) * math.log10(distance / 100) + corrections
    return 20 * math.log10(4 * math.pi * distance / wavelength)


def next_of(times: Sequence[float], starts: Sequence[float]) -> list[int]:
    """For each time the index of the first start after it; both in order."""
    indices, index = [], 0
    for time in times:
        while starts[index] <= time:
            index += 1
        indices.append(index)
    return indices
