// SPDX-License-Identifier: GPL-2.0-or-later
#include "fq_codel.h"

namespace netboxit::queueing
{

FqCodel::FqCodel(
    Room room, std::size_t flows, std::uint32_t quantum, CodelLaw law, DropCallback dropped, MarkCallback mark)
    : m_room(room), m_quantum(quantum), m_dropped(std::move(dropped)), m_mark(std::move(mark)), m_flows(flows, Flow{Line(m_pool), law})
{
}

void FqCodel::Gone(const Waiting& frame)
{
    --m_packets;
    m_bytes -= frame.bytes;
}

void FqCodel::Enqueue(const Waiting& frame, std::int64_t, double rate)
{
    const auto index = static_cast<std::uint32_t>(frame.flow % m_flows.size());
    auto& flow = m_flows[index];
    flow.line.Push(frame);
    ++m_packets;
    m_bytes += frame.bytes;
    if (!flow.listed)
    {
        flow.listed = true;
        flow.credit = m_quantum;
        m_new.push_back(index);
    }
    while (!m_room.Holds(m_packets, m_bytes, rate))
    {
        DropFromTheLongest();
    }
}

void FqCodel::DropFromTheLongest()
{
    auto& longest = *std::ranges::max_element(m_flows, {}, [](const Flow& flow) { return flow.line.Bytes(); });
    // Up to half of it at once, 64 frames at most, so that a flood does not look for the longest with each frame (4.1).
    const auto half = longest.line.Bytes() / 2;
    std::uint64_t dropped = 0;
    for (unsigned frames = 0; frames < 64 && !longest.line.IsEmpty() && (frames == 0 || dropped < half); ++frames)
    {
        const auto frame = longest.line.Pop();
        dropped += frame.bytes;
        Gone(frame);
        m_dropped(frame, Loss::QueueFull);
    }
}

std::optional<Waiting> FqCodel::Dequeue(std::int64_t now)
{
    while (!m_new.empty() || !m_old.empty())
    {
        const bool fromNew = !m_new.empty();
        auto& list = fromNew ? m_new : m_old;
        const auto index = list.front();
        auto& flow = m_flows[index];
        if (flow.credit <= 0)
        {
            flow.credit += m_quantum;
            list.pop_front();
            m_old.push_back(index);
            continue;
        }
        const auto frame = flow.law.Dequeue(
            flow.line,
            now,
            [&flow] { return flow.line.Bytes(); },
            [this](const Waiting& marked) { return m_mark(marked, Mark::Early); },
            [this](const Waiting& dropped)
            {
                Gone(dropped);
                m_dropped(dropped, Loss::QueueEarly);
            });
        if (frame)
        {
            flow.credit -= frame->bytes;
            Gone(*frame);
            return frame;
        }
        list.pop_front();
        // A flow that was new goes on as an old one, so that nobody gains by sending single frames (4.2).
        if (fromNew && !m_old.empty())
        {
            m_old.push_back(index);
        }
        else
        {
            flow.listed = false;
        }
    }
    return std::nullopt;
}

std::optional<Waiting> FqCodel::TakeOlder(std::int64_t since)
{
    const auto old = std::ranges::find_if(m_flows, [since](const Flow& flow) { return !flow.line.IsEmpty() && flow.line.Front().entered < since; });
    if (old == m_flows.end())
    {
        return std::nullopt;
    }
    const auto frame = old->line.Pop();
    Gone(frame);
    return frame;
}

std::uint32_t FqCodel::FirstBytes() const
{
    const Flow* first = nullptr;
    for (const auto* list : {&m_new, &m_old})
    {
        for (const auto index : *list)
        {
            const auto& flow = m_flows[index];
            if (!flow.line.IsEmpty() && (flow.credit > 0 || !first))
            {
                first = &flow;
            }
            if (first && first->credit > 0)
            {
                return first->line.Front().bytes;
            }
        }
    }
    return first ? first->line.Front().bytes : 0;
}

} // namespace netboxit::queueing
