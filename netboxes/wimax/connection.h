// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "accounts.h"
#include "mac_overhead.h"
#include "service_flow.h"

#include <deque>
#include <memory>
#include <vector>

namespace netboxit::wimax
{

/// A MAC protocol data unit: an SDU or a fragment of one.
struct Pdu
{
    std::shared_ptr<Sdu> sdu;
    std::uint32_t bytes{};   ///< on the air: headers, payload, CRC
    std::uint32_t payload{}; ///< bytes of the SDU
    bool last{};             ///< carries the end of the SDU
};

/// The transmitting end of a transport connection: a drop-tail queue of SDUs, cut into PDUs as room is given.
/// Without ARQ and packing.
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
    /// (6.3.6.1).
    std::uint32_t AirBytes() const;
    std::uint32_t QueuedBytes() const
    {
        return m_queuedBytes;
    }

    /// Takes PDUs of at most `room` bytes in all out of the queue; the last one may be a fragment.
    std::vector<Pdu> Take(std::uint32_t room);

    /// Discards what waited for longer than the flow's maximum latency, except an SDU already partly sent.
    void DropExpired(ns3::Time now);
    /// Loses the SDU at the head, or everything, for a reason.
    void DropHead(Loss reason);
    void DropAll(Loss reason);

  private:
    Pdu TakeFragment(std::uint32_t room);

    ServiceFlow m_flow;
    Accounts& m_accounts;
    std::deque<std::shared_ptr<Sdu>> m_queue;
    std::uint32_t m_queuedBytes{};
};

} // namespace netboxit::wimax
