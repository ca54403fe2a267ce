// SPDX-License-Identifier: GPL-2.0-or-later
#include "service_flow.h"

#include <algorithm>
#include <cmath>

namespace netboxit::wimax
{

TokenBucket::TokenBucket(double rateBitPerS, double depthBytes)
    : m_bytesPerS(rateBitPerS / 8.0),
      m_depth(depthBytes),
      m_level(depthBytes)
{
}

std::uint32_t
TokenBucket::Available(ns3::Time now)
{
    if (std::isinf(m_bytesPerS))
    {
        return std::uint32_t{1} << 31;
    }
    m_level = std::min(m_depth, m_level + m_bytesPerS * (now - m_filled).GetSeconds());
    m_filled = now;
    return static_cast<std::uint32_t>(std::max(0.0, m_level));
}

void
TokenBucket::Take(std::uint32_t bytes)
{
    m_level -= bytes;
}

} // namespace netboxit::wimax
