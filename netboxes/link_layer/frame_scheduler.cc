// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace netboxit::multiservice
{

namespace
{

/// Weights of queueing::Scfq are whole numbers. With a power of two, stamps of shares that are powers of two are exact.
constexpr double WEIGHT_OF_ONE = 1 << 20;

} // namespace

FrameScheduler::FrameScheduler() : m_order(queueing::Weights(MOST_SERVICES, static_cast<std::uint32_t>(WEIGHT_OF_ONE)))
{
}

void FrameScheduler::Enqueue(AirFrame frame)
{
    const auto service = frame.service;
    const auto bytes = frame.Bytes();
    const bool isOvertaking = frame.isUrgent && m_urgent[service].Count() == 0 && m_lines[service].Count() > 0;
    m_bytes += bytes;
    ++m_frames;
    (frame.isUrgent ? m_urgent : m_lines)[service].Push(std::move(frame));
    if (isOvertaking)
    {
        m_order.TakenOut(service, bytes); // of the one that was first, which begins no earlier
    }
    else if (Frames(service) == 1)
    {
        m_order.Begin(service, bytes);
    }
}

bool FrameScheduler::IsEmpty() const
{
    return m_frames == 0;
}

AirFrame FrameScheduler::Dequeue()
{
    const auto service = static_cast<ServiceId>(m_order.Next());
    auto frame = TakeFirst(service);
    m_order.Sent(service, frame.Bytes(), FirstBytes(service));
    return frame;
}

AirFrame FrameScheduler::TakeFirst(ServiceId service)
{
    auto frame = (m_urgent[service].Count() > 0 ? m_urgent : m_lines)[service].Pop();
    m_bytes -= frame.Bytes();
    --m_frames;
    return frame;
}

void FrameScheduler::SetShare(ServiceId service, double share)
{
    m_order.Weigh(service, static_cast<std::uint32_t>(std::max(1.0, std::round(share * WEIGHT_OF_ONE))));
}

void FrameScheduler::TakeAll(ServiceId service, std::vector<AirFrame>& taken)
{
    if (Frames(service) == 0)
    {
        return;
    }
    while (Frames(service) > 0)
    {
        taken.push_back(TakeFirst(service));
    }
    m_order.TakenOut(service, 0);
}

void FrameScheduler::Line::Push(AirFrame frame)
{
    if (m_count == m_frames.size())
    {
        std::ranges::rotate(m_frames, m_frames.begin() + static_cast<std::ptrdiff_t>(m_first));
        m_first = 0;
        m_frames.resize(std::max<std::size_t>(16, 2 * m_count));
    }
    m_frames[(m_first + m_count) & (m_frames.size() - 1)] = std::move(frame);
    ++m_count;
}

AirFrame FrameScheduler::Line::Pop()
{
    auto frame = std::move(m_frames[m_first]);
    m_first = (m_first + 1) & (m_frames.size() - 1);
    --m_count;
    return frame;
}

} // namespace netboxit::multiservice
