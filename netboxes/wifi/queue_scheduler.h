// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/fcfs-wifi-queue-scheduler.h"
#include "ns3/traced-callback.h"
#include "ns3/wifi-mac-queue.h"

namespace netboxit
{

/// First come, first served, as ns-3's own, which however discards frames for which a queue has no room
/// without telling anybody. This one traces them.
class QueueScheduler : public ns3::FcfsWifiQueueScheduler
{
  public:
    static ns3::TypeId GetTypeId();

  private:
    /// Drops the newest data frame, or the oldest one to make room for management and control.
    ns3::Ptr<ns3::WifiMpdu> HasToDropBeforeEnqueuePriv(ns3::AcIndex ac,
                                                       ns3::Ptr<ns3::WifiMpdu> newest) override;
    ns3::Ptr<ns3::WifiMpdu> OldestWaiting(ns3::AcIndex ac) const;

    ns3::TracedCallback<ns3::Ptr<const ns3::WifiMpdu>> m_overflow;
};

} // namespace netboxit
