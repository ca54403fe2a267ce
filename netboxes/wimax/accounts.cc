// SPDX-License-Identifier: GPL-2.0-or-later
#include "accounts.h"

#include <algorithm>

namespace netboxit::wimax
{

Accounts::Accounts(Fates& fates, Frames& frames, std::size_t stations)
    : m_fates(fates), m_frames(frames), m_counters(stations)
{
}

void Accounts::Deliver(const Sdu& sdu, StationId station, StationId subscriber)
{
    ++(sdu.uplink ? m_counters[subscriber].uplinkFrames : m_counters[subscriber].downlinkFrames);
    m_fates.Deliver(sdu.frame.slot, station);
}

bool Accounts::MarkCongestion(const Sdu& sdu)
{
    const bool isOnlyCopy = !sdu.uplink && sdu.receivers.size() == 1;
    return m_frames.MarkCongestion(sdu.frame.slot, isOnlyCopy ? sdu.receivers.front() : sdu.to.station);
}

void Accounts::Lose(const Sdu& sdu, Loss reason)
{
    if (!sdu.uplink)
    {
        for (const auto receiver : sdu.receivers)
        {
            LoseCopy(sdu, receiver, reason);
        }
    }
    else if (sdu.to.station)
    {
        Refuse(sdu.frame, *sdu.to.station, sdu.from, reason);
    }
    else
    {
        RefuseAll(sdu.frame, sdu.from, reason);
    }
}

void Accounts::LoseCopy(const Sdu& sdu, StationId receiver, Loss reason)
{
    Refuse(sdu.frame, receiver, receiver, reason);
}

void Accounts::Refuse(const Frame& frame, StationId destination, StationId subscriber, Loss reason)
{
    Count(subscriber, reason);
    m_fates.Lose(frame.slot, destination, reason);
}

void Accounts::RefuseAll(const Frame& frame, StationId subscriber, Loss reason)
{
    Count(subscriber, reason);
    m_fates.LoseAll(frame.slot, reason);
}

void Accounts::Reset()
{
    std::ranges::fill(m_counters, Counters());
}

Json Accounts::Read(StationId subscriber) const
{
    const auto& counters = m_counters[subscriber];
    return {{"uplink_frames", counters.uplinkFrames},
            {"downlink_frames", counters.downlinkFrames},
            {"lost_on_air", counters.lost[Loss::OnAir]},
            {"lost_queue_full", counters.lost[Loss::QueueFull]},
            {"lost_queue_early", counters.lost[Loss::QueueEarly]},
            {"lost_queue_expired", counters.lost[Loss::QueueExpired]},
            {"lost_retry_limit", counters.lost[Loss::RetryLimit]},
            {"lost_outage", counters.lost[Loss::Outage]},
            {"lost_unsupported", counters.lost[Loss::Unsupported]}};
}

} // namespace netboxit::wimax
