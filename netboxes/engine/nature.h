// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// Constants of nature; contracts/nature.py has them for Python.
namespace netboxit
{

inline constexpr double SPEED_OF_LIGHT = 299792458.0; ///< m/s, in vacuum: exact (BIPM, SI Brochure, 2019, 2.3.1)

/// Mean radius of the earth (m; IUGG), gravitational constant times its mass (m3/s2), rotation (rad/s; both WGS 84).
inline constexpr double EARTH_RADIUS = 6371.0e3;
inline constexpr double EARTH_GRAVITATION = 3.986004418e14;
inline constexpr double EARTH_ROTATION = 7.2921150e-5;

} // namespace netboxit
