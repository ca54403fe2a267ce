// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/lte-amc.h"

#include <cstdint>

namespace netboxit
{

/// What a UE that has all resource blocks of its cell gets and sends, without retransmissions and headers: a transport block each subframe
/// of 1 ms, by the adaptation that ns-3's schedulers have.
class LinkRates
{
  public:
    explicit LinkRates(int resourceBlocks);

    /// bit/s, by a channel quality indicator (TS 36.213, 7.2.3); 0 of 0, which is out of range.
    std::uint64_t Downlink(int quality) const;
    /// bit/s, by the ratio at which the eNodeB measured the sounding signal; 0 where it is too low for any scheme, or was not measured.
    std::uint64_t Uplink(double sinr) const;

  private:
    ns3::Ptr<ns3::LteAmc> m_adaptation;
    int m_resourceBlocks;
};

} // namespace netboxit
