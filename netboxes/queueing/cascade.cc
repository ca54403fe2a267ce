// SPDX-License-Identifier: GPL-2.0-or-later
#include "cascade.h"

namespace netboxit::queueing
{

void Cascade::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    m_rate = rate;
    m_above->Enqueue(frame, now, rate);
    Fetch(now);
}

std::optional<Waiting> Cascade::Dequeue(std::int64_t now)
{
    if (m_prefetched == 0)
    {
        return m_above->Dequeue(now);
    }
    if (m_below->Packets() == 0)
    {
        Fetch(now);
    }
    const auto frame = m_below->Dequeue(now);
    Fetch(now);
    return frame;
}

std::optional<Waiting> Cascade::TakeOlder(std::int64_t since)
{
    const auto frame = m_below->TakeOlder(since);
    return frame ? frame : m_above->TakeOlder(since);
}

std::vector<Waiting> Cascade::TakeTo(StationId receiver)
{
    auto taken = m_below->TakeTo(receiver);
    std::ranges::copy(m_above->TakeTo(receiver), std::back_inserter(taken));
    return taken;
}

std::uint32_t Cascade::FirstBytes() const
{
    return m_below->Packets() > 0 ? m_below->FirstBytes() : m_above->FirstBytes();
}

void Cascade::Fetch(std::int64_t now)
{
    while (m_below->Bytes() < m_prefetched && m_above->Packets() > 0)
    {
        if (const auto frame = m_above->Dequeue(now))
        {
            m_below->Enqueue(m_asBelow(*frame), now, m_rate);
        }
    }
}

} // namespace netboxit::queueing
