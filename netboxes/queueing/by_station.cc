// SPDX-License-Identifier: GPL-2.0-or-later
#include "by_station.h"

namespace netboxit::queueing
{

namespace
{

/// Weights follow the channels so often, ns: the shortest period in which a receiver reports its channel in any of our technologies, that of
/// LTE's CQI (3GPP TS 36.213, Table 7.2.2-1A).
constexpr std::int64_t WEIGHING_PERIOD = 2'000'000;

} // namespace

ByStation::ByStation(
    const Channel& channel, WeightPolicy policy, WeightedScheduler& weighted, std::unique_ptr<WeightedScheduler>&& scheduler)
    : Scheduled(Room(), channel.Stations().size() + 1, std::move(scheduler), {}), m_channel(channel), m_policy(policy),
      m_scheduler(weighted), m_weights(channel.Stations().size() + 1, 1)
{
}

void ByStation::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    WeighAnew(now);
    Scheduled::Enqueue(frame, now, rate);
}

std::optional<Waiting> ByStation::Dequeue(std::int64_t now)
{
    WeighAnew(now);
    return Scheduled::Dequeue(now);
}

Json ByStation::Read(std::int64_t) const
{
    Json stations = Json::object();
    for (StationId station = 0; station < m_channel.Stations().size(); ++station)
    {
        if (const auto success = m_channel.Success(station))
        {
            stations[m_channel.Stations()[station]] = {
                {"packets", At(station).Packets()}, {"success", *success}, {"weight", m_weights[station]}};
        }
    }
    return {{"stations", stations}};
}

void ByStation::WeighAnew(std::int64_t now)
{
    if (now < m_nextWeighing)
    {
        return;
    }
    m_nextWeighing = now + WEIGHING_PERIOD;
    std::vector<LineId> receivers;
    std::vector<double> losses;
    for (StationId station = 0; station < m_channel.Stations().size(); ++station)
    {
        if (const auto success = m_channel.Success(station))
        {
            receivers.push_back(station);
            losses.push_back(1 - *success);
        }
    }
    const auto weights = WeightsOf(m_policy, losses);
    std::uint32_t greatest = 0;
    for (std::size_t at = 0; at < receivers.size(); ++at)
    {
        Weigh(receivers[at], weights[at]);
        greatest = std::max(greatest, weights[at]);
    }
    Weigh(Everyone(), greatest + 1);
}

void ByStation::Weigh(LineId line, std::uint32_t weight)
{
    if (weight != m_weights[line])
    {
        m_scheduler.Weigh(line, weight);
        m_weights[line] = weight;
    }
}

} // namespace netboxit::queueing
