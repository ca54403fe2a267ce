// SPDX-License-Identifier: GPL-2.0-or-later
#include "direction.h"

#include "times.h"

#include "../errors/chance.h"
#include "../queueing/chance.h"

#include <limits>

namespace netboxit::link
{

namespace
{

constexpr auto NEVER = std::numeric_limits<std::int64_t>::max();

ns3::Ptr<ns3::UniformRandomVariable> Stream(std::int64_t number)
{
    auto random = ns3::CreateObject<ns3::UniformRandomVariable>();
    random->SetStream(number);
    return random;
}

} // namespace

/// Goes on at the time that is expected next. Used again for each: ns-3 would allocate one.
class Direction::Wake : public ns3::EventImpl
{
  public:
    explicit Wake(Direction& direction) : m_direction(direction)
    {
    }

  private:
    void Notify() override
    {
        m_direction.OnWake();
    }

    Direction& m_direction;
};

Direction::Direction(const SegmentSetup& setup, StationId from)
    : m_fates(setup.fates), m_frames(setup.frames), m_to(1 - from), m_chance(Stream(STREAMS * from)),
      m_queueChance(queueing::ChanceOf(STREAMS * from + 1)), m_jitter(STREAMS * from + 2),
      m_lossChance(queueing::ChanceOf(STREAMS * from + 5)),
      m_errors(m_lossChance, queueing::ChanceOf(STREAMS * from + 7)),
      m_bitErrors(queueing::ChanceOf(STREAMS * from + 6)), m_wake(ns3::Create<Wake>(*this)), m_expected(NEVER)
{
}

Direction::~Direction()
{
    m_wake->Cancel();
}

void Direction::SetDown(bool down)
{
    const auto now = Now();
    Advance(now);
    m_down = down;
    m_waitingSince = now;
    Expect(now);
}

void Direction::Send(const Frame& frame)
{
    const auto now = Now();
    Advance(now);
    if (m_queue->Packets() == 0)
    {
        m_waitingSince = std::max(m_waitingSince, now);
    }
    const Outgoing outgoing{frame.slot, frame.length + m_overhead, frame.length};
    m_queue->Enqueue(outgoing,
                     {outgoing.bytes, frame.trafficClass, m_frames.Read(frame.slot)},
                     now,
                     m_capacity->Rate(now));
    Advance(now);
    Expect(now);
}

void Direction::Advance(std::int64_t now)
{
    while (m_queue && m_queue->Packets() > 0 && NextBegins() <= now && !(m_down && m_waitsWhileDown))
    {
        SendNext();
    }
    while (!m_way.empty() && m_way.front().arrival <= now)
    {
        std::ranges::pop_heap(m_way, std::less{});
        const auto slot = m_way.back().slot;
        m_way.pop_back();
        ++m_counters.delivered;
        m_fates.Deliver(slot, m_to);
    }
}

std::int64_t Direction::NextBegins() const
{
    return std::max({m_free, m_waitingSince, m_queue->Due()});
}

void Direction::SendNext()
{
    const auto start = NextBegins();
    const auto frame = m_queue->Dequeue(start);
    if (!frame)
    {
        return;
    }
    const auto finish = m_capacity->Finish(start, frame->bytes);
    if (finish - start > GIVE_UP)
    {
        m_free = start + GIVE_UP;
        Lose(frame->slot, Loss::Outage);
        return;
    }
    m_free = finish;
    m_counters.sending += finish - start;
    ++m_counters.sent;
    m_counters.sentBytes += frame->bytes;
    if (m_down)
    {
        Lose(frame->slot, Loss::Outage);
        return;
    }
    if (m_duplication > 0 && m_chance->GetValue() < m_duplication)
    {
        if (const auto other = m_frames.Duplicate(frame->slot, m_to))
        {
            ++m_counters.repeated;
            Pass(frame->slot, frame->length, {start, finish, frame->bytes});
            Pass(*other, frame->length, {finish, finish, frame->bytes});
            return;
        }
    }
    Pass(frame->slot, frame->length, {start, finish, frame->bytes});
}

void Direction::Pass(SlotId slot, std::uint32_t length, const errors::Transmission& transmission)
{
    const auto sent = transmission.end;
    if (m_lossOverTime ? errors::Happens(m_lossOverTime->At(sent), m_lossChance) : m_errors.IsLost(transmission))
    {
        Lose(slot, Loss::OnAir);
        return;
    }
    if (!m_bitErrors.IsNone())
    {
        const auto bytes = m_dropsDamaged ? std::span<std::uint8_t>{} : m_frames.Rewrite(slot);
        const bool hit = m_bitErrors.Hit(std::uint64_t{8} * length, bytes.empty() ? bytes : bytes.subspan(ETHERNET_HEADER));
        m_counters.damaged += hit;
        if (hit && m_dropsDamaged)
        {
            Lose(slot, Loss::OnAir);
            return;
        }
    }
    const auto delay = m_delayOverTime ? Nanoseconds(m_delayOverTime->At(sent)) : m_delay;
    auto arrival = sent + delay;
    if (!m_jitter.IsNone())
    {
        // Bounded by what the netbox keeps a frame for.
        arrival = std::clamp(arrival + Nanoseconds(m_jitter.Draw()), sent, sent + 20'000'000'000);
    }
    if (!m_jitter.MayReorder())
    {
        arrival = std::max(arrival, m_lastArrival);
    }
    m_lastArrival = std::max(arrival, m_lastArrival);
    if (m_reorderProbability > 0 && ++m_candidates % m_reorderGap == 0 && m_chance->GetValue() < m_reorderProbability)
    {
        arrival += m_reorderBy;
        ++m_counters.heldBack;
    }
    m_way.push_back({slot, arrival, m_number++});
    std::ranges::push_heap(m_way, std::less{});
}

void Direction::Lose(SlotId slot, Loss reason)
{
    ++m_counters.lost[reason];
    m_fates.Lose(slot, m_to, reason);
}

void Direction::Expect(std::int64_t now)
{
    auto due = m_way.empty() ? NEVER : m_way.front().arrival;
    if (m_queue && m_queue->Packets() > 0 && !(m_down && m_waitsWhileDown))
    {
        // What is sent then does not arrive sooner than after the delay, where that stays as it is.
        const auto ahead = m_jitter.IsNone() && !m_delayOverTime ? m_delay : 0;
        due = std::min(due, std::max(NextBegins() + ahead, now));
    }
    if (due < m_expected)
    {
        m_expected = due;
        ns3::Simulator::Schedule(ns3::NanoSeconds(due - now), m_wake);
    }
}

void Direction::OnWake()
{
    const auto now = Now();
    if (now < m_expected)
    {
        return; // an earlier one has come since this one was scheduled, and has expected the next
    }
    m_expected = NEVER;
    Advance(now);
    Expect(now);
}

double Direction::Rate() const
{
    return m_down ? 0 : m_capacity->Rate(Now());
}

std::int64_t Direction::Delay() const
{
    return m_delayOverTime ? Nanoseconds(m_delayOverTime->At(Now())) : m_delay;
}

Json Direction::Read()
{
    const auto now = Now();
    Advance(now);
    Expect(now);
    static constexpr std::array LOSSES_HERE{Loss::OnAir, Loss::QueueFull, Loss::QueueEarly, Loss::QueueExpired, Loss::Outage};
    return {{"up", !m_down},
            {"rate", m_capacity->Rate(now)},
            {"delay_s", static_cast<double>(Delay()) / 1e9},
            {"queue", m_queue->Read(now)},
            {"sent", m_counters.sent},
            {"sent_bytes", m_counters.sentBytes},
            {"sending_s", static_cast<double>(m_counters.sending) / 1e9},
            {"delivered", m_counters.delivered},
            {"repeated", m_counters.repeated},
            {"held_back", m_counters.heldBack},
            {"damaged", m_counters.damaged},
            {"lost", m_counters.lost.Read(LOSSES_HERE)}};
}

void Direction::Reset()
{
    const auto now = Now();
    Advance(now);
    Expect(now);
    m_queue->ResetStatistics(now);
    m_counters = {};
}

} // namespace netboxit::link
