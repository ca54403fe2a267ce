// SPDX-License-Identifier: GPL-2.0-or-later
#include "neighbour_proxy.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::int64_t SECOND = 1'000'000'000;
/// An owner that was silent for so long is asked again: early enough for its answer to come before the bridge forgets
/// where it is (300 s), since hosts that use a neighbour probe it every 50 s at least (RFC 4861, section 10: 1.5
/// REACHABLE_TIME and DELAY_FIRST_PROBE_TIME).
constexpr std::int64_t AGEING = 200 * SECOND;
/// Hosts ask three times, 1 s apart (RFC 4861, section 10; Linux does so with ARP, too): of those the first and the
/// third pass.
constexpr std::int64_t FIRST_PATIENCE = 3 * SECOND / 2;
constexpr std::int64_t LONGEST_PATIENCE = 60 * SECOND;
/// Bounds what a station that invents addresses can take, of memory and of the medium, without harm to the others.
constexpr std::size_t MOST_OF_A_STATION = 1024;
constexpr std::int64_t FORGET_EVERY = SECOND;

} // namespace

NeighbourProxy::NeighbourProxy(std::size_t stations) : m_counts(stations), m_asked(stations), m_forgot(stations)
{
}

NeighbourProxy::Decision NeighbourProxy::Decide(
    Bytes frame, const Headers& headers, StationId from, std::int64_t now, const Segment& segment)
{
    const auto message = ReadNeighbourMessage(frame, headers);
    if (!message)
    {
        return {};
    }
    auto* speaker = message->claim ? Learn(*message->claim, from, now) : nullptr;
    if (message->question)
    {
        return DecideQuestion(frame, headers, *message, from, now, segment);
    }
    if (!message->announcement || speaker == nullptr)
    {
        return {};
    }
    if (speaker->announced && now - *speaker->announced <= AGEING)
    {
        return Suppress();
    }
    speaker->announced = now;
    return {};
}

NeighbourProxy::Neighbour* NeighbourProxy::Learn(const NeighbourMessage::Claim& claim,
                                                 StationId from,
                                                 std::int64_t now)
{
    for (auto& asked : m_asked)
    {
        asked.erase(claim.address);
    }
    auto known = m_neighbours.find(claim.address);
    if (known == m_neighbours.end() || known->second.station != from)
    {
        if (m_counts[from] >= MOST_OF_A_STATION)
        {
            Forget(from, now);
        }
        if (m_counts[from] >= MOST_OF_A_STATION)
        {
            return nullptr;
        }
        ++m_counts[from];
        if (known == m_neighbours.end())
        {
            known = m_neighbours.emplace(claim.address, Neighbour{.mac = claim.mac}).first;
        }
        else
        {
            --m_counts[known->second.station];
        }
        known->second.station = from;
        known->second.announced.reset();
    }
    auto& neighbour = known->second;
    if (neighbour.mac != claim.mac)
    {
        neighbour.mac = claim.mac;
        neighbour.router.reset();
        neighbour.announced.reset();
    }
    neighbour.router = claim.router ? claim.router : neighbour.router;
    neighbour.confirmed = now;
    return &neighbour;
}

NeighbourProxy::Decision NeighbourProxy::DecideQuestion(Bytes frame,
                                                        const Headers& headers,
                                                        const NeighbourMessage& message,
                                                        StationId from,
                                                        std::int64_t now,
                                                        const Segment& segment)
{
    const auto found = m_neighbours.find(*message.question);
    const auto* known = found == m_neighbours.end() ? nullptr : &found->second;
    // Who probes for the address that it had before must not be told that somebody has it.
    const bool itself = known != nullptr && message.probe && known->mac == headers.source;
    if (known != nullptr && !itself && known->router && now - known->confirmed <= AGEING)
    {
        if (known->station == from)
        {
            return Suppress(); // the wire that the question came by has carried it there
        }
        if (segment.Connects(from, known->station))
        {
            ++m_answered;
            m_asked[from].erase(*message.question);
            auto answer = AnswerOf(frame, headers, message, known->mac, *known->router);
            return {Decision::Verdict::Answer, std::move(answer), std::nullopt};
        }
    }
    const bool toGroup = (headers.destination[0] & 1) != 0;
    return toGroup ? Ask(*message.question, itself ? nullptr : known, from, now) : Decision{};
}

NeighbourProxy::Decision NeighbourProxy::Ask(
    const NetworkAddress& address, const Neighbour* known, StationId from, std::int64_t now)
{
    auto& asked = m_asked[from];
    if (const auto earlier = asked.find(address); earlier != asked.end() && now - earlier->second.at <= AGEING)
    {
        auto& [at, patience] = earlier->second;
        if (now - at < patience)
        {
            return Suppress();
        }
        at = now;
        patience = std::min(2 * patience, LONGEST_PATIENCE);
        return {};
    }
    if (asked.size() >= MOST_OF_A_STATION)
    {
        Forget(from, now);
    }
    if (asked.size() >= MOST_OF_A_STATION && !asked.contains(address))
    {
        return Suppress();
    }
    asked.insert_or_assign(address, Asked{now, FIRST_PATIENCE});
    const bool elsewhere = known != nullptr && known->station != from;
    return {Decision::Verdict::Pass, {}, elsewhere ? std::optional(known->station) : std::nullopt};
}

NeighbourProxy::Decision NeighbourProxy::Suppress()
{
    ++m_suppressed;
    return {Decision::Verdict::Suppress, {}, std::nullopt};
}

void NeighbourProxy::Forget(StationId station, std::int64_t now)
{
    if (now - m_forgot[station] < FORGET_EVERY)
    {
        return;
    }
    m_forgot[station] = now;
    m_counts[station] -= std::erase_if(
        m_neighbours,
        [&](const auto& item) { return item.second.station == station && now - item.second.confirmed > AGEING; });
    std::erase_if(m_asked[station], [&](const auto& item) { return now - item.second.at > AGEING; });
}

Json NeighbourProxy::Read() const
{
    return {{"known", m_neighbours.size()}, {"answered", m_answered}, {"suppressed", m_suppressed}};
}

} // namespace netboxit
