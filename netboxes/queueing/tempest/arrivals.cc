// SPDX-License-Identifier: GPL-2.0-or-later
#include "arrivals.h"

#include <algorithm>

namespace netboxit::queueing::tempest
{

Arrivals::Arrivals(const Options& options) : m_options(options), m_random(options.seed)
{
}

std::vector<LineId> Arrivals::Phase(const std::vector<std::uint32_t>& waiting, std::uint64_t total)
{
    return m_options.burst == 0 ? Smooth(waiting, total) : Bursts(total);
}

/// A packet for each of the flows that have the fewest, in turn, and so on.
std::vector<LineId> Arrivals::Smooth(std::vector<std::uint32_t> waiting, std::uint64_t total) const
{
    std::vector<LineId> flows;
    while (total < m_options.mostTotal)
    {
        const auto fewest = std::ranges::min(waiting);
        for (LineId flow = 0; flow < waiting.size() && total < m_options.mostTotal; ++flow)
        {
            if (waiting[flow] == fewest)
            {
                ++waiting[flow];
                ++total;
                flows.push_back(flow);
            }
        }
    }
    return flows;
}

/// For flows by chance, each as many as a burst by its weight, or fewer.
std::vector<LineId> Arrivals::Bursts(std::uint64_t total)
{
    std::vector<LineId> flows;
    while (total < m_options.mostTotal)
    {
        const auto flow = std::uniform_int_distribution<LineId>(0, static_cast<LineId>(m_options.weights.size() - 1))(m_random);
        const auto longest = std::uint64_t{m_options.burst} * m_options.weights[flow];
        const auto burst = std::min(std::uniform_int_distribution<std::uint64_t>(1, longest)(m_random), m_options.mostTotal - total);
        flows.insert(flows.end(), burst, flow);
        total += burst;
    }
    return flows;
}

} // namespace netboxit::queueing::tempest
