// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_connection.h"

#include "bbr.h"
#include "delivery_rate.h"
#include "rate_reduction.h"
#include "routing.h"

#include "ns3/boolean.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/ipv6-end-point.h"
#include "ns3/object-factory.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-rfc793.h"
#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <tuple>

namespace netboxit
{

namespace
{

constexpr std::uint32_t IPV4_AND_TCP = 40;
constexpr std::uint32_t IPV6_AND_TCP = 60;
/// RFC 9293, 3.7.1: when the far end says nothing.
constexpr std::uint32_t SEGMENT_OVER_IPV4 = 536;
constexpr std::uint32_t SEGMENT_OVER_IPV6 = 1220;
/// As Linux's tcp_min_snd_mss: smaller ones are an attack (CVE-2019-11479).
constexpr std::uint32_t SMALLEST_SEGMENT = 48;
/// RFC 7323, appendix A: with two bytes of padding. The MSS does not count options (RFC 6691).
constexpr std::uint32_t TIMESTAMPS = 12;
/// RFC 6298, 2.1; and how often Linux tries (tcp_syn_retries, tcp_retries2).
const auto FIRST_TIMEOUT = ns3::Seconds(1);
constexpr std::uint32_t CONNECTION_ATTEMPTS = 7;
constexpr std::uint32_t DATA_ATTEMPTS = 15;
/// Half of TCP_TIMEWAIT_LEN.
constexpr double SEGMENT_LIFETIME_S = 30;
/// Default of tcp_wmem.
constexpr std::uint32_t LEAST_BACKLOG = 16384;

double Milliseconds(const ns3::Time& time)
{
    return static_cast<double>(time.GetNanoSeconds()) / 1e6;
}

/// As ns-3 keeps windows.
std::uint32_t InBytes(std::uint64_t window)
{
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(window, UINT32_MAX));
}

ns3::TcpHeader WithoutOptions(const ns3::TcpHeader& old)
{
    ns3::TcpHeader header;
    header.SetSourcePort(old.GetSourcePort());
    header.SetDestinationPort(old.GetDestinationPort());
    header.SetSequenceNumber(old.GetSequenceNumber());
    header.SetAckNumber(old.GetAckNumber());
    header.SetFlags(old.GetFlags());
    header.SetWindowSize(old.GetWindowSize());
    return header;
}

} // namespace

ns3::TypeId TcpConnection::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::TcpConnection").SetParent<ns3::TcpSocketBase>();
    return type;
}

TcpConnection::TcpConnection(const Host& host, bool isIpv6)
    : m_protocol(host.Tcp()), m_isIpv6(isIpv6), m_place(host.Budgets())
{
    SetNode(host.Node());
    SetTcp(host.Tcp());
    SetRtt(ns3::CreateObject<ns3::RttMeanDeviation>());
}

void TcpConnection::Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream)
{
    const auto largest = mtu - (m_isIpv6 ? IPV6_AND_TCP : IPV4_AND_TCP);
    m_ownSegment = std::min<std::uint32_t>(options.segment.value_or(largest), largest);
    m_sackEnabled = options.sack;
    m_txBuffer->SetSackEnabled(options.sack);
    m_timestampEnabled = options.timestamps;
    m_winScalingEnabled = options.windowScaling;
    UseSegment(m_ownSegment - (options.timestamps ? TIMESTAMPS : 0));
    SetInitialCwnd(options.initialWindow);
    SetInitialSSThresh(options.ssthresh.value_or(UINT32_MAX));
    SetSndBufSize(options.sendBuffer);
    SetRcvBufSize(options.receiveBuffer);
    SetDelAckMaxCount(options.ackEvery);
    SetDelAckTimeout(options.ackTimeout);
    SetMinRto(options.smallestTimeout);
    SetClockGranularity(options.smallestTimeout); // as Linux: the smoothed round trip and at least that
    SetConnTimeout(FIRST_TIMEOUT);
    SetSynRetries(CONNECTION_ATTEMPTS);
    SetDataRetries(DATA_ATTEMPTS);
    m_msl = SEGMENT_LIFETIME_S;
    SetPacingStatus(options.pacing);
    SetUseEcn(options.ecn);
    ns3::ObjectFactory factory;
    factory.SetTypeId(options.variant);
    const auto congestionControl = factory.Create<ns3::TcpCongestionOps>();
    if (const auto bbr = ns3::DynamicCast<Bbr>(congestionControl); bbr)
    {
        bbr->SetStream(randomStream);
    }
    if (options.lowLatency)
    {
        congestionControl->SetAttribute("UseEct0", ns3::BooleanValue(false));
    }
    // Last: DCTCP turns ECN on.
    SetCongestionControlAlgorithm(congestionControl);
    SetRecoveryAlgorithm(ns3::CreateObject<RateReduction>());
    m_rateOps = ns3::CreateObject<DeliveryRate>();
    m_fastest = m_tcb->m_maxPacingRate;
}

