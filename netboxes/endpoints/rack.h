// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scoreboard.h"

#include "ns3/tcp-socket-state.h"

namespace netboxit
{

/// Loss detection by time (RFC 8985, "RACK"): what was sent sufficiently before something that has arrived is lost, also when
/// it had been sent again. Without D-SACK, which no receiver here sends: the reordering window (step 4) does not grow.
class Rack
{
  public:
    struct Detection
    {
        std::uint32_t lost{0}; ///< bytes that were found lost now
        ns3::Time wait;        ///< when to look again; 0: no need to
    };

    /// Of what has arrived since the last time, and was sent once; 0: none.
    struct RoundTrips
    {
        ns3::Time ofFirst;
        ns3::Time ofLast;
    };

    Rack(ns3::Ptr<ns3::TcpTxBuffer> buffer, ns3::Ptr<ns3::TcpSocketState> state);

    /// A segment that ends there was sent again.
    void SentAgain(ns3::SequenceNumber32 end);
    /// `segment` is acknowledged, or selectively, for the first time (steps 2 and 3).
    void Arrived(const ns3::TcpTxItem& segment);
    RoundTrips TakeRoundTrips();
    /// Steps 4 and 5; also when it is time to look again.
    Detection Detect();

  private:
    ns3::Time ReorderingWindow() const;
    bool SentBeforeLatest(const ns3::TcpTxItem& segment) const;

    Scoreboard m_scoreboard;
    ns3::Ptr<ns3::TcpSocketState> m_state;
    bool m_hasLatest{false};
    ns3::Time m_latestSent;                   ///< RACK.xmit_ts
    ns3::SequenceNumber32 m_latestEnd;        ///< RACK.end_seq
    ns3::Time m_roundTrip;                    ///< RACK.rtt
    RoundTrips m_roundTrips;
    ns3::SequenceNumber32 m_highest;          ///< RACK.fack
    ns3::SequenceNumber32 m_sentAgainUpTo;    ///< no segment from here on was ever sent again
    bool m_hasReordering{false};              ///< RACK.reordering_seen
};

} // namespace netboxit
