// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mac_overhead.h"
#include "sdu_queue.h"
#include "service_flow.h"

#include <deque>
#include <span>
#include <vector>

namespace netboxit::wimax
{

/// An SDU, or a fragment of one, in a MAC protocol data unit: alone in it, or packed with others (6.3.3.4).
struct Pdu
{
    std::shared_ptr<Sdu> sdu;
    std::uint32_t bytes{};   ///< on the air: payload and subheader, and the PDU's header and CRC with its first SDU
    std::uint32_t payload{}; ///< bytes of the SDU
    bool last{};             ///< carries the end of the SDU
    bool packed{};           ///< in the same PDU as the one before it
};

/// The transmitting end of a transport connection: a queue of SDUs, cut and packed into PDUs as room is given.
/// Without ARQ.
class Connection
{
  public:
    /// Its queue draws from the random stream of this number. `channel`, which outlives it, tells of the receivers; null: nothing does.
    Connection(const ServiceFlow& flow, Accounts& accounts, std::int64_t stream, const queueing::Channel* channel = nullptr);

    const ServiceFlow& Flow() const
    {
        return m_flow;
    }

    /// `frame`: the SDU's bytes; `rate`: what the connection sends with now, bit/s.
    void Enqueue(const std::shared_ptr<Sdu>& sdu, Bytes frame, double rate);
    /// Takes an SDU that waited in another queue: none waits in its own one.
    void Append(std::shared_ptr<Sdu> sdu);
    /// What waits in its queue, for another one, and what waited in another one, for its own.
    std::vector<SduQueue::Moving> MoveOut(ns3::Time now)
    {
        return m_queue->MoveOut(now.GetNanoSeconds());
    }
    void MoveIn(SduQueue::Moving moving, ns3::Time now, double rate)
    {
        m_queue->MoveIn(std::move(moving), now.GetNanoSeconds(), rate);
    }
    /// Gives it another queue, as queue.py dumps it; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue, ns3::Time now, double rate);

    /// What waits would take on the air as whole PDUs: the number that a bandwidth request names (6.3.6.1). With
    /// packing an estimate, since how SDUs will fall into PDUs is not known yet.
    std::uint32_t AirBytes() const;
    /// Of SDUs, and of one partly sent what is left.
    std::uint32_t QueuedBytes() const
    {
        return static_cast<std::uint32_t>(m_queue->Bytes()) + m_nextBytes;
    }
    /// Statistics of the queue: ../queueing/README.md.
    Json ReadQueue(ns3::Time now) const
    {
        return m_queue->Read(now.GetNanoSeconds());
    }
    void ResetQueueStatistics(ns3::Time now)
    {
        m_queue->ResetStatistics(now.GetNanoSeconds());
    }

    /// Takes PDUs of at most `room` bytes in all; the last one may end in a fragment.
    std::vector<Pdu> Take(std::uint32_t room, ns3::Time now);

    /// Discards what waited for longer than the flow's maximum latency, except an SDU already partly sent.
    void DropExpired(ns3::Time now);
    /// Without fragmentation: discards at the head what no burst of so many bytes can hold.
    void DropOversize(std::uint32_t largestBurst, ns3::Time now);
    /// Loses the SDU at the head, or everything, for a reason.
    void DropHead(Loss reason, ns3::Time now);
    void DropAll(Loss reason, ns3::Time now);

  private:
    std::uint32_t Overhead() const
    {
        return GENERIC_HEADER + (m_flow.carriage.crc ? CRC : 0);
    }
    /// Takes SDUs out of the queue until so many are next; false when it has fewer to give.
    bool HasNext(std::size_t sdus, ns3::Time now);
    /// How many SDUs a packed PDU of at most `room` bytes would hold, the last one perhaps in part.
    std::size_t Packable(std::uint32_t room, ns3::Time now);
    void TakePacked(std::uint32_t room, std::size_t count, std::vector<Pdu>& pdus);
    Pdu TakeAlone(std::uint32_t room, ns3::Time now);
    /// The next so many bytes of the head.
    Pdu TakePayload(std::uint32_t payload, std::uint32_t overhead);

    ServiceFlow m_flow;
    Accounts& m_accounts;
    std::unique_ptr<SduQueue> m_queue;
    /// Taken out of the queue: the first one perhaps partly sent, others found no room yet.
    std::deque<std::shared_ptr<Sdu>> m_next;
    std::uint32_t m_nextBytes{}; ///< of these, not yet sent
};

} // namespace netboxit::wimax
