// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "accounts.h"
#include "mac_overhead.h"
#include "service_flow.h"

#include <deque>
#include <memory>
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

/// The transmitting end of a transport connection: a drop-tail queue of SDUs, cut and packed into PDUs as room
/// is given. Without ARQ.
class Connection
{
  public:
    Connection(const ServiceFlow& flow, Accounts& accounts);

    const ServiceFlow& Flow() const
    {
        return m_flow;
    }

    void Enqueue(std::shared_ptr<Sdu> sdu);

    /// What the queue would take on the air as whole PDUs: the number that a bandwidth request names
    /// (6.3.6.1). With packing an estimate, since how SDUs will fall into PDUs is not known yet.
    std::uint32_t AirBytes() const;
    std::uint32_t QueuedBytes() const
    {
        return m_queuedBytes;
    }

    /// Takes PDUs of at most `room` bytes in all out of the queue; the last one may end in a fragment.
    std::vector<Pdu> Take(std::uint32_t room);

    /// Discards what waited for longer than the flow's maximum latency, except an SDU already partly sent.
    void DropExpired(ns3::Time now);
    /// Without fragmentation: discards at the head what no burst of so many bytes can hold.
    void DropOversize(std::uint32_t largestBurst);
    /// Loses the SDU at the head, or everything, for a reason.
    void DropHead(Loss reason);
    void DropAll(Loss reason);

  private:
    std::uint32_t Overhead() const
    {
        return GENERIC_HEADER + (m_flow.carriage.crc ? CRC : 0);
    }
    /// How many SDUs a packed PDU of at most `room` bytes would hold, the last one perhaps in part.
    std::size_t Packable(std::uint32_t room) const;
    void TakePacked(std::uint32_t room, std::size_t count, std::vector<Pdu>& pdus);
    Pdu TakeAlone(std::uint32_t room);
    /// The next so many bytes of the head.
    Pdu TakePayload(std::uint32_t payload, std::uint32_t overhead);

    ServiceFlow m_flow;
    Accounts& m_accounts;
    std::deque<std::shared_ptr<Sdu>> m_queue;
    std::uint32_t m_queuedBytes{};
};

} // namespace netboxit::wimax
