// SPDX-License-Identifier: GPL-2.0-or-later
#include "passive_rtt.h"

#include "tcp_segment.h"

namespace netboxit::stages
{

void WindowedMinimum::Add(std::int64_t value, std::int64_t now, std::optional<std::int64_t> window)
{
    const Sample sample{value, now};
    if (m_isEmpty || value <= m_best[0].value || (window && now - m_best[2].at > *window))
    {
        m_best.fill(sample);
        m_isEmpty = false;
        return;
    }
    if (value <= m_best[1].value)
    {
        m_best[1] = m_best[2] = sample;
    }
    else if (value <= m_best[2].value)
    {
        m_best[2] = sample;
    }
    if (window)
    {
        Age(sample, *window);
    }
}

void WindowedMinimum::Age(const Sample& sample, std::int64_t window)
{
    const auto age = sample.at - m_best[0].at;
    if (age > window)
    {
        m_best = {m_best[1], m_best[2], sample};
        if (sample.at - m_best[0].at > window)
        {
            m_best = {m_best[1], m_best[2], sample};
        }
    }
    else if (m_best[1].at == m_best[0].at && age > window / 4)
    {
        m_best[1] = m_best[2] = sample;
    }
    else if (m_best[2].at == m_best[1].at && age > window / 2)
    {
        m_best[2] = sample;
    }
}

void PassiveRtt::PopFront()
{
    m_first = (m_first + 1) % LONGEST_LIST;
    --m_size;
}

void PassiveRtt::ForgetOld(std::int64_t now)
{
    while (m_size > 0 && now - m_traces[m_first].sent > LARGEST)
    {
        PopFront();
    }
}

void PassiveRtt::Sent(std::uint32_t sequence, std::uint32_t end, std::int64_t now)
{
    ForgetOld(now);
    if (m_next && IsAfter(*m_next, sequence))
    {
        // Sent before. An ACK of what follows it may wait for it, too.
        while (m_size > 0 && IsAfter(m_traces[(m_first + m_size - 1) % LONGEST_LIST].end, sequence))
        {
            --m_size;
        }
        m_next = IsAfter(end, *m_next) ? end : *m_next;
        return;
    }
    m_next = end;
    if (m_size < LONGEST_LIST)
    {
        m_traces[(m_first + m_size) % LONGEST_LIST] = {end, now};
        ++m_size;
    }
}

std::optional<std::int64_t> PassiveRtt::Acknowledged(
    std::uint32_t acknowledgement, std::int64_t now, std::optional<std::int64_t> window)
{
    ForgetOld(now);
    if (!m_next || IsAfter(acknowledgement, *m_next))
    {
        return std::nullopt; // of what was never sent
    }
    std::optional<std::int64_t> sent;
    while (m_size > 0 && !IsAfter(m_traces[m_first].end, acknowledgement))
    {
        sent = m_traces[m_first].sent; // the last one that the ACK covers: delayed ACKs belong to it
        PopFront();
    }
    if (!sent)
    {
        return std::nullopt;
    }
    m_minimum.Add(now - *sent, now, window);
    return now - *sent;
}

} // namespace netboxit::stages