void TcpConnection::SetAcknowledgementHandler(std::function<void()> handler)
{
    m_onAcknowledgement = std::move(handler);
}

void TcpConnection::Abort()
{
    Silence();
    if (m_endPoint != nullptr || m_endPoint6 != nullptr)
    {
        if (m_connected)
        {
            SendRST();
        }
        DeallocateEndPoint();
    }
    m_state = CLOSED;
}

void TcpConnection::Silence()
{
    m_onAcknowledgement = nullptr;
    const auto nothing = ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>();
    SetConnectCallback(nothing, nothing);
    SetCloseCallbacks(nothing, nothing);
    SetRecvCallback(nothing);
    SetSendCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, std::uint32_t>());
    SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                      ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>());
}

std::size_t TcpConnection::Accepted() const
{
    return static_cast<std::size_t>(m_family.use_count() - 1);
}

/// Two windows, as in Linux.
std::uint32_t TcpConnection::UsefulBacklog() const
{
    return 2 * m_tcb->m_cWnd;
}

std::uint32_t TcpConnection::UsefulRoom() const
{
    const auto wanted = std::max(LEAST_BACKLOG, UsefulBacklog());
    return std::min(GetTxAvailable(), wanted - std::min(wanted, m_txBuffer->Size()));
}

Json TcpConnection::Read() const
{
    const auto& state = *m_tcb;
    const auto smallest = state.m_minRtt == ns3::Time::Max() ? Json() : Json(Milliseconds(state.m_minRtt));
    return {{"state", TcpStateName[m_state]},
            {"congestion_state", ns3::TcpSocketState::TcpCongStateName[state.m_congState]},
            {"delivered", m_rateOps->GetConnectionRate().m_delivered},
            {"retransmissions", m_retransmissions},
            {"timeouts", m_timeouts},
            {"cwnd", state.m_cWnd.Get()},
            {"ssthresh", state.m_ssThresh.Get() == UINT32_MAX ? Json() : Json(state.m_ssThresh.Get())},
            {"in_flight", state.m_bytesInFlight.Get()},
            {"segment", state.m_segmentSize},
            {"rtt_ms", Milliseconds(state.m_lastRtt)},
            {"rtt_smoothed_ms", Milliseconds(state.m_srtt)},
            {"rtt_min_ms", smallest}};
}

ns3::Ptr<ns3::TcpSocketBase> TcpConnection::Fork()
{
    auto accepted = ns3::CopyObject<TcpConnection>(this);
    accepted->m_rateOps = ns3::CreateObject<DeliveryRate>();
    return accepted;
}

void TcpConnection::DoForwardUp(ns3::Ptr<ns3::Packet> segment, const ns3::Address& from, const ns3::Address& to)
{
    CorrectSack(segment);
    if (m_state == LISTEN || m_state == SYN_SENT || m_state == SYN_RCVD)
    {
        ReceiveBeforeConnected(segment, from, to);
        return;
    }
    ns3::TcpHeader header;
    const auto headerLength = segment->PeekHeader(header);
    if (Accepts(header, segment->GetSize() - headerLength))
    {
        if ((header.GetFlags() & ns3::TcpHeader::RST) != 0)
        {
            EndByReset();
            return;
        }
        IgnoreAfterEnd(segment);
        TcpSocketBase::DoForwardUp(segment, from, to);
    }
}

