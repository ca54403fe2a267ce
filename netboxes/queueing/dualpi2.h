// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"
#include "line.h"

#include <array>

namespace netboxit::queueing
{

/// DualPI2 (RFC 9332, appendix A): a queue of low latency for L4S packets (ECT(1) and CE) beside the classic one for all others. A PI
/// controller keeps one probability p'. Classic packets are marked or dropped with p'^2, L4S packets are marked with k p', so that flows of
/// both kinds have like rates, or when they have waited for longer than a threshold.
class DualPi2 : public Discipline
{
  public:
    struct Settings
    {
        double target;     ///< of the controller, s
        double interval;   ///< between updates of the probability, s: Tupdate
        double rtt;        ///< the longest round trip that is expected, s: RTT_max
        double coupling;   ///< k
        double step;       ///< L4S packets that have waited for longer are marked, s
        double protection; ///< share of the transmitter that is the classic queue's while both wait, above 0 and below 1
        double shift;      ///< s; above 0: instead of by shares, the packet goes that waits longest, L4S packets counted as this much older
    };

    DualPi2(Room room, Settings settings, DropCallback dropped, MarkCallback mark);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
    /// Which of the two queues it will be is known only then.
    std::uint32_t FirstBytes() const override
    {
        const auto& side = m_l4s.line.IsEmpty() ? m_classic : m_l4s;
        return side.line.IsEmpty() ? 0 : side.line.Front().bytes;
    }

    std::size_t Packets() const override
    {
        return m_l4s.line.Packets() + m_classic.line.Packets();
    }

    std::uint64_t Bytes() const override
    {
        return m_l4s.line.Bytes() + m_classic.line.Bytes();
    }

    bool LooksAtEcn() const override
    {
        return true;
    }

    /// {classic, l4s}: of each {packets, bytes, delay_s, dropped, marked, probability}.
    Json Read(std::int64_t now) const override;
    void ResetStatistics() override;

  private:
    struct Side
    {
        Line line;
        double accumulated{0}; ///< of probabilities, for signals at even distances: RFC 9332's recur()
        std::int64_t delay{0}; ///< of the latest that went, ns
        std::uint64_t dropped{0};
        std::uint64_t marked{0};

        bool Recurs(double probability);
        /// How long the next one has waited, s; 0: none waits.
        double HeadDelay(std::int64_t now) const;
        Json Read(double probability) const;
    };

    double ClassicProbability() const
    {
        return m_probability * m_probability;
    }

    double CoupledProbability() const
    {
        return m_settings.coupling * m_probability;
    }

    /// Whether it is the L4S queue's turn. Something waits.
    bool IsTurnOfL4s(std::int64_t now);
    /// Whether a packet may go that was taken out; it is marked then where it is to be, or else dropped.
    bool PassesL4s(const Waiting& frame, std::int64_t now);
    bool PassesClassic(const Waiting& frame);
    bool Marks(Side& side, const Waiting& frame, Mark reason);
    void Drop(Side& side, const Waiting& frame, Loss reason);
    void UpdateUntil(std::int64_t now);
    void Update(std::int64_t at);

    Room m_room;
    Settings m_settings;
    DropCallback m_dropped;
    MarkCallback m_mark;
    double m_integral;     ///< Hz: alpha
    double m_proportional; ///< Hz: beta
    WaitingPool m_pool;
    Side m_l4s{Line(m_pool)};
    Side m_classic{Line(m_pool)};
    double m_credit{0}; ///< bytes; above 0 it is the classic queue's turn
    std::int64_t m_nextUpdate{-1};
    double m_earlierDelay{0}; ///< at the latest update, s
    double m_probability{0};  ///< p'
};

} // namespace netboxit::queueing
