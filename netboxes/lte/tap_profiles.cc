// SPDX-License-Identifier: GPL-2.0-or-later
#include "tap_profiles.h"

#include <array>

namespace netboxit
{

namespace
{

/// TS 36.104, Table B.2-1: Extended Pedestrian A.
constexpr std::array EPA{Tap{0e-9, 0.0},
                         Tap{30e-9, -1.0},
                         Tap{70e-9, -2.0},
                         Tap{90e-9, -3.0},
                         Tap{110e-9, -8.0},
                         Tap{190e-9, -17.2},
                         Tap{410e-9, -20.8}};

/// TS 36.104, Table B.2-2: Extended Vehicular A.
constexpr std::array EVA{Tap{0e-9, 0.0},
                         Tap{30e-9, -1.5},
                         Tap{150e-9, -1.4},
                         Tap{310e-9, -3.6},
                         Tap{370e-9, -0.6},
                         Tap{710e-9, -9.1},
                         Tap{1090e-9, -7.0},
                         Tap{1730e-9, -12.0},
                         Tap{2510e-9, -16.9}};

/// TS 36.104, Table B.2-3: Extended Typical Urban.
constexpr std::array ETU{Tap{0e-9, -1.0},
                         Tap{50e-9, -1.0},
                         Tap{120e-9, -1.0},
                         Tap{200e-9, 0.0},
                         Tap{230e-9, 0.0},
                         Tap{500e-9, 0.0},
                         Tap{1600e-9, -3.0},
                         Tap{2300e-9, -5.0},
                         Tap{5000e-9, -7.0}};

} // namespace

std::span<const Tap> TapsOf(std::string_view profile)
{
    if (profile == "EPA")
    {
        return EPA;
    }
    if (profile == "EVA")
    {
        return EVA;
    }
    if (profile == "ETU")
    {
        return ETU;
    }
    return {};
}

} // namespace netboxit
