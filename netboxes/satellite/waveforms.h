// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

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

/// MODCODs of DVB-S2 (EN 302 307-1, Tables 12, 5a, 5b, 13) for FECFRAMEs that are `short` or `normal`, without pilots.
std::vector<Profile> ForwardProfiles(const std::string& fecframe);

/// Reference waveforms of DVB-RCS2 (EN 301 545-2, Table A-1) with bursts as long as those of waveform `id` (3 … 22): 536 or 1616 symbols.
std::vector<Profile> ReturnProfiles(int id);

/// The best at each Es/N0, from the most robust on: what needs more without carrying more is left out.
std::vector<Profile> Efficient(std::vector<Profile> profiles);

/// Where the profile whose name ends with `name` stands; throws std::invalid_argument when there is none.
std::size_t IndexOf(const std::vector<Profile>& profiles, const std::string& name);

/// What "14" is called in full; throws std::invalid_argument when it is not 3 … 22.
std::string WaveformName(int id);

} // namespace netboxit
