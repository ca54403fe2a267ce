// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"

#include <algorithm>
#include <cmath>

namespace netboxit::queueing
{

/// COBALT, "CoDel-BLUE alternate": CAKE's law for one flow (Høiland-Jørgensen, Täht and Morton 2018; J. Morton, "Proposing COBALT", Cake
/// mailing list, 2016).
///
/// Its CoDel part signals more and more often while packets wait for longer than a target. Unlike RFC 8289's, it becomes as slowly gentle
/// again as it became strict. Its BLUE part is for flows that do not respond: it drops with a probability, which rises when the flow
/// overflows and falls when it is found empty, once in a target's time each. BLUE does not ask whether a packet is capable of ECN.
class CobaltLaw
{
  public:
    // Linux's (sch_cake) and ns-3's (CobaltQueueDisc).
    static constexpr double BLUE_RISE = 1.0 / 256;
    static constexpr double BLUE_FALL = 1.0 / 4096;

    /// Why a packet is dropped.
    enum class Verdict : std::uint8_t
    {
        Goes,
        DroppedByCodel,
        DroppedByBlue,
    };

    /// ns.
    CobaltLaw(std::int64_t target, std::int64_t interval) : m_target(target), m_interval(interval)
    {
    }

    /// What becomes of a packet whose turn it is. It never waits for too long while it has waited for less than `least`, ns. `mark` marks
    /// it, or says false.
    template <typename MarkFrame>
    Verdict Judge(const Waiting& frame, std::int64_t now, std::int64_t least, MarkFrame mark, const Chance& chance)
    {
        const bool isDue = IsDue(now);
        const bool isLate = now - frame.entered > std::max(m_target, least);
        if (isLate && !m_signals)
        {
            m_next = After(now);
            m_count = std::max(m_count, 1U);
        }
        m_signals = isLate;
        auto verdict = Verdict::Goes;
        if (isLate && isDue)
        {
            verdict = mark(frame) ? Verdict::Goes : Verdict::DroppedByCodel;
            ++m_count;
            m_next = After(m_next);
        }
        while (!isLate && IsDue(now))
        {
            --m_count;
            m_next = After(m_next);
        }
        if (m_blue > 0 && chance() < m_blue)
        {
            verdict = Verdict::DroppedByBlue;
        }
        if (m_count == 0)
        {
            m_next = now + m_interval; // until when the flow is remembered
        }
        else if (verdict == Verdict::Goes)
        {
            m_next = std::max(m_next, now);
        }
        return verdict;
    }

    /// The flow lost a packet for which there was no room.
    void Overflows(std::int64_t now)
    {
        if (MayMoveBlue(now))
        {
            m_blue = std::min(m_blue + BLUE_RISE, 1.0);
            m_blueMoved = now;
        }
        m_signals = true;
        m_next = now;
        m_count = std::max(m_count, 1U);
    }

    /// The flow had its turn, and no packet.
    void IsEmpty(std::int64_t now)
    {
        if (m_blue > 0 && MayMoveBlue(now))
        {
            m_blue = std::max(m_blue - BLUE_FALL, 0.0);
            m_blueMoved = now;
        }
        m_signals = false;
        if (IsDue(now))
        {
            --m_count;
            m_next = After(m_next);
        }
    }

    /// Whether it still knows something of the flow.
    bool Remembers(std::int64_t now) const
    {
        return m_blue > 0 || m_count > 0 || now < m_next;
    }

    /// Of a drop by BLUE.
    double Probability() const
    {
        return m_blue;
    }

  private:
    bool IsDue(std::int64_t now) const
    {
        return m_count > 0 && now >= m_next;
    }

    bool MayMoveBlue(std::int64_t now) const
    {
        return now - m_blueMoved > m_target;
    }

    std::int64_t After(std::int64_t time) const
    {
        return time + std::llround(static_cast<double>(m_interval) / std::sqrt(std::max(m_count, 1U)));
    }

    std::int64_t m_target;
    std::int64_t m_interval;
    std::int64_t m_next{0}; ///< when the next signal is due; with a count of 0, until when the flow is remembered
    std::int64_t m_blueMoved{0};
    double m_blue{0};
    std::uint32_t m_count{0}; ///< of signals, by which they become more frequent
    bool m_signals{false};
};

} // namespace netboxit::queueing
