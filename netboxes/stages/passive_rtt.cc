// SPDX-License-Identifier: GPL-2.0-or-later
#include "passive_rtt.h"

#include "tcp_segment.h"

namespace netboxit::stages
{

void WindowedMinimum::Add(std::int64_t value, std::int64_t now, std::optional<std::int64_t> window)
{
    const Sample sample{value, now};
    if (isEmpty || value <= best[0].value || (window && now - best[2].at > *window))
    {
        best.fill(sample);
        isEmpty = false;
        return;
    }
    if (value <= best[1].value)
    {
        best[1] = best[2] = sample;
    }
    else if (value <= best[2].value)
    {
        best[2] = sample;
    }
    if (window)
    {
        Age(sample, *window);
    }
}

void WindowedMinimum::Age(const Sample& sample, std::int64_t window)
{
    const auto age = sample.at - best[0].at;
    if (age > window)
    {
        best = {best[1], best[2], sample};
        if (sample.at - best[0].at > window)
        {
            best = {best[1], best[2], sample};
        }
    }
    else if (best[1].at == best[0].at && age > window / 4)
    {
        best[1] = best[2] = sample;
    }
    else if (best[2].at == best[1].at && age > window / 2)
    {
        best[2] = sample;
    }
}

void PassiveRtt::PopFront()
{
    first = (first + 1) % LONGEST_LIST;
    --size;
}

void PassiveRtt::ForgetOld(std::int64_t now)
{
    while (size > 0 && now - traces[first].sent > LARGEST)
    {
        PopFront();
    }
}

void PassiveRtt::Sent(std::uint32_t sequence, std::uint32_t end, std::int64_t now)
{
    ForgetOld(now);
    if (next && IsAfter(*next, sequence))
    {
        // Sent before. An ACK of what follows it may wait for it, too.
        while (size > 0 && IsAfter(traces[(first + size - 1) % LONGEST_LIST].end, sequence))
        {
            --size;
        }
        next = IsAfter(end, *next) ? end : *next;
        return;
    }
    next = end;
    if (size < LONGEST_LIST)
    {
        traces[(first + size) % LONGEST_LIST] = {end, now};
        ++size;
    }
}

void PassiveRtt::Acknowledged(std::uint32_t acknowledgement, std::int64_t now, std::optional<std::int64_t> window)
{
    ForgetOld(now);
    if (!next || IsAfter(acknowledgement, *next))
    {
        return; // of what was never sent
    }
    std::optional<std::int64_t> sent;
    while (size > 0 && !IsAfter(traces[first].end, acknowledgement))
    {
        sent = traces[first].sent; // the last one that the ACK covers: delayed ACKs belong to it
        PopFront();
    }
    if (sent)
    {
        minimum.Add(now - *sent, now, window);
    }
}

} // namespace netboxit::stages
