// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "link.h"

#include "../queueing/channel.h"

namespace netboxit::wimax
{

/// The channels from a transmitter to those that receive what it sends, by the burst profile and the SNR of each link. The base station
/// knows both: from the channel measurements that subscribers report (REP-RSP), and of the uplink by itself.
class ReceiverChannels : public queueing::Channel
{
  public:
    /// `names` are those of all stations, by StationId, and outlive it.
    explicit ReceiverChannels(const std::vector<std::string>& names) : m_names(names), m_links(names.size())
    {
    }

    /// A receiver, and the link to it, which outlives this object.
    void Add(StationId receiver, const Link& link)
    {
        m_links[receiver] = &link;
    }

    const std::vector<std::string>& Stations() const override
    {
        return m_names;
    }

    /// The chance that a PDU with the largest SDU arrives: all of its blocks do.
    std::optional<double> Success(StationId to) const override;

  private:
    const std::vector<std::string>& m_names;
    std::vector<const Link*> m_links; ///< by StationId; null where that station is no receiver
};

} // namespace netboxit::wimax
