// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_discipline.h"

namespace netboxit
{

/// Drops what comes with a probability that rises with the time in the queue of the packet that left last, and that is larger the worse the
/// UE's channel is (Y. Dai, PhD thesis, Queen Mary University of London, 2018, section 4.3 and Algorithm 3).
class CqiAqm : public BearerDiscipline
{
  public:
    struct Settings
    {
        double delayMin; ///< s; up to it nothing is dropped
        double delayMax; ///< s; from it on all is dropped
        /// An empty queue drops nothing. Without it, as printed, a queue whose last packet left after `delayMax` takes none ever again.
        bool emptyReset;
    };

    CqiAqm(queueing::Room room, Settings settings, queueing::Chance chance, queueing::DropCallback dropped, BearerView bearer)
        : BearerDiscipline(room, std::move(dropped), std::move(bearer)), m_settings(settings), m_chance(std::move(chance))
    {
    }

    /// Eq. 4.1 to 4.3: of a time in the queue (s) and a channel quality indicator.
    static double ProbabilityOf(double delay, int quality, const Settings& settings);

    void Enqueue(const queueing::Waiting& frame, std::int64_t now, double rate) override;
    void Left(std::int64_t since, std::int64_t now) override;

    /// {probability}
    Json Read(std::int64_t now) const override;

  private:
    Settings m_settings;
    queueing::Chance m_chance;
    double m_probability{};
};

} // namespace netboxit
