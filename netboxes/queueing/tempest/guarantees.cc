// SPDX-License-Identifier: GPL-2.0-or-later
#include "guarantees.h"

#include <algorithm>
#include <numeric>

namespace netboxit::queueing::tempest
{

Guarantees::Guarantees(const Weights& weights)
    : m_weights(weights), m_flows(weights.size()), m_told(weights.size()),
      m_pairs(weights.size() <= PAIRED ? weights.size() * weights.size() : 0)
{
    const auto sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (LineId flow = 0; flow < weights.size(); ++flow)
    {
        m_flows[flow].share = weights[flow] / sum;
    }
}

void Guarantees::Enqueued(LineId flow)
{
    auto& state = m_flows[flow];
    state.waiting.push_back({m_now, state.waiting.size() + 1});
    if (state.waiting.size() > 1)
    {
        return;
    }
    state.ahead = Lag(flow);
    for (LineId other = 0; !m_pairs.empty() && other < m_flows.size(); ++other)
    {
        const double difference = Served(flow) - Served(other);
        m_pairs[flow * m_flows.size() + other] = {difference, difference};
        m_pairs[other * m_flows.size() + flow] = {-difference, -difference};
    }
}

void Guarantees::Departed(LineId flow)
{
    auto& state = m_flows[flow];
    auto& told = m_told[flow];
    const auto arrival = state.waiting.front();
    state.waiting.pop_front();
    ++m_now;
    ++told.sent;
    const auto delay = m_now - arrival.at;
    told.longest = std::max(told.longest, delay);
    told.sumOfDelays += static_cast<double>(delay);
    told.late = std::max(told.late, static_cast<double>(delay) - static_cast<double>(arrival.before) / state.share);
    const double lag = Lag(flow);
    told.behind = std::max(told.behind, lag - state.ahead);
    state.ahead = std::min(state.ahead, lag);
    if (!m_pairs.empty())
    {
        Compare(flow);
    }
}

void Guarantees::Compare(LineId flow)
{
    for (LineId other = 0; other < m_flows.size(); ++other)
    {
        if (other == flow || m_flows[other].waiting.empty())
        {
            continue;
        }
        const double difference = Served(flow) - Served(other);
        for (const auto& [one, two, value] : {std::tuple{flow, other, difference}, std::tuple{other, flow, -difference}})
        {
            auto& [least, most] = m_pairs[one * m_flows.size() + two];
            m_unfairness = std::max({m_unfairness, value - least, most - value});
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
}

} // namespace netboxit::queueing::tempest
