// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace netboxit
{

/// Pacing as Linux has it inside TCP: segments leave in bursts of about 1 ms at the pacing rate (tcp_tso_autosize), and the
/// next burst when the time that the last one takes at that rate is over (tcp_update_skb_after_send). The first ten segments
/// are not paced.
class BurstPacing
{
  public:
    /// Segments of a burst.
    static std::uint32_t Segments(const ns3::DataRate& rate, std::uint32_t segmentSize);

    /// Until a segment may leave; 0: now.
    ns3::Time Wait() const;
    /// Until the next burst may, also while this one does.
    ns3::Time NextBurst() const;
    /// One leaves.
    void Sent(std::uint32_t size, const ns3::DataRate& rate, std::uint32_t segmentSize);

  private:
    std::uint64_t m_sent{0}; ///< segments, up to those that are not paced
    ns3::Time m_next;        ///< of the next burst
    ns3::Time m_began;       ///< the burst
    std::uint32_t m_left{0}; ///< segments of the burst that may leave at that time
    ns3::Time m_credit;      ///< how late the burst began
};

} // namespace netboxit
