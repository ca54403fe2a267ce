// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tcp_connection.h"

#include <deque>

namespace netboxit
{

/// TCP Noordwijk: bursts at a timer's pace, for satellite links with bandwidth on demand.
///
/// C. Roseti, M. Luglio, F. Zampognaro, "Analysis and performance evaluation of a burst-based TCP for satellite DVB RCS links",
/// IEEE/ACM Transactions on Networking 18(3), 2010; figures of M. Luglio's group as the dissertation of C. A. Grazia uses them. The
/// sender alone differs. Each burst of B segments is followed by the next one after TX. The acknowledgements of a burst, its train,
/// tell of the bottleneck by how long they take from the first to the last (dispersion) and by how much their round trips differ.
/// Each second train changes B and TX: Rate Adjustment when round trips differ by more than a threshold, Rate Tracking otherwise.
///
/// What the authors leave open, since they assume that nothing is lost, is: lost segments are found by RFC 6675, and repeated at once
/// at the expense of the next burst; trains with a repeated segment, or without an acknowledgement for each segment, are not measured.
/// A timeout (RFC 6298) begins a first burst anew, with what is lost, and with twice the timer, until trains are measured; with twice
/// that when it comes again before all that was on its way has been acknowledged.
class Noordwijk : public TcpConnection
{
  public:
    static ns3::TypeId GetTypeId();
    using TcpConnection::TcpConnection;
    ~Noordwijk() override;

    void Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream) override;
    std::uint32_t UsefulBacklog() const override;
    Json Read() const override;
    /// Its rate is at most the share: C2ML, section 2.2.3.3 of the dissertation.
    void UseShare(std::optional<middleware::Rate> share) override;

  protected:
    ns3::Ptr<TcpSocketBase> Fork() override;
    std::uint32_t SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck) override;
    std::uint32_t AvailableWindow() const override;
    void NewAck(const ns3::SequenceNumber32& sequence, bool resetRto) override;
    void ReTxTimeout() override;

  private:
    /// A burst, and what has been seen of its acknowledgements.
    struct Train
    {
        explicit Train(ns3::SequenceNumber32 first) : begin(first), end(first)
        {
        }

        ns3::SequenceNumber32 begin;
        ns3::SequenceNumber32 end;
        std::uint32_t segments{0};
        bool repeated{false};
        std::uint32_t acknowledgements{0};
        ns3::Time first;
        ns3::Time least{ns3::Time::Max()}; ///< round trip
        ns3::Time most;
    };

    /// Bytes.
    std::int64_t NextBurst() const;
    void StartTimer();
    void Burst();
    void Take(const ns3::SequenceNumber32& acknowledged);
    void Measure(const Train& train);
    void Use(double segments, ns3::Time timer);
    void KeepRate();

    std::uint32_t m_firstBurst{0}; ///< segments
    ns3::Time m_firstTimer;
    std::uint32_t m_burst{0}; ///< segments
    ns3::Time m_timer;
    std::int64_t m_allowed{0}; ///< bytes that may still leave before the timer ends; below 0: at the expense of the next burst
    ns3::EventId m_next;
    bool m_isOpen{false}; ///< the last train is of the burst that leaves now
    std::deque<Train> m_trains;
    unsigned m_measured{0}; ///< trains since the last change
    unsigned m_timeoutsInTurn{0};
};

} // namespace netboxit
