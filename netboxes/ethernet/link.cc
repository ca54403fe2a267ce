// SPDX-License-Identifier: GPL-2.0-or-later
#include "link.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// IEEE 802.3-2018, 4A.4.2: 96 bit times.
constexpr std::uint32_t INTERFRAME_GAP = 12;
constexpr std::size_t ROOM_AT_FIRST = 64;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

/// Takes the first frame to its end. Used again for each: ns-3 would allocate one.
class Link::Event : public ns3::EventImpl
{
  public:
    explicit Event(Link& link) : m_link(link)
    {
    }

  private:
    void Notify() override
    {
        m_link.ArriveFirst();
    }

    Link& m_link;
};

Link::Link(std::size_t queue, Arrival arrival)
    : m_queue(queue), m_arrival(std::move(arrival)), m_passages(ROOM_AT_FIRST), m_event(ns3::Create<Event>(*this))
{
}

Link::~Link()
{
    m_event->Cancel();
}

bool Link::Send(SlotId slot, std::uint32_t bytes)
{
    const auto now = Now();
    CountBegun(now);
    if (m_count - m_begun >= m_queue)
    {
        return false;
    }
    if (m_count == m_passages.size())
    {
        std::ranges::rotate(m_passages, m_passages.begin() + static_cast<std::ptrdiff_t>(m_first));
        m_first = 0;
        m_passages.resize(2 * m_passages.size());
    }
    auto& passage = At(m_count++);
    passage.slot = slot;
    passage.bytes = bytes;
    Place(passage, now);
    if (m_count == 1)
    {
        ExpectFirst(now);
    }
    return true;
}

void Link::Place(Passage& passage, std::int64_t earliest)
{
    passage.start = std::max(earliest, m_free);
    passage.duration = Duration(passage.bytes);
    const auto sent = passage.start + passage.duration;
    m_free = sent + Duration(INTERFRAME_GAP);
    m_lastArrival = passage.arrival = std::max(sent + m_delay, m_lastArrival);
}

std::int64_t Link::Duration(std::uint32_t bytes) const
{
    // To the nearest nanosecond, as ns-3 does. The longest packets of IP fit.
    return static_cast<std::int64_t>((bytes * std::uint64_t{8'000'000'000} + m_rate / 2) / m_rate);
}

void Link::CountBegun(std::int64_t now)
{
    while (m_begun < m_count && At(m_begun).start <= now)
    {
        ++m_begun;
    }
}

void Link::ExpectFirst(std::int64_t now)
{
    m_expected = ns3::Simulator::Schedule(ns3::NanoSeconds(At(0).arrival - now), m_event);
}

void Link::ArriveFirst()
{
    const auto [slot, bytes, start, duration, now] = At(0);
    ++m_sent;
    m_sending += static_cast<std::uint64_t>(duration);
    m_first = (m_first + 1) & (m_passages.size() - 1);
    --m_count;
    m_begun -= m_begun > 0 ? 1 : 0;
    if (m_count > 0)
    {
        ExpectFirst(now);
    }
    m_arrival(slot, bytes);
}

void Link::SetRate(std::uint64_t rate)
{
    m_rate = rate;
    Replace();
}

void Link::SetDelay(std::int64_t delay)
{
    m_delay = delay;
    Replace();
}

void Link::Replace()
{
    const auto now = Now();
    CountBegun(now);
    if (m_begun == m_count)
    {
        return;
    }
    // The gap that runs keeps its length.
    m_free = At(m_begun).start;
    m_lastArrival = m_begun > 0 ? At(m_begun - 1).arrival : 0;
    for (auto place = m_begun; place < m_count; ++place)
    {
        Place(At(place), m_free);
    }
    if (m_begun == 0)
    {
        ExpectNothing();
        ExpectFirst(now);
    }
}

void Link::ExpectNothing()
{
    ns3::Simulator::Remove(m_expected);
    // One that was removed never runs again.
    m_event = ns3::Create<Event>(*this);
}

void Link::Clear(const std::function<void(SlotId)>& lost)
{
    if (m_count > 0)
    {
        ExpectNothing();
    }
    for (std::size_t place = 0; place < m_count; ++place)
    {
        lost(At(place).slot);
    }
    m_first = m_count = m_begun = 0;
    m_free = m_lastArrival = Now();
}

std::size_t Link::Queued() const
{
    const auto now = Now();
    std::size_t queued = m_count - m_begun;
    for (auto place = m_begun; place < m_count && const_cast<Link*>(this)->At(place).start <= now; ++place)
    {
        --queued;
    }
    return queued;
}

Json Link::Read() const
{
    return {{"queued", Queued()}, {"sent", m_sent}, {"airtime", static_cast<double>(m_sending) / 1e9}};
}

void Link::Reset()
{
    m_sent = m_sending = 0;
}

} // namespace netboxit
