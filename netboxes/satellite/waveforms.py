# SPDX-License-Identifier: GPL-2.0-or-later
"""Modulation and coding of both directions: the tables that parameters are checked by, and that the segment is given."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

#: Z of the packet error rates at which thresholds are stated: 1e-5 for bursts, 1e-7 for BBFRAMEs.
_Z_BURST, _Z_BBFRAME = 4.265, 5.199


@dataclass(frozen=True)
class Profile:
    """How a codeword is modulated and coded: a BBFRAME by a MODCOD of DVB-S2, or a burst by a waveform of DVB-RCS2."""

    name: str
    #: What the channel's rate counts: the whole BBFRAME (Kbch), a burst's payload.
    bits: int
    #: Bytes of a codeword for packets and their encapsulation.
    payload: int
    #: Of a codeword on the channel, all that is not data included.
    symbols: int
    #: Es/N0 from which it is as good as free of errors, at which half of the codewords are lost, and its steepness, dB.
    threshold: float
    midpoint: float
    width: float

    def error_rate(self, es_n0: float) -> float:
        return 1.0 - NormalDist(self.midpoint, self.width).cdf(es_n0)

    @property
    def loss_of_lock(self) -> float:
        """Es/N0 in dB below which the link is down."""
        return self.midpoint - 3.0 * self.width

    @property
    def efficiency(self) -> float:
        """Bits a symbol."""
        return self.bits / self.symbols


#: EN 301 545-2, Table A-1: number, modulation and code rate, payload in bytes; thresholds by the curves published with SNS3.
_WAVEFORMS = (
    *((3, "QPSK 1/3", 38, 0.26), (4, "QPSK 1/2", 59, 2.34), (5, "QPSK 2/3", 85, 4.30), (6, "QPSK 3/4", 96, 5.37)),
    *((7, "QPSK 5/6", 108, 6.64), (8, "8PSK 2/3", 115, 8.15), (9, "8PSK 3/4", 130, 9.42), (10, "8PSK 5/6", 144, 10.83)),
    *((11, "16QAM 3/4", 175, 11.17), (12, "16QAM 5/6", 194, 12.55)),
    *((13, "QPSK 1/3", 123, -0.38), (14, "QPSK 1/2", 188, 1.70), (15, "QPSK 2/3", 264, 3.69), (16, "QPSK 3/4", 298, 4.73)),
    *((17, "QPSK 5/6", 333, 5.95), (18, "8PSK 2/3", 355, 7.57), (19, "8PSK 3/4", 400, 8.82), (20, "8PSK 5/6", 444, 10.20)),
    *((21, "16QAM 3/4", 539, 10.71), (22, "16QAM 5/6", 599, 12.05)),
)
#: EN 302 307-1, Tables 5a and 5b: uncoded bits of a normal and of a short FECFRAME by code rate.
_UNCODED = {
    "1/4": (16008, 3072),
    "1/3": (21408, 5232),
    "2/5": (25728, 6312),
    "1/2": (32208, 7032),
    "3/5": (38688, 9552),
    "2/3": (43040, 10632),
    "3/4": (48408, 11712),
    "4/5": (51648, 12432),
    "5/6": (53840, 13152),
    "8/9": (57472, 14232),
    "9/10": (58192, 0),
}
#: EN 302 307-1, Table 13: Es/N0 in dB for a packet error rate of 1e-7, by modulation (bits a symbol) and code rate.
_MODCODS = {
    ("QPSK", 2): {
        **{"1/4": -2.35, "1/3": -1.24, "2/5": -0.30, "1/2": 1.00, "3/5": 2.23, "2/3": 3.10},
        **{"3/4": 4.03, "4/5": 4.68, "5/6": 5.18, "8/9": 6.20, "9/10": 6.42},
    },
    ("8PSK", 3): {"3/5": 5.50, "2/3": 6.62, "3/4": 7.91, "5/6": 9.35, "8/9": 10.69, "9/10": 10.98},
    ("16APSK", 4): {"2/3": 8.97, "3/4": 10.21, "4/5": 11.03, "5/6": 11.61, "8/9": 12.89, "9/10": 13.13},
    ("32APSK", 5): {"3/4": 12.73, "4/5": 13.64, "5/6": 14.28, "8/9": 15.69, "9/10": 16.05},
}


def forward_profiles(frame: str) -> list[Profile]:
    """MODCODs for FECFRAMEs that are `short` or `normal`."""
    normal = frame == "normal"
    width = 0.05 if normal else 0.1
    modcods = []
    for (modulation, bits_per_symbol), thresholds in _MODCODS.items():
        for rate, threshold in thresholds.items():
            bits = _UNCODED[rate][0 if normal else 1]
            if bits:
                at = threshold + (0.0 if normal else 0.25)
                symbols = 90 + (64800 if normal else 16200) // bits_per_symbol
                modcods.append(
                    Profile(f"{modulation} {rate}", bits, (bits - 80) // 8, symbols, at, at - _Z_BBFRAME * width, width)
                )
    return modcods


def return_profiles(waveform: int) -> list[Profile]:
    """Those with bursts as long as this one's."""
    is_long = waveform >= 13
    width = 0.18 if is_long else 0.33
    symbols = 1616 if is_long else 536
    return [
        Profile(f"{number} {name}", 8 * payload, payload, symbols, at, at - _Z_BURST * width, width)
        for number, name, payload, at in _WAVEFORMS
        if (number >= 13) == is_long
    ]


def efficient(profiles: list[Profile]) -> list[Profile]:
    """From the most robust on, without those that need more and carry no more."""
    kept: list[Profile] = []
    for profile in sorted(profiles, key=lambda profile: profile.threshold):
        if not kept or profile.efficiency > kept[-1].efficiency:
            kept.append(profile)
    return kept


def find(profiles: list[Profile], name: str) -> Profile | None:
    return next((profile for profile in profiles if profile.name == name), None)


@dataclass(frozen=True)
class ProfileSet:
    """What codewords of one direction can be sent with."""

    #: The first `usable` are chosen from, from the most robust on.
    profiles: list[Profile]
    usable: int
    #: Which one the carrier's rate is stated for, used or not.
    reference: int


def profile_set(profiles: list[Profile], reference: Profile, adaptive: bool) -> ProfileSet:
    """Without adaptive coding the reference is the only one."""
    usable = efficient(profiles) if adaptive else [reference]
    listed = usable if reference in usable else [*usable, reference]
    return ProfileSet(listed, len(usable), listed.index(reference))


def waveform_profile(waveform: int) -> Profile:
    return next(profile for profile in return_profiles(waveform) if profile.name.startswith(f"{waveform} "))
