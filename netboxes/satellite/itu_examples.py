# SPDX-License-Identifier: GPL-2.0-or-later
"""Rain attenuation as ITU-R Study Group 3 computes it for checking implementations of P.618-13 (CG-3M3J-13-ValEx-Rev5.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netboxes.satellite.rain import Path

#: Latitude (degrees), height of the station (km), elevation and polarisation tilt (degrees), R0.01 (mm/h), slant path below the
#: rain height (km); then dB exceeded for 1, 0.1 and 0.01 % of a year at 14.25 GHz, and at 29 GHz.
_SITES = (
    (51.5, 0.031382984, 31.07699124, 0, 26.48052, 4.690817392),  # London
    (41.9, 0.046122988, 40.232036, 0, 33.936232, 4.646913874),  # Rome
    (33.94, 0.0, 46.35969261, 0, 27.13586832, 3.542006965),
    (22.9, 0.0, 22.27833468, 0, 50.639304, 10.96995451),
    (25.78, 0.00861728, 52.67898486, 0, 78.2994993, 5.735098894),
    (28.717, 0.209383699, 48.24117054, 90, 63.61888808, 6.768266217),
    (3.133, 0.051251456, 85.80459566, 90, 99.15117186, 4.91990658),
    (9.05, 2.539861878, 20.14335809, 90, 42.91007183, 6.516372436),
)
_ATTENUATIONS = (
    ((0.495317069, 2.185847422, 6.798072267), (2.207786043, 8.570058374, 23.44444523)),
    ((0.623263001, 2.696765133, 8.223265009), (2.823465634, 10.73100773, 28.74272193)),
    ((0.421017025, 1.913387572, 5.941806096), (1.960636113, 7.808322508, 21.24861968)),
    ((1.706901281, 8.271647438, 18.94410356), (6.813368079, 29.31896844, 59.62576355)),
    ((1.437312523, 6.297247244, 16.42980703), (6.654855651, 25.56295492, 58.47438336)),
    ((1.274463613, 5.486346969, 14.87213733), (5.887821871, 22.22622902, 52.83372062)),
    ((2.001026654, 11.00145492, 21.61057916), (10.2131477, 48.81996807, 83.37856227)),
    ((1.012353973, 5.881071312, 12.28976033), (3.70158394, 19.23910378, 35.97037673)),
)
PERCENTAGES = (1.0, 0.1, 0.01)


def examples() -> Iterator[tuple[Path, tuple[float, ...]]]:
    """Paths, and dB exceeded for each of PERCENTAGES."""
    for (latitude, height, elevation, tilt, rain_rate, slant), frequencies in zip(_SITES, _ATTENUATIONS, strict=True):
        rain_height = height + slant * math.sin(math.radians(elevation))
        for frequency, attenuations in zip((14.25e9, 29e9), frequencies, strict=True):
            yield Path(frequency, rain_rate, latitude, elevation, tilt, height, rain_height), attenuations
