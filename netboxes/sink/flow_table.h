// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sequence_account.h"

#include "../engine/headers.h"

#include <map>
#include <string>

namespace netboxit
{

/// What tells flows apart: IPv4 addresses and UDP ports as they stand in the packet.
using FlowKey = std::array<std::uint8_t, 12>;

/// "address:port" of the sending or the receiving end.
std::string SourceOf(const FlowKey& key);
std::string DestinationOf(const FlowKey& key);

/// The accounts of at most CAPACITY flows, about 8 KiB each.
class FlowTable
{
  public:
    /// The account of a flow, made when there is none; null when the table is full.
    SequenceAccount* Find(const FlowKey& key);
    void Clear();

    const auto& Flows() const
    {
        return m_flows;
    }

    static constexpr std::size_t CAPACITY = 1024;

  private:
    std::map<FlowKey, SequenceAccount> m_flows;
    FlowKey m_latest{}; ///< frames of one flow often follow each other
    SequenceAccount* m_latestAccount{nullptr};
};

} // namespace netboxit
