// SPDX-License-Identifier: GPL-2.0-or-later
#include "service_flow.h"

#include "mac_overhead.h"

#include <algorithm>
#include <cmath>

namespace netboxit::wimax
{

namespace
{

/// Deep enough for two frames or intervals, and for a pair of the largest SDUs.
double Depth(double rate, const ServiceFlow& flow, double frameS)
{
    const double span = 2.0 * std::max(frameS, flow.interval.GetSeconds());
    return std::max(rate * span / 8.0, 2.0 * LARGEST_SDU);
}

} // namespace

TokenBucket::TokenBucket(double rateBitPerS, double depthBytes)
    : m_bytesPerS(rateBitPerS / 8.0), m_depth(depthBytes), m_level(depthBytes)
{
}

std::uint32_t TokenBucket::Available(ns3::Time now)
{
    if (std::isinf(m_bytesPerS))
    {
        return std::uint32_t{1} << 31;
    }
    m_level = std::min(m_depth, m_level + m_bytesPerS * (now - m_filled).GetSeconds());
    m_filled = now;
    return static_cast<std::uint32_t>(std::max(0.0, m_level));
}

void TokenBucket::Take(std::uint32_t bytes)
{
    m_level -= bytes;
}

FlowCredit::FlowCredit(const ServiceFlow& flow, double frameS)
    : reserved(flow.reservedRate, flow.reservedRate > 0.0 ? Depth(flow.reservedRate, flow, frameS) : 0.0),
      maximum(flow.maximumRate, Depth(flow.maximumRate, flow, frameS))
{
}

void FlowCredit::Take(std::uint32_t bytes)
{
    reserved.Take(bytes);
    maximum.Take(bytes);
}

} // namespace netboxit::wimax