void TcpConnection::ReceiveBeforeConnected(const ns3::Ptr<ns3::Packet>& segment,
                                           const ns3::Address& from,
                                           const ns3::Address& to)
{
    // ns-3 notes in the listener what one SYN lacks; the next one is another's.
    const bool listens = m_state == LISTEN;
    const auto options = std::tuple(m_sackEnabled, m_timestampEnabled, m_winScalingEnabled, m_sndWindShift);
    const auto size = m_tcb->m_segmentSize;
    ns3::TcpHeader header;
    segment->RemoveHeader(header);
    // Of a window of 0 ns-3 ends its attempts to connect, and probes a connection that is not there.
    header.SetWindowSize(std::max<std::uint16_t>(header.GetWindowSize(), 1));
    m_rWnd = std::max<std::uint32_t>(m_rWnd, 1);
    segment->AddHeader(header);
    if (IsRefusal(header))
    {
        m_state = CLOSED;
        DeallocateEndPoint();
        NotifyConnectionFailed();
        return;
    }
    if (m_state != SYN_RCVD && (header.GetFlags() & ns3::TcpHeader::SYN) != 0)
    {
        AgreeOnSegment(header);
    }
    TcpSocketBase::DoForwardUp(segment, from, to);
    if (listens)
    {
        std::tie(m_sackEnabled, m_timestampEnabled, m_winScalingEnabled, m_sndWindShift) = options;
        m_txBuffer->SetSackEnabled(m_sackEnabled);
        UseSegment(size);
    }
}

bool TcpConnection::Accepts(const ns3::TcpHeader& header, std::uint32_t length)
{
    const auto flags = header.GetFlags();
    const auto sequence = header.GetSequenceNumber();
    if ((flags & ns3::TcpHeader::RST) != 0 && sequence == m_tcb->m_rxBuffer->NextRxSequence())
    {
        return true;
    }
    if ((flags & (ns3::TcpHeader::RST | ns3::TcpHeader::SYN)) != 0)
    {
        // RFC 5961: a challenge to each SYN, and to resets within the window.
        if ((flags & ns3::TcpHeader::SYN) != 0 || !OutOfRange(sequence, sequence + ns3::SequenceNumber32(length)))
        {
            SendEmptyPacket(ns3::TcpHeader::ACK);
        }
        return false;
    }
    return (flags & ns3::TcpHeader::ACK) != 0 && header.GetAckNumber() <= Sent();
}

/// RFC 9293, 3.10.7.4; RFC 1337 for TIME-WAIT. ns-3 tells a reset without ACK as an orderly end, and answers one with ACK by a reset.
void TcpConnection::EndByReset()
{
    if (m_state == TIME_WAIT)
    {
        return;
    }
    m_state = CLOSED;
    NotifyErrorClose();
    DeallocateEndPoint();
}

/// RFC 9293, 3.10.7.4: in these states there is neither text nor a second FIN; ns-3 ends the process by them.
void TcpConnection::IgnoreAfterEnd(const ns3::Ptr<ns3::Packet>& segment)
{
    if (m_state != CLOSE_WAIT && m_state != CLOSING && m_state != LAST_ACK)
    {
        return;
    }
    ns3::TcpHeader header;
    segment->RemoveHeader(header);
    const bool hasFin = (header.GetFlags() & ns3::TcpHeader::FIN) != 0;
    if (hasFin || segment->GetSize() > 0)
    {
        header.SetFlags(static_cast<std::uint8_t>(header.GetFlags() & ~ns3::TcpHeader::FIN));
        segment->RemoveAtEnd(segment->GetSize());
        SendEmptyPacket(ns3::TcpHeader::ACK);
    }
    segment->AddHeader(header);
}

ns3::SequenceNumber32 TcpConnection::Sent() const
{
    const bool finished = m_state == FIN_WAIT_1 || m_state == FIN_WAIT_2 || m_state == CLOSING || m_state == LAST_ACK ||
                          m_state == TIME_WAIT;
    return m_tcb->m_highTxMark.Get() + ns3::SequenceNumber32(finished ? 1 : 0);
}

/// ns-3 reads beyond its list when nothing, or its beginning, is acknowledged selectively; and it knows no D-SACK (RFC 2883).
void TcpConnection::CorrectSack(const ns3::Ptr<ns3::Packet>& segment) const
{
    ns3::TcpHeader header;
    segment->PeekHeader(header);
    const auto old = ns3::DynamicCast<const ns3::TcpOptionSack>(header.GetOption(ns3::TcpOption::SACK));
    if (!old)
    {
        return;
    }
    const auto first = std::max(m_txBuffer->HeadSequence(), header.GetAckNumber());
    const auto option = ns3::CreateObject<ns3::TcpOptionSack>();
    for (const auto& block : old->GetSackList())
    {
        if (first < block.first && block.first < block.second && block.second <= m_tcb->m_highTxMark)
        {
            option->AddSackBlock(block);
        }
    }
    segment->RemoveHeader(header);
    ns3::TcpHeader corrected = WithoutOptions(header);
    for (const auto& other : header.GetOptionList())
    {
        if (other->GetKind() != ns3::TcpOption::SACK)
        {
            corrected.AppendOption(other);
        }
    }
    if (option->GetNumSackBlocks() > 0)
    {
        corrected.AppendOption(option);
    }
    segment->AddHeader(corrected);
}

