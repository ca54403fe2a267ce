// SPDX-License-Identifier: GPL-2.0-or-later
#include "return_terminal.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>

namespace netboxit
{

ReturnChannel::Terminal::Terminal(ReturnChannel& channel,
                                  std::size_t number_,
                                  std::unique_ptr<BurstFiller> filler,
                                  const NetworkControl::Terminal& classes)
    : number(number_), m_channel(channel), m_filler(std::move(filler))
{
    for (const auto& requestClass : classes)
    {
        requesters.emplace_back(requestClass);
    }
}

void ReturnChannel::Terminal::Enqueue(const Packet& packet)
{
    if (!m_filler->Push(packet, m_channel.Rate()))
    {
        return;
    }
    for (auto& requester : requesters)
    {
        if (std::ranges::find(requester.parameters.classes, packet.frame.trafficClass) != requester.parameters.classes.end())
        {
            requester.Arrived(packet, m_filler->GetEncapsulation(), ns3::Simulator::Now());
        }
    }
    m_channel.Wake(*this);
}

void ReturnChannel::Terminal::SetQueue(const Json& said)
{
    m_filler->SetQueue(said, m_channel.Rate());
}

void ReturnChannel::Terminal::Assign(const Assignment& assignment,
                                     std::uint32_t first,
                                     double payload,
                                     ns3::Time duration)
{
    m_slots = assignment.Slots();
    m_first = first;
    m_payload = payload;
    m_timesKnown = false;
    m_times.clear();
    m_nextTime = 0;
    m_rate = 8.0 * m_slots * payload / duration.GetSeconds();
    for (std::size_t i = 0; i < requesters.size(); ++i)
    {
        requesters[i].Assigned(assignment.volume[i]);
    }
    CountUnused(assignment, 1, payload);
}

void ReturnChannel::Terminal::CountUnused(const Assignment& assignment, std::int64_t superframes, double payload)
{
    for (std::size_t i = 0; i < m_assigned.size(); ++i)
    {
        m_assigned[i] += assignment.slots[i] * static_cast<std::uint64_t>(superframes);
    }
    m_capacity += assignment.Slots() * payload * static_cast<double>(superframes);
}

std::optional<std::uint32_t> ReturnChannel::Terminal::NextSlot(std::uint32_t notBefore, const std::vector<std::uint32_t>& spread)
{
    if (!m_timesKnown)
    {
        // Consecutive positions, on one carrier and then on the next: never two at a time, since they are no more than a carrier has.
        m_timesKnown = true;
        for (std::uint32_t i = 0; i < m_slots; ++i)
        {
            m_times.push_back(spread[(m_first + i) % spread.size()]);
        }
        std::ranges::sort(m_times);
    }
    while (m_nextTime < m_times.size() && m_times[m_nextTime] < notBefore)
    {
        ++m_nextTime;
    }
    return m_nextTime < m_times.size() ? std::optional(m_times[m_nextTime]) : std::nullopt;
}

void ReturnChannel::Terminal::Send(ns3::Time end)
{
    ++m_nextTime;
    if (m_filler->FindNext())
    {
        ++m_used;
        m_carried += m_filler->Fill(end);
    }
}

double ReturnChannel::Terminal::Utilisation() const
{
    return m_capacity > 0.0 ? static_cast<double>(m_carried) / m_capacity : 0.0;
}

void ReturnChannel::Terminal::Read(Json& statistics) const
{
    Json byMethod = Json::object();
    for (std::size_t i = 0; i < m_assigned.size(); ++i)
    {
        byMethod[METHOD_NAMES[i]] = m_assigned[i];
    }
    statistics["rate"] = m_rate;
    statistics["slots_assigned"] = std::accumulate(m_assigned.begin(), m_assigned.end(), std::uint64_t{0});
    statistics["slots_by_method"] = byMethod;
    statistics["slots_used"] = m_used;
    statistics["bytes_carried"] = m_carried;
    statistics["requests"] = requests;
    statistics["requests_lost"] = requestsLost;
}

void ReturnChannel::Terminal::Reset()
{
    m_assigned.fill(0);
    m_capacity = 0.0;
    m_used = 0;
    m_carried = 0;
    requests = 0;
    requestsLost = 0;
    m_filler->ResetStatistics();
}

} // namespace netboxit
