// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/loss_counts.h"
#include "../queueing/chance.h"
#include "../queueing/queue.h"

#include <map>
#include <set>

namespace netboxit
{

/// A layer-3 packet that waits or is being sent.
struct Packet
{
    SlotId slot;
    std::uint32_t length{}; ///< bytes
    ClassId trafficClass{};
    StationId from{};
    std::optional<StationId> to; ///< none: everyone, a group call
    std::int64_t queued{};       ///< ns, when
    std::int64_t place{};        ///< among the packets of its class that wait at its station; the least comes first
};

/// A station's queues, one for each party that it sends to, and its counters. Named after what most stations are; the base
/// station has one, too. Times are simulated ones, ns.
class Terminal
{
  public:
    using Lost = queueing::Queue<Packet>::Lost;
    using MarkPacket = queueing::Queue<Packet>::MarkItem;

    /// No packet waits for longer, ns: the engine forgets a frame after 30 s.
    static constexpr std::int64_t LONGEST_WAIT = 22'000'000'000;

    /// `queue` is the parameter of this name; throws OutOfRange. The queue to station n draws from the stream number
    /// `firstStream` + n + 1, the queue to everyone from `firstStream`.
    Terminal(const Json& queue, std::int64_t firstStream, Lost lost, MarkPacket mark);

    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// Another discipline, room or time of all queues; throws OutOfRange and then changes nothing. `rate` in bit/s.
    void SetQueue(const Json& queue, std::int64_t now, double rate);
    /// After this time a packet that still waits is lost.
    std::int64_t Lifetime() const
    {
        return m_lifetime;
    }

    /// False when the packet was lost at once. `rate` of a call, bit/s.
    bool Enqueue(Packet packet, Bytes frame, double rate);
    /// A packet that was interrupted becomes the first to its party. It takes no room.
    void PutBack(Packet packet);
    /// The packet whose turn it is; none when none waits, or all that waited were lost.
    std::optional<Packet> TakeTo(std::optional<StationId> to, std::int64_t now);
    /// Of the first class that has packets waiting the one that was interrupted last, or else the oldest: how urgently the
    /// station needs a call. Its turn may come later. Null: none waits. Valid until the queues change.
    const Packet* MostUrgent() const;
    const Packet* MostUrgentTo(std::optional<StationId> to) const;
    std::set<std::optional<StationId>> Parties() const; ///< to whom packets wait
    std::vector<Packet> Waiting() const;

    /// Loses the packets whose lifetime is over.
    void Expire(std::int64_t now);
    void LoseTo(std::optional<StationId> to, Loss reason, std::int64_t now);
    void LoseAll(Loss reason, std::int64_t now);

    /// `names` of the stations, by StationId.
    Json Read(const std::vector<std::string>& names, std::int64_t now) const;
    void Reset(std::int64_t now);

    struct Counters
    {
        std::uint64_t packetsSent{};
        std::uint64_t blocksSent{}; ///< slots used
        std::uint64_t blocksLost{};
        std::uint64_t blocksRepeated{};
        std::uint64_t accesses{};
        std::uint64_t accessCollisions{};
        std::uint64_t calls{};
        std::uint64_t callsPreempted{};
        double setupTime{}; ///< s, of all calls, from the wish to the channel
        LossCounts lost;
    };

    Counters counters;

  private:
    struct MoreUrgent
    {
        bool operator()(const Packet& a, const Packet& b) const
        {
            return std::pair(a.trafficClass, a.place) < std::pair(b.trafficClass, b.place);
        }
    };
    using Packets = std::set<Packet, MoreUrgent>;

    struct Party
    {
        Party(const Json& parameter, queueing::Chance chance, Lost lost, MarkPacket mark)
            : queue(parameter, std::move(chance), std::move(lost), std::move(mark))
        {
        }

        const Packet* MostUrgent() const;

        queueing::Queue<Packet> queue;
        Packets waiting; ///< in the queue
        Packets interrupted;
    };

    Party& PartyTo(std::optional<StationId> to);
    /// Loses the interrupted packets that came before `since`.
    void LoseInterrupted(Party& party, std::int64_t since, Loss reason);
    void Lose(Party& party, Loss reason, std::int64_t now);

    std::int64_t m_firstStream;
    queueing::LaterChances m_chances;
    Lost m_lost;
    MarkPacket m_mark;
    Json m_queueParameter;
    std::int64_t m_lifetime{};
    std::map<std::optional<StationId>, Party> m_parties;
    std::int64_t m_firstPlace{0};
    std::int64_t m_lastPlace{0};
    std::int64_t m_reset{0}; ///< when statistics began anew
};

} // namespace netboxit
