# SPDX-License-Identifier: GPL-2.0-or-later
"""What each standard of the IEEE 802.11 family has: bands, channels, rates."""

from __future__ import annotations

from typing import Literal

from contracts.nature import SPEED_OF_LIGHT

Standard = Literal["802.11a", "802.11b", "802.11g", "802.11n", "802.11ac", "802.11ax"]

#: Data rates of the OFDM PHY in a 20 MHz channel (IEEE 802.11-2020, Table 17-4), and of the DSSS and CCK ones (clauses 15 and
#: 16), bit/s.
OFDM_RATES = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
DSSS_RATES = (1e6, 2e6, 5.5e6, 11e6)

#: Of the standards whose rates are numbers and that need no QoS.
RATES = {"802.11a": OFDM_RATES, "802.11b": DSSS_RATES, "802.11g": OFDM_RATES}

#: Highest modulation and coding scheme of one spatial stream (IEEE 802.11-2020, 19.5 and 21.5; IEEE 802.11ax-2021, 27.5).
HIGHEST_MCS = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}

#: Bands (by the frequency that names them) and channel widths of each standard, Hz; the first one is the default. A DSSS channel
#: is 22 MHz wide (IEEE 802.11-2020, 15.4.6.4).
BANDS = {
    "802.11a": (5e9,),
    "802.11b": (2.4e9,),
    "802.11g": (2.4e9,),
    "802.11n": (5e9, 2.4e9),
    "802.11ac": (5e9,),
    "802.11ax": (5e9, 2.4e9),
}
WIDTHS = {
    "802.11a": (20e6,),
    "802.11b": (22e6,),
    "802.11g": (20e6,),
    "802.11n": (20e6, 40e6),
    "802.11ac": (80e6, 20e6, 40e6, 160e6),
    "802.11ax": (80e6, 20e6, 40e6, 160e6),
}

#: Channel numbers by band and width (IEEE 802.11-2020, Annex E, operating classes of all regulatory domains together).
CHANNELS = {
    (2.4e9, 22e6): tuple(range(1, 15)),
    (2.4e9, 20e6): tuple(range(1, 14)),
    (2.4e9, 40e6): tuple(range(3, 12)),
    (5e9, 20e6): (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)),
    (5e9, 40e6): (38, 46, 54, 62, 102, 110, 118, 126, 134, 142, 151, 159, 167, 175),
    (5e9, 80e6): (42, 58, 106, 122, 138, 155, 171),
    (5e9, 160e6): (50, 114, 163),
}


#: As in plan.cc, which says why, m and s.
_LONGEST_RANGE = 1190.0
_SLOT, _COVERAGE_STEP = 9e-6, 3e-6


def longest_range(coverage_class: int) -> float:
    """The farthest that stations hear each other, m, however strong."""
    if coverage_class == 0:
        return _LONGEST_RANGE
    return 0.99 * SPEED_OF_LIGHT * (_SLOT + coverage_class * _COVERAGE_STEP) / 2


def default_width(standard: str, band: float) -> float:
    """The first width of the standard that the band has channels of."""
    return next((width for width in WIDTHS[standard] if (band, width) in CHANNELS), WIDTHS[standard][0])
