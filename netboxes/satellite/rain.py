# SPDX-License-Identifier: GPL-2.0-or-later
"""How rain attenuates a path to a satellite: ITU-R P.838-3, P.618-13 (2.2.1.1, 2.2.1.3) and what P.1853-2 needs of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

#: P.838-3, Tables 1 to 4: a, b, c of each term, then m and c.
_K_H = ((-5.33980, -0.10008, 1.13098), (-0.35351, 1.26970, 0.45400), (-0.23789, 0.86036, 0.15354), (-0.94158, 0.64552, 0.16817))
_K_V = ((-3.80595, 0.56934, 0.81061), (-3.44965, -0.22911, 0.51059), (-0.39902, 0.73042, 0.11899), (0.50167, 1.07319, 0.27195))
_ALPHA_H = (
    *((-0.14318, 1.82442, -0.55187), (0.29591, 0.77564, 0.19822), (0.32177, 0.63773, 0.13164)),
    *((-5.37610, -0.96230, 1.47828), (16.1721, -3.29980, 3.43990)),
)
_ALPHA_V = (
    *((-0.07771, 2.33840, -0.76284), (0.56727, 0.95545, 0.54039), (-0.20238, 1.14520, 0.26809)),
    *((-48.2991, 0.791669, 0.116226), (48.5833, 0.791459, 0.116479)),
)
_LINES = {"k_h": (-0.18961, 0.71147), "k_v": (-0.16398, 0.63297), "a_h": (0.67849, -1.95537), "a_v": (-0.053739, 0.83433)}
#: Effective radius of the earth, km (P.618, step 2).
_EARTH = 8500.0
#: P.1853-2, step A2: percentages of time to which the log-normal distribution is fitted; P.618 covers 0.001 to 5 %.
_PERCENTAGES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class Path:
    """Where a station is, and how it sends or receives."""

    #: Hz.
    frequency: float
    #: Rain rate exceeded for 0.01 % of a year, mm/h.
    rain_rate: float
    #: Degrees, north positive; elevation of the satellite.
    latitude: float
    elevation: float
    #: Degrees from the horizontal; 45 for circular polarisation.
    polarisation: float
    #: km above sea level: of the station, and of the rain (P.839).
    height: float
    rain_height: float


@dataclass(frozen=True)
class LogNormal:
    """ln of the attenuation in dB is normal; `offset` (dB) is taken off, so that it does not rain for longer than it does."""

    mean: float
    deviation: float
    offset: float

    def exceeded(self, attenuation: float) -> float:
        """Share of the time for which the series is above an attenuation in dB (0 or more)."""
        return 1.0 - NormalDist(self.mean, self.deviation).cdf(math.log(attenuation + self.offset))


def rain_height(latitude: float) -> float:
    """km above sea level, where no map is at hand: P.839-2's dependence on the latitude."""
    if latitude > 23.0:
        return 5.0 - 0.075 * (latitude - 23.0)
    return 5.0 if latitude >= -21.0 else max(0.0, 5.0 + 0.1 * (latitude + 21.0))


def specific_attenuation(frequency: float, rain_rate: float, elevation: float, polarisation: float) -> float:
    """dB/km at `frequency` (Hz): P.838-3, equations 1 to 5."""
    x = math.log10(frequency / 1e9)

    def fit(terms: tuple[tuple[float, float, float], ...], line: str) -> float:
        slope, constant = _LINES[line]
        return sum(a * math.exp(-(((x - b) / c) ** 2)) for a, b, c in terms) + slope * x + constant

    k_h, k_v = 10 ** fit(_K_H, "k_h"), 10 ** fit(_K_V, "k_v")
    a_h, a_v = fit(_ALPHA_H, "a_h"), fit(_ALPHA_V, "a_v")
    tilt = math.cos(math.radians(elevation)) ** 2 * math.cos(2 * math.radians(polarisation))
    k = (k_h + k_v + (k_h - k_v) * tilt) / 2
    alpha = (k_h * a_h + k_v * a_v + (k_h * a_h - k_v * a_v) * tilt) / (2 * k)
    return float(k * rain_rate**alpha)


def attenuation_001(path: Path) -> float:
    """dB exceeded for 0.01 % of an average year: P.618-13, 2.2.1.1, steps 1 to 9."""
    theta = math.radians(path.elevation)
    above = path.rain_height - path.height
    if above <= 0.0:
        return 0.0
    if path.elevation >= 5.0:
        slant = above / math.sin(theta)
    else:
        slant = 2 * above / (math.sqrt(math.sin(theta) ** 2 + 2 * above / _EARTH) + math.sin(theta))
    ground = slant * math.cos(theta)
    gamma = specific_attenuation(path.frequency, path.rain_rate, path.elevation, path.polarisation)
    ghz = path.frequency / 1e9
    horizontal = 1 / (1 + 0.78 * math.sqrt(ground * gamma / ghz) - 0.38 * (1 - math.exp(-2 * ground)))
    zeta = math.atan2(above, ground * horizontal)
    length = ground * horizontal / math.cos(theta) if zeta > theta else above / math.sin(theta)
    chi = max(0.0, 36.0 - abs(path.latitude))
    vertical = 1 / (
        1
        + math.sqrt(math.sin(theta))
        * (31 * (1 - math.exp(-path.elevation / (1 + chi))) * math.sqrt(length * gamma) / ghz**2 - 0.45)
    )
    return gamma * length * vertical


def attenuation(path: Path, percentage: float) -> float:
    """dB exceeded for a percentage of an average year (0.001 to 5): P.618-13, 2.2.1.1, step 10."""
    at_001 = attenuation_001(path)
    if at_001 <= 0.0:
        return 0.0
    latitude, theta = abs(path.latitude), math.radians(path.elevation)
    if percentage >= 1.0 or latitude >= 36.0:
        beta = 0.0
    elif path.elevation >= 25.0:
        beta = -0.005 * (latitude - 36.0)
    else:
        beta = -0.005 * (latitude - 36.0) + 1.8 - 4.25 * math.sin(theta)
    exponent = 0.655 + 0.033 * math.log(percentage) - 0.045 * math.log(at_001) - beta * (1 - percentage) * math.sin(theta)
    return float(at_001 * (percentage / 0.01) ** -exponent)


def fit_log_normal(path: Path, probability: float) -> LogNormal:
    """Of a series in which it rains for `probability` (percent) of the time: P.1853-2, Annex 1, 2.2, steps A and C."""
    normal = NormalDist()
    pairs = [
        (normal.inv_cdf(1 - p / 100), math.log(attenuation(path, p)))
        for p in _PERCENTAGES
        if p <= probability and attenuation(path, p) > 0.0
    ]
    count = len(pairs)
    x_mean, y_mean = sum(x for x, _ in pairs) / count, sum(y for _, y in pairs) / count
    deviation = sum((x - x_mean) * (y - y_mean) for x, y in pairs) / sum((x - x_mean) ** 2 for x, _ in pairs)
    mean = y_mean - deviation * x_mean
    return LogNormal(mean, deviation, math.exp(mean + deviation * normal.inv_cdf(1 - probability / 100)))