/// A reset in answer to its SYN (RFC 9293, 3.10.7.3), which ns-3 passes over.
bool TcpConnection::IsRefusal(const ns3::TcpHeader& header) const
{
    constexpr auto RESET = ns3::TcpHeader::RST | ns3::TcpHeader::ACK;
    return m_state == SYN_SENT && (header.GetFlags() & RESET) == RESET &&
           header.GetAckNumber() == m_tcb->m_nextTxSequence.Get() + ns3::SequenceNumber32(1);
}

void TcpConnection::UseSegment(std::uint32_t size)
{
    m_tcb->m_segmentSize = size;
    m_txBuffer->SetSegmentSize(size);
}

void TcpConnection::AgreeOnSegment(const ns3::TcpHeader& syn)
{
    const auto option =
        ns3::DynamicCast<const ns3::TcpOptionMSS>(syn.GetOption(ns3::TcpOption::MSS));
    const std::uint32_t theirs = option ? option->GetMSS() : m_isIpv6 ? SEGMENT_OVER_IPV6 : SEGMENT_OVER_IPV4;
    const bool timestamps = m_timestampEnabled && syn.HasOption(ns3::TcpOption::TS);
    UseSegment(std::min(m_ownSegment, std::max(theirs, SMALLEST_SEGMENT)) - (timestamps ? TIMESTAMPS : 0));
}

void TcpConnection::SendEmptyPacket(std::uint8_t flags)
{
    if ((flags & ns3::TcpHeader::SYN) != 0)
    {
        m_protocol->SetMaximumSegmentSize(static_cast<std::uint16_t>(m_ownSegment));
    }
    TcpSocketBase::SendEmptyPacket(flags);
}

std::uint32_t TcpConnection::SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck)
{
    // ns-3 forgets it where a SYN crossed another one, and ends the process by what it makes of that.
    m_highRxAckMark = std::max(m_highRxAckMark.Get(), m_txBuffer->HeadSequence());
    m_retransmissions += sequence < m_tcb->m_highTxMark;
    m_lastSent = ns3::Simulator::Now();
    BeginSending();
    if (sequence == m_txBuffer->HeadSequence() && sequence < m_tcb->m_highTxMark)
    {
        m_retxEvent.Cancel(); // starts anew with what is sent again, as in Linux (tcp_xmit_retransmit_queue) and ns-2
    }
    return TcpSocketBase::SendDataPacket(sequence, most, withAck);
}

int TcpConnection::Send(ns3::Ptr<ns3::Packet> data, std::uint32_t flags)
{
    RestartAfterIdle();
    return TcpSocketBase::Send(data, flags);
}

/// As Linux (tcp_slow_start_after_idle): half of it for each timeout that passed, down to the window of a new connection; the
/// threshold remembers three quarters of it. ns-3 sends a whole old window at once.
void TcpConnection::RestartAfterIdle()
{
    const auto idle = ns3::Simulator::Now() - m_lastSent;
    // What has a model of the path, as BBR, decides itself.
    if (m_lastSent.IsZero() || m_txBuffer->Size() > 0 || idle <= m_rto.Get() || m_congestionControl->HasCongControl())
    {
        return;
    }
    const auto window = m_tcb->m_cWnd.Get();
    const auto least = std::min(GetInitialCwnd() * m_tcb->m_segmentSize, window);
    const auto halvings = std::min<std::int64_t>(idle.GetNanoSeconds() / m_rto.Get().GetNanoSeconds(), 31);
    m_tcb->m_ssThresh = std::max(m_tcb->m_ssThresh.Get(), window / 4 * 3);
    m_tcb->m_cWnd = std::max(window >> halvings, least);
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
}

void TcpConnection::NewAck(const ns3::SequenceNumber32& sequence, bool resetRto)
{
    KeepToShare();
    TcpSocketBase::NewAck(sequence, resetRto);
    if (m_onAcknowledgement)
    {
        m_onAcknowledgement();
    }
}

void TcpConnection::BeginSending()
{
    if (m_place.IsTaken() || (m_endPoint == nullptr && m_endPoint6 == nullptr))
    {
        return;
    }
    IpAddress peer{.isIpv6 = m_isIpv6};
    m_isIpv6 ? m_endPoint6->GetPeerAddress().GetBytes(peer.bytes.data())
             : m_endPoint->GetPeerAddress().Serialize(peer.bytes.data());
    m_state.ConnectWithoutContext(ns3::MakeCallback(&TcpConnection::StateChanged, this));
    m_place.Begin(*this, DeviceTowards(m_node, peer), HostAddressOf(peer));
}

