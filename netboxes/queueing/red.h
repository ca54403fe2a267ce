// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fifo.h"

namespace netboxit::queueing
{

/// RED (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993), gentle above its maximum (Floyd 2000): drops what comes with a
/// probability that rises with the mean length of the queue, or marks it. Where the probability is 1 it drops all (RFC 3168, section 7).
class Red : public Fifo
{
  public:
    struct Settings
    {
        double minimum;     ///< packets
        double maximum;     ///< packets
        double probability; ///< at the maximum
        double weight;      ///< of the present length in the mean
    };

    Red(Room room, Settings settings, Chance chance, DropCallback dropped, MarkCallback mark)
        : Fifo(room, std::move(dropped)), m_settings(settings), m_chance(std::move(chance)), m_mark(std::move(mark))
    {
    }

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;

  protected:
    /// Of which a link is thought to send so many, bytes (Floyd and Jacobson, section 11).
    static constexpr double TYPICAL_PACKET = 500;

    /// The mean length, packets.
    double Mean() const
    {
        return m_mean;
    }

    /// For who adapts them.
    Settings& Adapted()
    {
        return m_settings;
    }

  private:
    enum class Verdict
    {
        Takes,
        Signals, ///< congestion, by a mark where that can be
        Drops
    };

    Verdict Judge();

    Settings m_settings;
    Chance m_chance;
    MarkCallback m_mark;
    double m_mean{0};
    std::int64_t m_emptySince{0};
    std::int64_t m_sinceSignal{-1}; ///< packets since the last drop or mark; -1: below the minimum
};

} // namespace netboxit::queueing
