// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace netboxit
{

/// One way to modulate and code a codeword: a MODCOD of DVB-S2, of which a codeword is a BBFRAME, or a reference waveform of DVB-RCS2, of
/// which it is a burst.
struct Profile
{
    std::string name;      ///< "QPSK 3/4"; waveforms with their number first: "14 QPSK 1/2"
    std::uint32_t bits;    ///< what the channel's rate counts: the whole BBFRAME (Kbch), a burst's payload
    std::uint32_t payload; ///< bytes of a codeword for packets and their encapsulation
    std::uint32_t symbols; ///< of a codeword on the channel, all that is not data included
    double threshold;      ///< Es/N0 (dB) from which it is as good as free of errors
    double midpoint;       ///< Es/N0 (dB) at which half of the codewords are lost
    double width;          ///< how steep the waterfall is, dB: the standard deviation of the normal distribution that it follows

    /// Share of the codewords that are lost at this Es/N0 (dB): Q((esN0 - midpoint) / width).
    double ErrorRate(double esN0) const;
    /// Bits a symbol.
    double Efficiency() const
    {
        return static_cast<double>(bits) / symbols;
    }
    /// Es/N0 (dB) below which hardly a codeword (1 in 700) is received.
    double LossOfLock() const
    {
        return midpoint - 3.0 * width;
    }
};

/// What codewords of one direction can be sent with, as waveforms.py chose it.
struct ProfileSet
{
    std::vector<Profile> profiles; ///< the first `usable` are chosen from, from the most robust on
    std::size_t usable;
    std::size_t reference; ///< which one the carrier's rate is stated for, used or not

    const Profile& Reference() const
    {
        return profiles[reference];
    }
};

Profile ProfileOf(const Json& parameters);
/// Throws std::invalid_argument when there is no usable profile, or no such reference.
ProfileSet ProfileSetOf(const Json& parameters);

} // namespace netboxit
