// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace netboxit
{

/// TETRA's time (EN 300 392-2, clause 7): slots of 85/6 ms, frames of four, multiframes of 18 frames, whose last one has no traffic. In ns
/// since simulated time 0, at which a multiframe begins.
namespace tdma
{

constexpr std::int64_t SLOTS = 4;
constexpr std::int64_t FRAMES = 18;

constexpr std::int64_t SlotStart(std::int64_t frame, std::int64_t slot)
{
    return (frame * SLOTS + slot) * 85'000'000 / 6;
}

constexpr std::int64_t FRAME = SlotStart(1, 0);

constexpr bool IsControl(std::int64_t frame)
{
    return frame % FRAMES == FRAMES - 1;
}

/// The first frame whose `slot` begins at `time` or later.
constexpr std::int64_t FrameOf(std::int64_t time, std::int64_t slot)
{
    auto frame = time * 6 / (SLOTS * 85'000'000);
    while (SlotStart(frame, slot) < time)
    {
        ++frame;
    }
    return frame;
}

/// Random access: two opportunities, a half slot each, in the control channel's slot of every frame (23.5.1).
constexpr std::int64_t OpportunityStart(std::int64_t number)
{
    return SlotStart(number / 2, 0) + number % 2 * (SlotStart(0, 1) / 2);
}

constexpr std::int64_t NextOpportunity(std::int64_t time)
{
    auto number = 2 * (time / FRAME);
    while (OpportunityStart(number) < time)
    {
        ++number;
    }
    return number;
}

} // namespace tdma

/// Consecutive slots of a carrier.
struct SlotRange
{
    std::int64_t first{};
    std::int64_t count{1};

    /// Fills `blocks` slots from the first frame on in which none of them has begun at `start`, and tells `inFrame(frame, blocks of it)`. Returns when the last one ends.
    template <typename InFrame>
    std::int64_t Fill(std::int64_t start, std::uint32_t blocks, InFrame&& inFrame) const
    {
        auto end = start;
        auto frame = tdma::FrameOf(start, first);
        for (; blocks > 0; ++frame)
        {
            if (tdma::IsControl(frame))
            {
                continue;
            }
            const auto here = std::min(blocks, static_cast<std::uint32_t>(count));
            blocks -= here;
            end = tdma::SlotStart(frame, first + here);
            inFrame(frame, here);
        }
        return end;
    }
};

} // namespace netboxit