void TcpConnection::StateChanged(TcpStates_t, TcpStates_t state)
{
    if (state == CLOSED || state == FIN_WAIT_2 || state == TIME_WAIT)
    {
        m_place.End();
    }
}

std::optional<middleware::Rate> TcpConnection::ShareOfData() const
{
    if (!m_share)
    {
        return std::nullopt;
    }
    const auto data = static_cast<double>(m_tcb->m_segmentSize);
    const auto headers = (m_isIpv6 ? IPV6_AND_TCP : IPV4_AND_TCP) + (m_timestampEnabled ? TIMESTAMPS : 0);
    return static_cast<middleware::Rate>(static_cast<double>(*m_share) * data / (data + headers));
}

middleware::Window TcpConnection::WindowOfShare() const
{
    return middleware::WindowOf(ShareOfData().value_or(0), m_tcb->m_minRtt.GetNanoSeconds(), m_tcb->m_segmentSize);
}

void TcpConnection::UseShare(std::optional<middleware::Rate> share)
{
    if (share == m_share)
    {
        return;
    }
    const bool isSmaller = share && *share < m_share.value_or(middleware::MOST_RATE);
    m_share = share;
    if (m_congestionControl->HasCongControl())
    {
        const auto data = ShareOfData();
        m_tcb->m_maxPacingRate = data ? std::min(m_fastest, ns3::DataRate(static_cast<std::uint64_t>(*data))) : m_fastest;
        m_tcb->m_pacingRate = std::min(m_tcb->m_pacingRate.Get(), m_tcb->m_maxPacingRate);
        return;
    }
    if (isSmaller && m_tcb->m_minRtt != ns3::Time::Max())
    {
        m_tcb->m_cWnd = std::min(m_tcb->m_cWnd.Get(), InBytes(WindowOfShare().congestionWindow));
        m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    }
    KeepToShare();
}

void TcpConnection::KeepToShare()
{
    if (!m_share || m_congestionControl->HasCongControl() || m_tcb->m_minRtt == ns3::Time::Max())
    {
        return;
    }
    const auto most = InBytes(WindowOfShare().slowStartThreshold);
    // A reduction takes the window down to its threshold.
    const bool isReducing =
        m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY || m_tcb->m_congState == ns3::TcpSocketState::CA_CWR;
    m_tcb->m_ssThresh = isReducing ? std::min(m_tcb->m_ssThresh.Get(), most) : most;
    if (m_tcb->m_cWnd > most)
    {
        m_tcb->m_cWnd = most;
        m_tcb->m_cWndInfl = most;
    }
}

/// By the clock, as Linux: timestamps count milliseconds, so ns-3's samples do. None of segments that were sent twice (RFC 6298, 3).
ns3::Time TcpConnection::CalculateRttSample(const ns3::TcpHeader& header, const ns3::RttHistory& history)
{
    const bool acknowledged = header.GetAckNumber() >= history.seq + ns3::SequenceNumber32(history.count);
    return acknowledged && !history.retx ? ns3::Simulator::Now() - history.time : ns3::Time();
}

/// ns-3 keeps the smallest smoothed round trip for the smallest one.
void TcpConnection::EstimateRtt(const ns3::TcpHeader& header)
{
    TcpSocketBase::EstimateRtt(header);
    if (m_tcb->m_lastRtt.Get().IsStrictlyPositive())
    {
        m_tcb->m_minRtt = std::min(m_tcb->m_minRtt, m_tcb->m_lastRtt.Get());
    }
}

void TcpConnection::ReTxTimeout()
{
    ++m_timeouts;
    TcpSocketBase::ReTxTimeout();
}

/// ns-3 probes a window of 0 also when there is nothing to send, by a byte that is not there.
void TcpConnection::PersistTimeout()
{
    if (m_txBuffer->SizeFromSequence(m_tcb->m_nextTxSequence) > 0)
    {
        TcpSocketBase::PersistTimeout();
    }
    else if (m_txBuffer->Size() > 0 && m_retxEvent.IsExpired())
    {
        m_retxEvent = ns3::Simulator::Schedule(m_rto, &TcpConnection::ReTxTimeout, this);
    }
}

} // namespace netboxit
