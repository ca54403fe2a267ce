// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue_scheduler.h"

namespace netboxit
{

ns3::TypeId QueueScheduler::GetTypeId()
{
    static ns3::TypeId id = ns3::TypeId("netboxit::QueueScheduler")
                                .SetParent<ns3::FcfsWifiQueueScheduler>()
                                .AddConstructor<QueueScheduler>()
                                .AddTraceSource("Overflow",
                                                "A frame for which its queue had no room.",
                                                ns3::MakeTraceSourceAccessor(&QueueScheduler::m_overflow),
                                                "ns3::WifiMpdu::TracedCallback");
    return id;
}

ns3::Ptr<ns3::WifiMpdu> QueueScheduler::HasToDropBeforeEnqueuePriv(ns3::AcIndex ac,
                                                                   ns3::Ptr<ns3::WifiMpdu> newest)
{
    const auto queue = GetWifiMacQueue(ac);
    if (queue->ns3::QueueBase::GetNPackets() < queue->GetMaxSize().GetValue())
    {
        return nullptr;
    }
    auto victim = newest;
    if (!newest->GetHeader().IsData())
    {
        if (auto oldest = OldestWaiting(ac))
        {
            victim = oldest;
        }
    }
    m_overflow(victim);
    return victim;
}

/// A frame that is on the air, or was once and will be repeated, must stay.
ns3::Ptr<ns3::WifiMpdu> QueueScheduler::OldestWaiting(ns3::AcIndex ac) const
{
    const auto queue = GetWifiMacQueue(ac);
    for (const auto& [priority, info] : GetSortedQueues(ac))
    {
        const auto& queueId = info.get().first;
        ns3::Ptr<ns3::WifiMpdu> mpdu;
        while ((mpdu = queue->PeekByQueueId(queueId, mpdu)))
        {
            if (mpdu->GetHeader().IsData() && !mpdu->IsInFlight() && !mpdu->GetHeader().IsRetry())
            {
                return mpdu;
            }
        }
    }
    return nullptr;
}

} // namespace netboxit
