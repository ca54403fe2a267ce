// SPDX-License-Identifier: GPL-2.0-or-later
#include "link.h"

#include "../queueing/chance.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

constexpr std::size_t ROOM_AT_FIRST = 64;
constexpr auto NEVER = std::numeric_limits<std::int64_t>::max();

/// In ns-3's time steps, which are nanoseconds: without a conversion for each frame.
std::int64_t Now()
{
    return ns3::Simulator::Now().GetTimeStep();
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
        m_link.OnEvent();
    }

    Link& m_link;
};

Link::Link(const Json& queue, std::int64_t stream, Frames& frames, Arrival arrival, Lost lost)
    : m_frames(frames), m_arrival(std::move(arrival)), m_lost(std::move(lost)),
      m_queue(queue,
              queueing::ChanceOf(stream),
              m_lost,
              [this](const Outgoing& outgoing) { return m_frames.MarkCongestion(outgoing.frame.slot, outgoing.to.station); },
              queueing::MakerOf(),
              queueing::Asks::WhenDue),
      m_gap(Duration(INTERFRAME_GAP)), m_passages(ROOM_AT_FIRST),
      m_event(ns3::Create<Event>(*this)), m_expected(NEVER)
{
}

Link::~Link()
{
    m_event->Cancel();
}

void Link::Send(const Outgoing& outgoing)
{
    const auto now = Now();
    Advance(now);
    m_queue.Enqueue(outgoing, outgoing.EntryIn(m_queue, m_frames), now, static_cast<double>(m_rate));
    if (Begin() == now)
    {
        BeginNext();
    }
    Expect(now);
}

void Link::Advance(std::int64_t now)
{
    while (!m_queue.IsEmpty() && Begin() <= now)
    {
        BeginNext();
    }
    // A frame that comes later does not begin before.
    m_free = std::max(m_free, now);
}

std::int64_t Link::Begin() const
{
    return std::max(m_free, m_queue.Due());
}

void Link::BeginNext()
{
    const auto begin = Begin();
    const auto next = m_queue.Dequeue(begin);
    if (!next)
    {
        return;
    }
    if (m_count == m_passages.size())
    {
        std::ranges::rotate(m_passages, m_passages.begin() + static_cast<std::ptrdiff_t>(m_first));
        m_first = 0;
        m_passages.resize(2 * m_passages.size());
    }
    const auto duration = Duration(next->BytesOnWire());
    const auto sent = begin + duration;
    m_free = sent + m_gap;
    m_lastArrival = std::max(sent + m_delay, m_lastArrival);
    At(m_count++) = {*next, duration, m_lastArrival};
}

std::int64_t Link::Duration(std::uint32_t bytes) const
{
    // To the nearest nanosecond, as ns-3 does. The longest packets of IP fit.
    return static_cast<std::int64_t>((bytes * std::uint64_t{8'000'000'000} + m_rate / 2) / m_rate);
}

void Link::Expect(std::int64_t now)
{
    auto due = NEVER;
    if (m_count > 0)
    {
        due = At(0).arrival;
    }
    else if (!m_queue.IsEmpty())
    {
        // Whichever begins next, it does not arrive sooner.
        due = Begin() + Duration(PREAMBLE + SMALLEST_FRAME) + m_delay;
    }
    if (due < m_expected)
    {
        if (m_expected != NEVER)
        {
            ExpectNothing();
        }
        m_expected = due;
        ns3::Simulator::Schedule(ns3::TimeStep(static_cast<std::uint64_t>(due - now)), m_event);
    }
}

void Link::ExpectNothing()
{
    // One that is cancelled stays in the simulator's queue, and never runs again.
    m_event->Cancel();
    m_event = ns3::Create<Event>(*this);
    m_expected = NEVER;
}

void Link::OnEvent()
{
    const auto now = std::exchange(m_expected, NEVER);
    Advance(now);
    if (m_count == 0 || At(0).arrival > now)
    {
        Expect(now);
        return;
    }
    const auto [outgoing, duration, arrival] = At(0);
    ++m_sent;
    m_sending += static_cast<std::uint64_t>(duration);
    m_first = (m_first + 1) & (m_passages.size() - 1);
    --m_count;
    Expect(now);
    m_arrival(outgoing);
}

void Link::SetRate(std::uint64_t rate)
{
    const auto now = Now();
    Advance(now);
    m_rate = rate;
    m_gap = Duration(INTERFRAME_GAP);
    Expect(now);
}

void Link::SetDelay(std::int64_t delay)
{
    const auto now = Now();
    Advance(now);
    m_delay = delay;
    Expect(now);
}

void Link::SetQueue(const Json& queue)
{
    const auto now = Now();
    Advance(now);
    m_queue.Set(queue, now, static_cast<double>(m_rate));
    Expect(now); // a queue that had a rate of its own may be due sooner
}

void Link::Clear(Loss reason)
{
    const auto now = Now();
    Advance(now);
    for (std::size_t place = 0; place < m_count; ++place)
    {
        m_lost(At(place).outgoing, reason);
    }
    m_queue.Clear(reason, now);
    m_first = m_count = 0;
    m_free = m_lastArrival = now;
    ExpectNothing();
}

Json Link::Read()
{
    const auto now = Now();
    Advance(now);
    return {{"queue", m_queue.Read(now)}, {"sent", m_sent}, {"airtime", static_cast<double>(m_sending) / 1e9}};
}

void Link::Reset()
{
    const auto now = Now();
    Advance(now);
    m_sent = m_sending = 0;
    m_queue.ResetStatistics(now);
}

} // namespace netboxit
