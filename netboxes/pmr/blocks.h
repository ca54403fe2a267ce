// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace netboxit
{

/// What a slot carries, and how packets are cut for it. Sizes in bits.
struct BlockFormat
{
    std::uint32_t bits{};  ///< net, of one slot
    double codingGain{};   ///< dB

    /// EN 300 392-2, clause 8: 432 bits a slot in 17 of 18 frames are 7.2 kbit/s. The gains are assumed: about 60 % of the
    /// asymptotic ones, 10 lg of the free distance, of 16-state codes of rate 2/3 (5) and 1/3 (12).
    static constexpr BlockFormat Of(std::string_view protection)
    {
        return protection == "none" ? BlockFormat{432, 0.0} : protection == "low" ? BlockFormat{288, 4.0} : BlockFormat{144, 7.0};
    }
};

/// Headers after EN 300 392-2, clauses 21 (MAC), 22 (LLC) and 28 (SNDCP).
namespace headers
{

constexpr std::uint32_t SNDCP = 16;      ///< SN-DATA: type, NSAPI, compressions; once a packet
constexpr std::uint32_t FCS = 32;        ///< LLC, once a packet
constexpr std::uint32_t SEGMENT = 17;    ///< LLC AL-DATA: type, flags, numbers of packet and segment; in each block
constexpr std::uint32_t MAC_FIRST = 37;  ///< MAC-DATA with an address of 24 bits; in the first block
constexpr std::uint32_t MAC_FURTHER = 4; ///< MAC-FRAG; in the others

} // namespace headers

/// Blocks that carry a packet of so many bytes; each packet begins a block.
constexpr std::uint32_t BlocksOf(std::uint32_t bytes, const BlockFormat& format)
{
    const auto bits = 8 * bytes + headers::SNDCP + headers::FCS;
    const auto first = format.bits - headers::MAC_FIRST - headers::SEGMENT;
    const auto further = format.bits - headers::MAC_FURTHER - headers::SEGMENT;
    return bits <= first ? 1 : 1 + (bits - first + further - 1) / further;
}

} // namespace netboxit
