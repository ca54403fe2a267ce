# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants of nature; `netboxes/engine/nature.h` has them for C++."""

from __future__ import annotations

from typing import Final

#: m/s, in vacuum: exact (BIPM, SI Brochure, 2019, 2.3.1).
SPEED_OF_LIGHT: Final = 299_792_458.0

#: Mean radius of the earth (m; IUGG), gravitational constant times its mass (m3/s2), rotation (rad/s; both WGS 84).
EARTH_RADIUS: Final = 6371e3
EARTH_GRAVITATION: Final = 3.986004418e14
EARTH_ROTATION: Final = 7.2921150e-5
