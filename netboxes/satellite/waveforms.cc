// SPDX-License-Identifier: GPL-2.0-or-later
#include "waveforms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace netboxit
{

namespace
{

struct Waveform
{
    const char* name;
    std::uint32_t payload; ///< bytes
    double threshold;      ///< Es/N0 in dB at which 1 burst in 100 000 is lost
};

constexpr int FIRST_WAVEFORM = 3;
constexpr int FIRST_LONG_WAVEFORM = 13;

/// ETSI EN 301 545-2, Annex A, Table A-1: linear modulation with 536 symbols (3 … 12) and 1616 symbols (13 … 22). The standard has no
/// thresholds: these are where the curves of packet errors published with the simulator SNS3 (sns3-data, linkresults, by Eb/N0) cross
/// 1e-5. There is none for 13; it is taken to gain over 3 what 14 gains over 4.
constexpr std::array<Waveform, 20> WAVEFORMS{{
    {"QPSK 1/3", 38, 0.26},    {"QPSK 1/2", 59, 2.34},    {"QPSK 2/3", 85, 4.30},    {"QPSK 3/4", 96, 5.37},
    {"QPSK 5/6", 108, 6.64},   {"8PSK 2/3", 115, 8.15},   {"8PSK 3/4", 130, 9.42},   {"8PSK 5/6", 144, 10.83},
    {"16QAM 3/4", 175, 11.17}, {"16QAM 5/6", 194, 12.55}, {"QPSK 1/3", 123, -0.38},  {"QPSK 1/2", 188, 1.70},
    {"QPSK 2/3", 264, 3.69},   {"QPSK 3/4", 298, 4.73},   {"QPSK 5/6", 333, 5.95},   {"8PSK 2/3", 355, 7.57},
    {"8PSK 3/4", 400, 8.82},   {"8PSK 5/6", 444, 10.20},  {"16QAM 3/4", 539, 10.71}, {"16QAM 5/6", 599, 12.05},
}};
constexpr std::uint32_t SHORT_BURST = 536;
constexpr std::uint32_t LONG_BURST = 1616;
/// Steepness that fits those curves, all within a quarter of it.
constexpr double SHORT_BURST_WIDTH = 0.33;
constexpr double LONG_BURST_WIDTH = 0.18;
/// Q(z) = 1e-5, at the thresholds of bursts; Q(z) = 1e-7, at those of BBFRAMEs.
constexpr double Z_BURST = 4.265;
constexpr double Z_BBFRAME = 5.199;

struct Modcod
{
    const char* modulation;
    std::uint32_t bitsPerSymbol;
    const char* codeRate;
    double threshold; ///< dB
};

/// EN 302 307-1, Table 13: Es/N0 at which 1 packet in 1e7 is lost, normal FECFRAMEs, 50 LDPC iterations, ideal demodulation.
constexpr std::array<Modcod, 28> MODCODS{{
    {"QPSK", 2, "1/4", -2.35},   {"QPSK", 2, "1/3", -1.24},   {"QPSK", 2, "2/5", -0.30},   {"QPSK", 2, "1/2", 1.00},
    {"QPSK", 2, "3/5", 2.23},    {"QPSK", 2, "2/3", 3.10},    {"QPSK", 2, "3/4", 4.03},    {"QPSK", 2, "4/5", 4.68},
    {"QPSK", 2, "5/6", 5.18},    {"QPSK", 2, "8/9", 6.20},    {"QPSK", 2, "9/10", 6.42},   {"8PSK", 3, "3/5", 5.50},
    {"8PSK", 3, "2/3", 6.62},    {"8PSK", 3, "3/4", 7.91},    {"8PSK", 3, "5/6", 9.35},    {"8PSK", 3, "8/9", 10.69},
    {"8PSK", 3, "9/10", 10.98},  {"16APSK", 4, "2/3", 8.97},  {"16APSK", 4, "3/4", 10.21}, {"16APSK", 4, "4/5", 11.03},
    {"16APSK", 4, "5/6", 11.61}, {"16APSK", 4, "8/9", 12.89}, {"16APSK", 4, "9/10", 13.13}, {"32APSK", 5, "3/4", 12.73},
    {"32APSK", 5, "4/5", 13.64}, {"32APSK", 5, "5/6", 14.28}, {"32APSK", 5, "8/9", 15.69}, {"32APSK", 5, "9/10", 16.05},
}};
/// Note 1 to Table 13: short FECFRAMEs need 0.2 to 0.3 dB more.
constexpr double SHORT_FECFRAME_LOSS = 0.25;
/// Steepness of the LDPC code's waterfall: the curve of QPSK 3/4 published with SNS3 falls from 3e-3 to 3e-6 within 0.1 dB; one of a
/// quarter of the length has about twice the width.
constexpr double NORMAL_FECFRAME_WIDTH = 0.05;
constexpr double SHORT_FECFRAME_WIDTH = 0.1;
/// EN 302 307-1, 5.1.6: length of the BBHEADER; 5.5.2: PLHEADER.
constexpr std::uint32_t BBHEADER_BITS = 80;
constexpr std::uint32_t PLHEADER_SYMBOLS = 90;

struct UncodedBlock
{
    const char* codeRate;
    std::uint32_t normalBits;
    std::uint32_t shortBits; ///< 0: there is none
};

/// EN 302 307-1, Tables 5a and 5b: uncoded block of the BCH code (Kbch).
constexpr std::array<UncodedBlock, 11> UNCODED_BLOCKS{{
    {"1/4", 16008, 3072},
    {"1/3", 21408, 5232},
    {"2/5", 25728, 6312},
    {"1/2", 32208, 7032},
    {"3/5", 38688, 9552},
    {"2/3", 43040, 10632},
    {"3/4", 48408, 11712},
    {"4/5", 51648, 12432},
    {"5/6", 53840, 13152},
    {"8/9", 57472, 14232},
    {"9/10", 58192, 0},
}};

const Waveform& At(int id)
{
    if (id < FIRST_WAVEFORM || id >= FIRST_WAVEFORM + static_cast<int>(WAVEFORMS.size()))
    {
        throw std::invalid_argument("satellite: no waveform " + std::to_string(id) + "; there are 3 to 22");
    }
    return WAVEFORMS[static_cast<std::size_t>(id - FIRST_WAVEFORM)];
}

} // namespace

double Profile::ErrorRate(double esN0) const
{
    return 0.5 * std::erfc((esN0 - midpoint) / width / std::sqrt(2.0));
}

std::vector<Profile> ForwardProfiles(const std::string& fecframe)
{
    const bool normal = fecframe == "normal";
    const std::uint32_t coded = normal ? 64800 : 16200;
    const double width = normal ? NORMAL_FECFRAME_WIDTH : SHORT_FECFRAME_WIDTH;
    std::vector<Profile> profiles;
    for (const auto& modcod : MODCODS)
    {
        const std::string rate = modcod.codeRate;
        const auto& block = *std::ranges::find(UNCODED_BLOCKS, rate, [](const auto& b) { return std::string(b.codeRate); });
        const auto bits = normal ? block.normalBits : block.shortBits;
        if (bits > 0)
        {
            const double threshold = modcod.threshold + (normal ? 0.0 : SHORT_FECFRAME_LOSS);
            profiles.push_back({.name = modcod.modulation + (" " + rate),
                                .bits = bits,
                                .payload = (bits - BBHEADER_BITS) / 8,
                                .symbols = PLHEADER_SYMBOLS + coded / modcod.bitsPerSymbol,
                                .threshold = threshold,
                                .midpoint = threshold - Z_BBFRAME * width,
                                .width = width});
        }
    }
    return profiles;
}

std::vector<Profile> ReturnProfiles(int id)
{
    At(id);
    const bool isLong = id >= FIRST_LONG_WAVEFORM;
    const int first = isLong ? FIRST_LONG_WAVEFORM : FIRST_WAVEFORM;
    const double width = isLong ? LONG_BURST_WIDTH : SHORT_BURST_WIDTH;
    std::vector<Profile> profiles;
    for (int i = first; i < first + FIRST_LONG_WAVEFORM - FIRST_WAVEFORM; ++i)
    {
        const auto& waveform = At(i);
        profiles.push_back({.name = WaveformName(i),
                            .bits = 8 * waveform.payload,
                            .payload = waveform.payload,
                            .symbols = isLong ? LONG_BURST : SHORT_BURST,
                            .threshold = waveform.threshold,
                            .midpoint = waveform.threshold - Z_BURST * width,
                            .width = width});
    }
    return profiles;
}

std::vector<Profile> Efficient(std::vector<Profile> profiles)
{
    std::ranges::sort(profiles, {}, &Profile::threshold);
    std::vector<Profile> kept;
    for (const auto& profile : profiles)
    {
        if (kept.empty() || profile.Efficiency() > kept.back().Efficiency())
        {
            kept.push_back(profile);
        }
    }
    return kept;
}

std::size_t IndexOf(const std::vector<Profile>& profiles, const std::string& name)
{
    const auto found = std::ranges::find_if(profiles, [&](const Profile& p) { return p.name.ends_with(name); });
    if (found == profiles.end())
    {
        throw std::invalid_argument("satellite: no modulation and coding " + name);
    }
    return static_cast<std::size_t>(found - profiles.begin());
}

std::string WaveformName(int id)
{
    return std::to_string(id) + " " + At(id).name;
}

} // namespace netboxit
