// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace netboxit
{

/// One path of a tapped delay line.
struct Tap
{
    double delay; ///< s
    double power; ///< dB, relative
};

/// The multipath delay profile EPA, EVA or ETU (3GPP TS 36.104, Annex B.2); empty for another name.
std::span<const Tap> TapsOf(std::string_view profile);

} // namespace netboxit
