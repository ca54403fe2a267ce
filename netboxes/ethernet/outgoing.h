// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/queue.h"

#include <algorithm>

namespace netboxit
{

// What frames take on a wire besides their packet, bytes (IEEE 802.3-2018, 3.1.1 and 4A.4.2); the header is ETHERNET_HEADER.
inline constexpr std::uint32_t PREAMBLE = 8; ///< with the start frame delimiter
inline constexpr std::uint32_t FRAME_CHECK_SEQUENCE = 4;
inline constexpr std::uint32_t SMALLEST_FRAME = 64; ///< without preamble
inline constexpr std::uint32_t INTERFRAME_GAP = 12;

/// A frame that a station or a switch sends.
struct Outgoing
{
    Frame frame;
    Destination to;

    /// From the first bit of its preamble to the last one of its check sequence.
    std::uint32_t BytesOnWire() const
    {
        return PREAMBLE +
               std::max<std::uint32_t>(ETHERNET_HEADER + frame.length + FRAME_CHECK_SEQUENCE, SMALLEST_FRAME);
    }

    /// It counts as header and packet.
    queueing::Entry EntryIn(const queueing::Queue<Outgoing>& queue, const Frames& frames) const
    {
        return {static_cast<std::uint32_t>(ETHERNET_HEADER + frame.length),
                frame.trafficClass,
                queue.LooksIntoFrames() ? frames.Read(frame.slot) : Bytes{}};
    }
};

} // namespace netboxit
