// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include "../queueing/chance.h"

#include <algorithm>

namespace netboxit
{

Terminal::Terminal(const Json& queue, std::int64_t firstStream, Lost lost, MarkPacket mark)
    : m_firstStream(firstStream), m_lost(std::move(lost)), m_mark(std::move(mark))
{
    SetQueue(queue, 0, 0);
}

void Terminal::SetQueue(const Json& queue, std::int64_t now, double rate)
{
    queueing::CheckQueue(queue); // also while there is no party
    m_queueParameter = queue;
    const auto time = queue.value("time", Json());
    m_lifetime = time.is_null() ? LONGEST_WAIT : std::min<std::int64_t>(LONGEST_WAIT, std::llround(time.get<double>() * 1e9));
    for (auto& [to, party] : m_parties)
    {
        party.queue.Set(queue, now, rate);
    }
}

Terminal::Party& Terminal::PartyTo(std::optional<StationId> to)
{
    const auto found = m_parties.find(to);
    if (found != m_parties.end())
    {
        return found->second;
    }
    const auto stream = m_firstStream + (to ? std::int64_t{*to} + 1 : 0);
    const auto lost = [this](const Packet& packet, Loss reason)
    {
        m_parties.at(packet.to).waiting.erase(packet);
        m_lost(packet, reason);
    };
    auto& party = m_parties.try_emplace(to, m_queueParameter, m_chances.Of(stream), lost, m_mark).first->second;
    party.queue.ResetStatistics(m_reset);
    return party;
}

bool Terminal::Enqueue(Packet packet, Bytes frame, double rate)
{
    auto& party = PartyTo(packet.to);
    packet.place = ++m_lastPlace;
    party.waiting.insert(packet);
    party.queue.Enqueue(packet, {packet.length, packet.trafficClass, frame}, packet.queued, rate);
    return party.waiting.contains(packet);
}

void Terminal::PutBack(Packet packet)
{
    packet.place = --m_firstPlace;
    PartyTo(packet.to).interrupted.insert(packet);
}

std::optional<Packet> Terminal::TakeTo(std::optional<StationId> to, std::int64_t now)
{
    auto& [queue, waiting, interrupted] = PartyTo(to);
    // Only with priority the queue's next packet is its most urgent one.
    const bool overtakes = m_queueParameter.at("discipline") == "priority" && !waiting.empty() && !interrupted.empty() &&
                           MoreUrgent{}(*waiting.begin(), *interrupted.begin());
    if (interrupted.empty() || overtakes)
    {
        if (const auto packet = queue.Dequeue(now))
        {
            waiting.erase(*packet);
            return packet;
        }
    }
    return interrupted.empty() ? std::nullopt : std::optional(interrupted.extract(interrupted.begin()).value());
}

const Packet* Terminal::Party::MostUrgent() const
{
    const Packet* first = nullptr;
    for (const auto* packets : {&interrupted, &waiting})
    {
        if (!packets->empty() && (!first || MoreUrgent{}(*packets->begin(), *first)))
        {
            first = &*packets->begin();
        }
    }
    return first;
}

const Packet* Terminal::MostUrgent() const
{
    const Packet* first = nullptr;
    for (const auto& [to, party] : m_parties)
    {
        const auto* packet = party.MostUrgent();
        if (packet && (!first || MoreUrgent{}(*packet, *first)))
        {
            first = packet;
        }
    }
    return first;
}

const Packet* Terminal::MostUrgentTo(std::optional<StationId> to) const
{
    const auto found = m_parties.find(to);
    return found == m_parties.end() ? nullptr : found->second.MostUrgent();
}

std::set<std::optional<StationId>> Terminal::Parties() const
{
    std::set<std::optional<StationId>> parties;
    for (const auto& [to, party] : m_parties)
    {
        if (party.MostUrgent())
        {
            parties.insert(to);
        }
    }
    return parties;
}

std::vector<Packet> Terminal::Waiting() const
{
    std::vector<Packet> packets;
    for (const auto& [to, party] : m_parties)
    {
        packets.insert(packets.end(), party.interrupted.begin(), party.interrupted.end());
        packets.insert(packets.end(), party.waiting.begin(), party.waiting.end());
    }
    return packets;
}

void Terminal::Expire(std::int64_t now)
{
    // A packet that waits for exactly its lifetime is lost: its room is free for one that comes at the same moment.
    const auto longest = m_lifetime - 1;
    for (auto& [to, party] : m_parties)
    {
        LoseInterrupted(party, now - longest, Loss::QueueExpired);
        party.queue.Expire(now, longest);
    }
}

void Terminal::LoseTo(std::optional<StationId> to, Loss reason, std::int64_t now)
{
    Lose(PartyTo(to), reason, now);
}

void Terminal::LoseAll(Loss reason, std::int64_t now)
{
    for (auto& [to, party] : m_parties)
    {
        Lose(party, reason, now);
    }
}

void Terminal::Lose(Party& party, Loss reason, std::int64_t now)
{
    LoseInterrupted(party, std::numeric_limits<std::int64_t>::max(), reason);
    party.queue.Clear(reason, now);
}

void Terminal::LoseInterrupted(Party& party, std::int64_t since, Loss reason)
{
    std::erase_if(party.interrupted,
                  [&](const Packet& packet)
                  {
                      const bool lost = packet.queued < since;
                      if (lost)
                      {
                          m_lost(packet, reason);
                      }
                      return lost;
                  });
}

Json Terminal::Read(const std::vector<std::string>& names, std::int64_t now) const
{
    Json queues = Json::object();
    for (const auto& [to, party] : m_parties)
    {
        queues[to ? names[*to] : "everyone"] = party.queue.Read(now);
    }
    return {{"queue", queues},
            {"transmissions", counters.packetsSent},
            {"slots_used", counters.blocksSent},
            {"retransmissions", counters.blocksRepeated},
            {"blocks_lost", counters.blocksLost},
            {"accesses", counters.accesses},
            {"access_collisions", counters.accessCollisions},
            {"calls", counters.calls},
            {"calls_preempted", counters.callsPreempted},
            {"setup_time", counters.setupTime},
            {"lost", counters.lost.ReadOccurred()}};
}

void Terminal::Reset(std::int64_t now)
{
    counters = {};
    m_reset = now;
    for (auto& [to, party] : m_parties)
    {
        party.queue.ResetStatistics(now);
    }
}

} // namespace netboxit
