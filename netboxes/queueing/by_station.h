// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "channel.h"
#include "scheduled.h"
#include "station_weights.h"
#include "weighted_scheduler.h"

namespace netboxit::queueing
{

/// A line for each receiver, and one for frames to everyone, which share the transmitter by weights that follow from the receivers'
/// channels: the MAC scheduling and abstraction layer (MAC-SAL) of Grazia, "Communication Networks for Public Protection and Disaster Relief
/// Systems", 4.1.2. It drops nothing and has no limit. Frames to everyone weigh one more than those to the receiver of the greatest weight, so
/// that QFQ+ has them in an aggregate of their own.
class ByStation : public Scheduled
{
  public:
    /// `channel` outlives it. The scheduler is for as many lines as there are stations, and one more.
    ByStation(const Channel& channel, WeightPolicy policy, std::unique_ptr<WeightedScheduler> scheduler)
        : ByStation(channel, policy, *scheduler, std::move(scheduler))
    {
    }

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;

    bool TellsFlowsApart() const override
    {
        return false;
    }

    /// {stations: {NAME: {packets, success, weight}}}, of receivers.
    Json Read(std::int64_t now) const override;

  protected:
    LineId LineOf(const Waiting& frame) const override
    {
        return frame.to ? *frame.to : Everyone();
    }

  private:
    ByStation(const Channel& channel, WeightPolicy policy, WeightedScheduler& weighted, std::unique_ptr<WeightedScheduler>&& scheduler);

    LineId Everyone() const
    {
        return static_cast<LineId>(m_channel.Stations().size());
    }

    void WeighAnew(std::int64_t now);
    void Weigh(LineId line, std::uint32_t weight);

    const Channel& m_channel;
    WeightPolicy m_policy;
    WeightedScheduler& m_scheduler;
    Weights m_weights; ///< by line
    std::int64_t m_nextWeighing{std::numeric_limits<std::int64_t>::min()}; ///< ns
};

} // namespace netboxit::queueing
