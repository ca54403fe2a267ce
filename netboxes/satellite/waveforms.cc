// SPDX-License-Identifier: GPL-2.0-or-later
#include "waveforms.h"

#include <array>
#include <map>
#include <stdexcept>
#include <utility>

namespace netboxit
{

namespace
{

/// ETSI EN 301 545-2, Annex A, Table A-1: linear modulation with 536 symbols (3 … 12) and 1616 symbols (13 …
/// 22); in both QPSK 1/3, 1/2, 2/3, 3/4, 5/6, 8PSK 2/3, 3/4, 5/6, 16-QAM 3/4, 5/6.
constexpr int FIRST_WAVEFORM = 3;
constexpr std::array<std::uint32_t, 20> BURST_PAYLOADS{38,  59,  85,  96,  108, 115, 130, 144, 175, 194,
                                                       123, 188, 264, 298, 333, 355, 400, 444, 539, 599};

/// ETSI EN 302 307-1, Tables 5a and 5b: uncoded block of the BCH code.
const std::map<std::pair<std::string, std::string>, std::uint32_t> UNCODED_BLOCKS{
    {{"normal", "1/4"}, 16008}, {{"normal", "1/3"}, 21408},  {{"normal", "2/5"}, 25728},
    {{"normal", "1/2"}, 32208}, {{"normal", "3/5"}, 38688},  {{"normal", "2/3"}, 43040},
    {{"normal", "3/4"}, 48408}, {{"normal", "4/5"}, 51648},  {{"normal", "5/6"}, 53840},
    {{"normal", "8/9"}, 57472}, {{"normal", "9/10"}, 58192}, {{"short", "1/4"}, 3072},
    {{"short", "1/3"}, 5232},   {{"short", "2/5"}, 6312},    {{"short", "1/2"}, 7032},
    {{"short", "3/5"}, 9552},   {{"short", "2/3"}, 10632},   {{"short", "3/4"}, 11712},
    {{"short", "4/5"}, 12432},  {{"short", "5/6"}, 13152},   {{"short", "8/9"}, 14232},
};

} // namespace

std::uint32_t BurstPayload(int id)
{
    const auto index = static_cast<std::size_t>(id - FIRST_WAVEFORM);
    if (id < FIRST_WAVEFORM || index >= BURST_PAYLOADS.size())
    {
        throw std::invalid_argument("satellite: no waveform " + std::to_string(id) + "; there are 3 to 22");
    }
    return BURST_PAYLOADS[index];
}

std::uint32_t BbframeBits(const std::string& fecframe, const std::string& codeRate)
{
    const auto found = UNCODED_BLOCKS.find({fecframe, codeRate});
    if (found == UNCODED_BLOCKS.end())
    {
        throw std::invalid_argument("satellite: no code rate " + codeRate + " for " + fecframe +
                                    " FECFRAMEs");
    }
    return found->second;
}

} // namespace netboxit
