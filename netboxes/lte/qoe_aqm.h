// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_discipline.h"
#include "kingman.h"
#include "recent_losses.h"

namespace netboxit
{

/// Drops a packet of a call when its quality is between two bounds (Y. Dai, PhD thesis, Queen Mary University of London, 2018, sections 5.2 and 5.3, Algorithm 4). Quality is a
/// mean opinion score, of the time that packets wait by Kingman's formula and of the share that the queue dropped lately. Above the upper bound there is no
/// congestion; below the lower one dropping would not end it. It drops the packet behind the one that RLC is sending.
class QoeAqm : public BearerDiscipline
{
  public:
    struct Settings
    {
        double scoreMin;          ///< mean opinion score
        double scoreMax;          ///< mean opinion score
        double pathDelay;         ///< s, of the path besides the queue
        std::uint64_t checkEvery; ///< arrivals
        std::size_t lossWindow;   ///< arrivals
    };

    QoeAqm(queueing::Room room, Settings settings, queueing::DropCallback dropped, BearerView bearer);

    void Enqueue(const queueing::Waiting& frame, std::int64_t now, double rate) override;
    void Left(std::int64_t since, std::int64_t now) override;

    /// {score, estimates, saturated}: the latest score, and how often the delay was that of Kingman's formula and how often that of the packet at the
    /// head.
    Json Read(std::int64_t now) const override;
    void ResetStatistics() override;

  private:
    void Estimate(std::int64_t now);
    /// How long the packet at the head has waited, s.
    double Waited(std::int64_t now) const;

    Settings m_settings;
    Kingman m_kingman;
    RecentLosses m_losses;
    double m_wait{}; ///< s, as estimated last
    double m_score;
    std::uint64_t m_arrivals{};
    std::uint64_t m_estimates{};
    std::uint64_t m_saturated{};
};

} // namespace netboxit
