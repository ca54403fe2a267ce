// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sending_budgets.h"
#include "tcp_options.h"

#include "../../middleware/window.h"

#include "ns3/tcp-socket-base.h"

#include <functional>
#include <memory>

namespace netboxit
{

/// A TCP socket of a host: ns-3's, which also heeds the far end's maximum segment size, measures round trips to the ns, keeps a
/// listener's options, keeps to its share of its host's budget, and tells what it does.
class TcpConnection : public ns3::TcpSocketBase, public SendingBudgets::Sender
{
  public:
    static ns3::TypeId GetTypeId();

    /// See MakeTcpConnection() of tcp_variants.h.
    TcpConnection(const Host& host, bool isIpv6);

    /// `mtu` is that of the path's first link.
    virtual void Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream);

    /// Called whenever the far end acknowledges something.
    void SetAcknowledgementHandler(std::function<void()> handler);
    /// Ends the connection at once, by a reset, and calls nobody any more.
    void Abort();
    /// Calls nobody any more.
    void Silence();
    /// Of a listener: connections that were made by it and are there.
    std::size_t Accepted() const;

    /// Bytes in the buffer, sent ones among them, with which the connection never waits for its application.
    virtual std::uint32_t UsefulBacklog() const;
    /// Bytes that its application should write now: what the buffer has room for, up to the useful backlog, so that the end of
    /// what is sent is not far behind the moment at which it was written.
    std::uint32_t UsefulRoom() const;
    virtual Json Read() const;

    /// The window is at most what the share means for the smallest round trip, as C2ML's Eq. 2.2 has it; what has a model of the
    /// path instead of a threshold, as BBR, paces at the share at most.
    void UseShare(std::optional<middleware::Rate> share) override;

    int Send(ns3::Ptr<ns3::Packet> data, std::uint32_t flags) override;

  protected:
    ns3::Ptr<TcpSocketBase> Fork() override;
    void DoForwardUp(ns3::Ptr<ns3::Packet> segment, const ns3::Address& from, const ns3::Address& to) override;
    void SendEmptyPacket(std::uint8_t flags) override;
    std::uint32_t SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck) override;
    void NewAck(const ns3::SequenceNumber32& sequence, bool resetRto) override;
    ns3::Time CalculateRttSample(const ns3::TcpHeader& header, const ns3::RttHistory& history) override;
    void EstimateRtt(const ns3::TcpHeader& header) override;
    void ReTxTimeout() override;
    void PersistTimeout() override;

    /// Its share as bit/s of data: without the headers of full segments. Nothing without a budget.
    std::optional<middleware::Rate> ShareOfData() const;
    /// It has a share from its first data until all of it is acknowledged and it is closed.
    void BeginSending();
    /// After each acknowledgement: AckRcv of C2ML (C. A. Grazia, dissertation, section 2.2.3.3, figure 2.13).
    void KeepToShare();

  private:
    /// Data in a segment, bytes.
    void UseSegment(std::uint32_t size);
    void ReceiveBeforeConnected(const ns3::Ptr<ns3::Packet>& segment, const ns3::Address& from, const ns3::Address& to);
    /// What ns-3 does not look at: RFC 9293, 3.10.7.4, with RFC 5961. False: the segment ends here.
    bool Accepts(const ns3::TcpHeader& header, std::uint32_t length);
    void EndByReset();
    /// Takes away what follows the end of the far end's stream, and acknowledges that end again.
    void IgnoreAfterEnd(const ns3::Ptr<ns3::Packet>& segment);
    /// The last sequence number that can be acknowledged.
    ns3::SequenceNumber32 Sent() const;
    /// Leaves only blocks of data that is on its way.
    void CorrectSack(const ns3::Ptr<ns3::Packet>& segment) const;
    bool IsRefusal(const ns3::TcpHeader& header) const;
    void AgreeOnSegment(const ns3::TcpHeader& syn);
    /// The congestion window decays while nothing is sent (RFC 5681, 4.1; RFC 2861).
    void RestartAfterIdle();
    void StateChanged(TcpStates_t before, TcpStates_t state);
    middleware::Window WindowOfShare() const;

    ns3::Ptr<CheckedTcp> m_protocol;
    bool m_isIpv6;
    std::uint32_t m_ownSegment{0}; ///< what its MSS option says
    std::function<void()> m_onAcknowledgement;
    std::shared_ptr<int> m_family{std::make_shared<int>()}; ///< shared by a listener and its connections
    ns3::Time m_lastSent; ///< data; 0: never
    SendingBudgets::Place m_place;
    ns3::DataRate m_fastest;                 ///< without a budget
    std::optional<middleware::Rate> m_share; ///< of the host's budget, bit/s of IP packets
    std::uint64_t m_retransmissions{0};
    std::uint64_t m_timeouts{0};
};

} // namespace netboxit
