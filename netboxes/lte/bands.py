# SPDX-License-Identifier: GPL-2.0-or-later
"""E-UTRA's FDD bands, as far as ns-3 knows their frequencies."""

from __future__ import annotations

#: First and last downlink channel number of each band (TS 36.101, Table 5.7.3-1); those of the uplink are 18000 above.
BANDS = {
    1: (0, 599),
    2: (600, 1199),
    3: (1200, 1949),
    4: (1950, 2399),
    5: (2400, 2649),
    7: (2750, 3449),
    8: (3450, 3799),
    10: (4150, 4749),
    12: (5010, 5179),
    13: (5180, 5279),
    14: (5280, 5379),
    17: (5730, 5849),
    20: (6150, 6449),
}

#: Resource blocks of the channels that each band has (TS 36.101, Table 5.6.1-1).
CHANNEL_WIDTHS = {
    1: (25, 50, 75, 100),
    2: (6, 15, 25, 50, 75, 100),
    3: (6, 15, 25, 50, 75, 100),
    4: (6, 15, 25, 50, 75, 100),
    5: (6, 15, 25, 50),
    7: (25, 50, 75, 100),
    8: (6, 15, 25, 50),
    10: (25, 50, 75, 100),
    12: (6, 15, 25, 50),
    13: (25, 50),
    14: (25, 50),
    17: (25, 50),
    20: (25, 50, 75, 100),
}

#: Channel bandwidth by resource blocks, Hz (TS 36.101, Table 5.6-1).
RESOURCE_BLOCKS = {6: 1.4e6, 15: 3e6, 25: 5e6, 50: 10e6, 75: 15e6, 100: 20e6}
