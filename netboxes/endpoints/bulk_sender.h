// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bulk_transfer.h"

#include "ns3/event-id.h"

#include <deque>

namespace netboxit
{

/// Sends by TCP as fast as that permits: a number of bytes, or until a time, in one or more connections at once.
class BulkSender : public Flow
{
  public:
    BulkSender(const FlowPlace& place, BulkSenderConfiguration configuration);
    ~BulkSender() override;

    void Begin() override;
    Json Read() const override;

  private:
    void Start();
    void Stop();

    BulkSenderConfiguration m_configuration;
    std::deque<BulkTransfer> m_transfers;
    std::int64_t m_began{0}; ///< ns
    ns3::EventId m_start;
    ns3::EventId m_stop;
};

std::unique_ptr<Flow> MakeBulkSender(const FlowPlace& place, Section& configuration);

} // namespace netboxit
