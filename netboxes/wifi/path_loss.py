# SPDX-License-Identifier: GPL-2.0-or-later
"""Closed forms of what signals lose on the way, in dB, with which tests and validation compare. Channel 36, 20 MHz."""

from __future__ import annotations

import math

from contracts.nature import SPEED_OF_LIGHT

FREQUENCY = 5.18e9
WAVELENGTH = SPEED_OF_LIGHT / FREQUENCY
#: dBm of thermal noise at 290 K in 20 MHz, and a noise figure of 7 dB.
NOISE = 10 * math.log10(1.380649e-23 * 290 * 20e6 * 1e3) + 7


def free_space(distance: float) -> float:
    """H. T. Friis, "A note on a simple transmission formula", Proc. IRE 34(5), 1946."""
    return 20 * math.log10(4 * math.pi * distance / WAVELENGTH)


def log_distance(distance: float, exponent: float) -> float:
    """Free space up to 1 m."""
    return free_space(1.0) + 10 * exponent * math.log10(distance)


def two_ray(distance: float, height: float) -> float:
    """Both antennas at this height: free space up to the crossover, then T. S. Rappaport, Wireless Communications, (4.52)."""
    if distance < 4 * math.pi * height**2 / WAVELENGTH:
        return free_space(distance)
    return 40 * math.log10(distance) - 40 * math.log10(height)
