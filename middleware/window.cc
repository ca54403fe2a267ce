// SPDX-License-Identifier: GPL-2.0-or-later
#include "window.h"

#include <algorithm>

namespace netboxit::middleware
{

namespace
{

constexpr Rate BITS = 8;

std::uint64_t InSegments(std::uint64_t bytes, std::uint32_t segment)
{
    return std::max<std::uint64_t>(bytes / segment, LEAST_SEGMENTS) * segment;
}

} // namespace

Window WindowOf(Rate budget, Time minimumRtt, std::uint32_t segment)
{
    const auto perSecond = (std::clamp<Rate>(budget, 0, MOST_RATE) + BITS - 1) / BITS;
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(perSecond) * static_cast<Wide>(std::max<Time>(minimumRtt, 0)) / SECOND;
    const auto bytes = static_cast<std::uint64_t>(std::min<Wide>(product, UINT64_MAX / 2));
    const auto size = std::max(segment, 1U);
    return {.slowStartThreshold = InSegments(bytes, size), .congestionWindow = InSegments(bytes / 2, size)};
}

} // namespace netboxit::middleware
