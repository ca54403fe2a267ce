// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "encapsulation.h"

#include "ns3/random-variable-stream.h"

#include <algorithm>

namespace netboxit
{

/// What one receiver makes of the codewords of one sender: each is received or lost as a whole, with all packets that have a part in it.
class CodewordLog
{
  public:
    /// Whether a codeword of a packet is lost, of which each is with probability `errorRate`. Packets must come in order.
    bool IsLost(const Packet& packet, double errorRate, ns3::UniformRandomVariable& random)
    {
        bool lost = false;
        for (auto codeword = std::max(packet.firstCodeword, m_latest); codeword <= packet.lastCodeword; ++codeword)
        {
            if (codeword != m_latest)
            {
                m_latest = codeword;
                m_latestLost = errorRate > NEGLIGIBLE && random.GetValue() < errorRate;
            }
            lost |= m_latestLost;
        }
        return lost;
    }

  private:
    /// Below, a run of days would not see one: nothing is drawn.
    static constexpr double NEGLIGIBLE = 1e-12;

    std::uint64_t m_latest{};
    bool m_latestLost{};
};

} // namespace netboxit
