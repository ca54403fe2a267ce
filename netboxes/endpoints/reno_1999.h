// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tcp_connection.h"

#include <optional>

namespace netboxit
{

/// Reno as simulations of the 1990s have it, ns-2 2.1b4 above all, on which Xylomenos, "Multi Service Link Layers" (1999), rests:
/// a timer of 500 ms ticks, one timed segment at a time, a window of at most 20 segments, and a fast recovery that the first new
/// acknowledgement ends. Of the retransmission after a timeout V. Jacobson, "Congestion Avoidance and Control" (1988), appendix A.
class Reno1999 : public TcpConnection
{
  public:
    static ns3::TypeId GetTypeId();
    using TcpConnection::TcpConnection;

    void Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream) override;

  protected:
    ns3::Ptr<TcpSocketBase> Fork() override;
    void SendEmptyPacket(std::uint8_t flags) override;
    std::uint32_t SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck) override;
    std::uint32_t AvailableWindow() const override;
    void ReceivedAck(ns3::Ptr<ns3::Packet> segment, const ns3::TcpHeader& header) override;
    void EstimateRtt(const ns3::TcpHeader& header) override;
    void NewAck(const ns3::SequenceNumber32& sequence, bool resetRto) override;
    void ReTxTimeout() override;

  private:
    struct TimedSegment
    {
        ns3::SequenceNumber32 end;
        ns3::Time sent;
    };

    void ReceivedDuplicate(const ns3::Ptr<ns3::Packet>& segment, const ns3::TcpHeader& header);
    void ReceivedNewAck(const ns3::Ptr<ns3::Packet>& segment, const ns3::TcpHeader& header);
    void BeginRecovery();
    void Sample(std::int64_t ticks);
    ns3::Time Timeout() const;
    void RestartTimer(ns3::Time timeout);

    ns3::Time m_began;
    std::optional<TimedSegment> m_timed;
    std::int64_t m_smoothed{0};  ///< eighths of ticks; 0: none yet
    std::int64_t m_variation{0}; ///< quarters of ticks
    std::int64_t m_timeout;      ///< ticks, without back-off
    std::int64_t m_backoff{1};
    ns3::Time m_timeoutBefore;     ///< with back-off, before the acknowledgement's round trip counts
    std::uint32_t m_duplicates{0}; ///< acknowledgements since the last new one, or timeout
};

} // namespace netboxit
