// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/sequence-number.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/tcp-tx-item.h"

#include <list>

namespace netboxit
{

/// What is on its way, and what of it was lost: ns-3 keeps both to itself, and marks by RFC 6675 alone.
class Scoreboard
{
  public:
    explicit Scoreboard(ns3::Ptr<ns3::TcpTxBuffer> buffer);

    /// Segments that were sent and are not acknowledged, in their order.
    const std::list<ns3::TcpTxItem*>& Segments() const;
    static ns3::SequenceNumber32 Begin(const ns3::TcpTxItem& segment);
    static ns3::SequenceNumber32 End(const ns3::TcpTxItem& segment);
    static bool IsLost(const ns3::TcpTxItem& segment);

    /// Also one that was sent again: it is to be sent once more.
    void MarkLost(ns3::TcpTxItem& segment);
    /// What was sent again has arrived: it is no longer on its way. ns-3.44 counts it until it is acknowledged without a gap.
    void ForgetRetransmission(ns3::TcpTxItem& segment);
    /// ns-3 sends again only what is below the highest segment that was acknowledged selectively; from now on this one, too.
    void SendAgainUpTo(const ns3::TcpTxItem& segment);

    ns3::SequenceNumber32 Head() const; ///< the first one that is not acknowledged
    bool HasArrivals() const;
    bool HasRetransmissions() const;
    std::uint32_t Arrived() const; ///< selectively acknowledged, bytes
    std::uint32_t Lost() const;    ///< bytes

  private:
    ns3::Ptr<ns3::TcpTxBuffer> m_buffer;
};

} // namespace netboxit
