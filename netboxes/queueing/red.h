// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fifo.h"

namespace netboxit::queueing
{

/// RED (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993), gentle above its maximum (Floyd 2000): drops what comes with a
/// probability that rises with the mean length of the queue.
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

    Red(Room room, Settings settings, Chance chance, DropCallback dropped)
        : Fifo(room, std::move(dropped)), m_settings(settings), m_chance(std::move(chance))
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
    bool DropsEarly();

    Settings m_settings;
    Chance m_chance;
    double m_mean{0};
    std::int64_t m_emptySince{0};
    std::int64_t m_sinceDrop{-1}; ///< packets; -1: below the minimum
};

} // namespace netboxit::queueing
