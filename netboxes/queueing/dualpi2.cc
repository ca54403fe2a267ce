// SPDX-License-Identifier: GPL-2.0-or-later
#include "dualpi2.h"

#include <algorithm>
#include <cmath>

namespace netboxit::queueing
{

namespace
{

// RFC 9332, appendix A.1.
constexpr double INTEGRAL = 0.1;
constexpr double PROPORTIONAL = 0.3;
constexpr double MOST_L4S = 1; ///< p_Lmax
/// L4S packets are not marked for their delay when no more than one waits (Th_len): that is the time of a packet, and no queue.
constexpr std::size_t LEAST_LENGTH = 1;

double Seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

} // namespace

bool DualPi2::Side::Recurs(double probability)
{
    accumulated += probability;
    const bool recurs = accumulated > 1;
    accumulated -= recurs ? 1 : 0;
    return recurs;
}

double DualPi2::Side::HeadDelay(std::int64_t now) const
{
    return line.IsEmpty() ? 0 : Seconds(now - line.Front().entered);
}

Json DualPi2::Side::Read(double probability) const
{
    return {{"packets", line.Packets()},
            {"bytes", line.Bytes()},
            {"delay_s", Seconds(delay)},
            {"dropped", dropped},
            {"marked", marked},
            {"probability", probability}};
}

DualPi2::DualPi2(Room room, Settings settings, DropCallback dropped, MarkCallback mark)
    : m_room(room), m_settings(settings), m_dropped(std::move(dropped)), m_mark(std::move(mark)),
      m_integral(INTEGRAL * settings.interval / (settings.rtt * settings.rtt)), m_proportional(PROPORTIONAL / settings.rtt)
{
}

void DualPi2::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    UpdateUntil(now);
    auto& side = frame.ecn == Ecn::Ect1 || frame.ecn == Ecn::Ce ? m_l4s : m_classic;
    if (m_room.Holds(Packets() + 1, Bytes() + frame.bytes, rate))
    {
        side.line.Push(frame);
    }
    else
    {
        Drop(side, frame, Loss::QueueFull);
    }
}

std::optional<Waiting> DualPi2::Dequeue(std::int64_t now)
{
    UpdateUntil(now);
    while (Packets() > 0)
    {
        const bool isL4s = IsTurnOfL4s(now);
        auto& side = isL4s ? m_l4s : m_classic;
        const auto frame = side.line.Pop();
        if (isL4s ? PassesL4s(frame, now) : PassesClassic(frame))
        {
            side.delay = now - frame.entered;
            return frame;
        }
    }
    return std::nullopt;
}

bool DualPi2::IsTurnOfL4s(std::int64_t now)
{
    if (m_l4s.line.IsEmpty() || m_classic.line.IsEmpty())
    {
        return m_classic.line.IsEmpty();
    }
    if (m_settings.shift > 0)
    {
        return m_l4s.HeadDelay(now) + m_settings.shift >= m_classic.HeadDelay(now);
    }
    // What either sends while the other waits is to the other's credit, as in Linux (sch_dualpi2).
    const bool isL4s = m_credit <= 0;
    m_credit += isL4s ? m_settings.protection * m_l4s.line.Front().bytes
                      : -(1 - m_settings.protection) * m_classic.line.Front().bytes;
    return isL4s;
}

bool DualPi2::PassesL4s(const Waiting& frame, std::int64_t now)
{
    const bool isLate = m_l4s.line.Packets() + 1 > LEAST_LENGTH && Seconds(now - frame.entered) >= m_settings.step;
    const double coupled = CoupledProbability();
    if (coupled < MOST_L4S)
    {
        if (m_l4s.Recurs(isLate ? 1 : coupled))
        {
            Marks(m_l4s, frame, isLate ? Mark::Step : Mark::Coupled);
        }
        return true;
    }
    // Overload: drops as the classic queue does, and marks the rest.
    if (m_l4s.Recurs(ClassicProbability()))
    {
        Drop(m_l4s, frame, Loss::QueueEarly);
        return false;
    }
    if (m_l4s.Recurs(coupled))
    {
        Marks(m_l4s, frame, Mark::Coupled);
    }
    return true;
}

bool DualPi2::PassesClassic(const Waiting& frame)
{
    const double probability = ClassicProbability();
    if (!m_classic.Recurs(probability))
    {
        return true;
    }
    const double mostMarked = std::min(1 / (m_settings.coupling * m_settings.coupling), 1.0); // p_Cmax
    if (probability < mostMarked && Marks(m_classic, frame, Mark::Early))
    {
        return true;
    }
    Drop(m_classic, frame, Loss::QueueEarly);
    return false;
}

bool DualPi2::Marks(Side& side, const Waiting& frame, Mark reason)
{
    const bool isMarked = m_mark(frame, reason);
    side.marked += isMarked;
    return isMarked;
}

void DualPi2::Drop(Side& side, const Waiting& frame, Loss reason)
{
    ++side.dropped;
    m_dropped(frame, reason);
}

void DualPi2::UpdateUntil(std::int64_t now)
{
    const auto interval = std::llround(m_settings.interval * 1e9);
    if (m_nextUpdate < 0)
    {
        m_nextUpdate = now + interval;
    }
    for (; m_nextUpdate <= now; m_nextUpdate += interval)
    {
        if (m_probability == 0 && m_earlierDelay == 0 && Packets() == 0)
        {
            // Long idle: further updates change nothing.
            m_nextUpdate += (now - m_nextUpdate) / interval * interval;
            continue;
        }
        Update(m_nextUpdate);
    }
}

/// By the longer of the two queues, as Linux does: else L4S packets alone would be no overload.
void DualPi2::Update(std::int64_t at)
{
    const double delay = std::max(m_classic.HeadDelay(at), m_l4s.HeadDelay(at));
    m_probability += m_integral * (delay - m_settings.target) + m_proportional * (delay - m_earlierDelay);
    m_probability = std::clamp(m_probability, 0.0, 1.0);
    m_earlierDelay = delay;
}

std::optional<Waiting> DualPi2::TakeOlder(std::int64_t since)
{
    for (auto* side : {&m_l4s, &m_classic})
    {
        if (!side->line.IsEmpty() && side->line.Front().entered < since)
        {
            return side->line.Pop();
        }
    }
    return std::nullopt;
}

void DualPi2::ResetStatistics()
{
    for (auto* side : {&m_l4s, &m_classic})
    {
        side->dropped = side->marked = 0;
    }
}

Json DualPi2::Read(std::int64_t) const
{
    return {{"classic", m_classic.Read(ClassicProbability())},
            {"l4s", m_l4s.Read(std::min(CoupledProbability(), MOST_L4S))}};
}

} // namespace netboxit::queueing
