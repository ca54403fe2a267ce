// SPDX-License-Identifier: GPL-2.0-or-later
#include "linux_connection.h"

#include "bbr.h"
#include "cubic.h"
#include "delivery_rate.h"

#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

namespace
{

using State = ns3::TcpSocketState;

/// tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
constexpr double IN_SLOW_START = 2.0;
constexpr double LATER = 1.2;

} // namespace

ns3::TypeId LinuxConnection::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::LinuxConnection").SetParent<TcpConnection>();
    return type;
}

LinuxConnection::~LinuxConnection()
{
    m_reordering.Cancel();
    m_burst.Cancel();
}

void LinuxConnection::Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream)
{
    TcpConnection::Configure(options, mtu, randomStream);
    m_paces = options.pacing || m_congestionControl->HasCongControl();
    SetPacingStatus(false); // ns-3 paces segment by segment
    if (const auto cubic = ns3::DynamicCast<Cubic>(m_congestionControl); cubic)
    {
        cubic->SetPaces(m_paces);
    }
    ObserveArrivals();
}

ns3::Ptr<ns3::TcpSocketBase> LinuxConnection::Fork()
{
    auto accepted = ns3::CopyObject<LinuxConnection>(this);
    accepted->ObserveArrivals();
    return accepted;
}

void LinuxConnection::ObserveArrivals()
{
    m_rack = std::make_shared<Rack>(m_txBuffer, m_tcb);
    const auto samples = ns3::CreateObject<DeliveryRate>(m_rack);
    m_rateOps = samples;
    if (const auto bbr = ns3::DynamicCast<Bbr>(m_congestionControl); bbr)
    {
        bbr->Observe(m_pacing, samples);
    }
}

int LinuxConnection::Send(ns3::Ptr<ns3::Packet> data, std::uint32_t flags)
{
    // Before there is more to send, as in tcp_sendmsg: ns-3 asks afterwards, when an application is never the limit.
    m_rateOps->CalculateAppLimited(m_tcb->m_cWnd,
                                   BytesInFlight(),
                                   m_tcb->m_segmentSize,
                                   m_txBuffer->TailSequence(),
                                   m_tcb->m_highTxMark,
                                   m_txBuffer->GetLost(),
                                   m_txBuffer->GetRetransmitsCount());
    return TcpConnection::Send(data, flags);
}

/// A window beside what waits for an acknowledgement, which in a recovery may be several windows: Linux's buffer grows and
/// never shrinks.
std::uint32_t LinuxConnection::UsefulBacklog() const
{
    return UnAckDataCount() + m_tcb->m_cWnd;
}

/// Once connected by what arrives, see TakeRoundTrips(): ns-3 takes what had been acknowledged selectively for what arrives
/// now.
void LinuxConnection::EstimateRtt(const ns3::TcpHeader& header)
{
    if (!m_sackEnabled || m_state == SYN_SENT || m_state == SYN_RCVD)
    {
        TcpConnection::EstimateRtt(header);
    }
    else
    {
        m_history.clear();
    }
}

void LinuxConnection::ProcessAck(const ns3::SequenceNumber32& acknowledged,
                                 bool hasArrivals,
                                 std::uint32_t delivered,
                                 const ns3::SequenceNumber32& head,
                                 bool hasData)
{
    if (!m_sackEnabled)
    {
        TcpSocketBase::ProcessAck(acknowledged, hasArrivals, delivered, head, hasData);
        UpdateRate();
        return;
    }
    SetRetxThresh(UINT32_MAX); // ns-3 finds no losses
    const bool isNew = acknowledged > head;
    m_tcb->m_lastAckedSeq = acknowledged;
    if (acknowledged == head && acknowledged > m_tcb->m_highTxMark) // of the FIN alone
    {
        m_tcb->m_nextTxSequence = acknowledged;
    }
    const auto roundTrip = TakeRoundTrips(isNew);
    const auto lost = DetectLosses();
    if (isNew && m_recover <= acknowledged)
    {
        m_recoverActive = false;
        if (m_tcb->m_congState == State::CA_RECOVERY)
        {
            EndRecovery();
        }
        else if (m_tcb->m_congState == State::CA_LOSS)
        {
            Enter(State::CA_OPEN);
        }
    }
    const bool isOpen = m_tcb->m_congState == State::CA_OPEN || m_tcb->m_congState == State::CA_DISORDER;
    if (IsReducing())
    {
        m_tcb->m_isRetransDataAcked = isNew && lost == 0; // SafeACK of RFC 9937
        // By this acknowledgement, which ns-3 has counted then. Each reduction for an echo ends at another segment.
        const bool beganNow = m_tcb->m_congState == State::CA_CWR && std::exchange(m_reducedUntil, m_recover) != m_recover;
        if (delivered > 0 && !beganNow && !m_congestionControl->HasCongControl())
        {
            m_recoveryOps->DoRecovery(m_tcb, delivered, true);
        }
    }
    if ((isOpen || m_tcb->m_congState == State::CA_CWR) && m_txBuffer->GetLost() > 0)
    {
        BeginRecovery(delivered);
    }
    else if (const auto state = m_txBuffer->GetSacked() > 0 ? State::CA_DISORDER : State::CA_OPEN;
             isOpen && m_tcb->m_congState != state)
    {
        Enter(state);
    }
    TakeArrivals(delivered, isNew, roundTrip);
    if (isNew)
    {
        NewAck(acknowledged, true);
    }
    UpdateRate();
    if (!m_congestionControl->HasCongControl()) // that sets the window afterwards
    {
        SendNew();
    }
}

std::uint32_t LinuxConnection::DetectLosses()
{
    const auto found = m_rack->Detect();
    m_reordering.Cancel();
    if (found.wait.IsStrictlyPositive())
    {
        m_reordering = ns3::Simulator::Schedule(found.wait, &LinuxConnection::LookAgain, this);
    }
    if (found.lost > 0)
    {
        ns3::DynamicCast<DeliveryRate>(m_rateOps)->CountLoss(found.lost);
        BytesInFlight(); // ns-3 keeps the count for congestion controls
    }
    return found.lost;
}

/// The reordering timer (RFC 8985, 6.3).
void LinuxConnection::LookAgain()
{
    if (DetectLosses() == 0)
    {
        return;
    }
    if (m_tcb->m_congState == State::CA_OPEN || m_tcb->m_congState == State::CA_DISORDER || m_tcb->m_congState == State::CA_CWR)
    {
        BeginRecovery(0);
    }
    SendPendingData(m_connected);
}

bool LinuxConnection::IsReducing() const
{
    return m_tcb->m_congState == State::CA_RECOVERY || m_tcb->m_congState == State::CA_CWR;
}

/// What is lost is sent by ns-3 when the acknowledgement has been taken, as the window permits.
void LinuxConnection::BeginRecovery(std::uint32_t delivered)
{
    const bool isReduced = m_tcb->m_congState == State::CA_CWR;
    m_recover = m_tcb->m_highTxMark;
    m_recoverActive = true;
    Enter(State::CA_RECOVERY);
    if (isReduced)
    {
        return;
    }
    const auto unacknowledged = UnAckDataCount() - m_txBuffer->GetSacked() + delivered;
    m_tcb->m_ssThresh = m_congestionControl->GetSsThresh(m_tcb, BytesInFlight());
    if (!m_congestionControl->HasCongControl())
    {
        m_recoveryOps->EnterRecovery(m_tcb, 1, unacknowledged, delivered);
    }
}

void LinuxConnection::EndRecovery()
{
    m_congestionControl->CwndEvent(m_tcb, State::CA_EVENT_COMPLETE_CWR);
    Enter(State::CA_OPEN);
    if (!m_congestionControl->HasCongControl())
    {
        m_tcb->m_cWnd = m_tcb->m_ssThresh.Get();
        m_recoveryOps->ExitRecovery(m_tcb);
    }
}

void LinuxConnection::Enter(State::TcpCongState_t state)
{
    m_congestionControl->CongestionStateSet(m_tcb, state);
    m_tcb->m_congState = state;
}

/// As tcp_ack_update_rtt(), of segments that were acknowledged selectively, too: in a recovery there are no others, and a queue
/// that grows meanwhile would end in a timeout. The timer starts anew when they are older than what it is for.
ns3::Time LinuxConnection::TakeRoundTrips(bool isNew)
{
    const auto [first, last] = m_rack->TakeRoundTrips();
    if (first.IsZero())
    {
        return last;
    }
    m_rtt->Measurement(first);
    m_rto = std::max(m_rtt->GetEstimate() + std::max(m_clockGranularity, m_rtt->GetVariation() * 4), m_minRto);
    m_tcb->m_srtt = m_rtt->GetEstimate();
    m_tcb->m_lastRtt = last;
    m_tcb->m_minRtt = std::min(m_tcb->m_minRtt, last);
    const auto& sent = Scoreboard(m_txBuffer).Segments();
    if (!isNew && !sent.empty() && ns3::Simulator::Now() - first < sent.front()->GetLastSent())
    {
        m_retxEvent.Cancel();
        m_retxEvent = ns3::Simulator::Schedule(m_rto, &LinuxConnection::ReTxTimeout, this);
    }
    return last;
}

/// The window grows by what has arrived, as in tcp_cong_control(): not in a reduction, and not while it is not used.
void LinuxConnection::TakeArrivals(std::uint32_t delivered, bool isNew, const ns3::Time& roundTrip)
{
    if (delivered == 0)
    {
        return;
    }
    m_bytesAckedNotProcessed += delivered;
    const auto segments = m_bytesAckedNotProcessed / m_tcb->m_segmentSize;
    m_bytesAckedNotProcessed %= m_tcb->m_segmentSize;
    m_congestionControl->PktsAcked(m_tcb, segments, roundTrip);
    const bool isSlowStart = m_tcb->m_cWnd < m_tcb->m_ssThresh;
    m_tcb->m_isCwndLimited = m_usesWindow || (isSlowStart && m_tcb->m_cWnd / 2 < m_used);
    if (isNew && segments > 0 && !IsReducing() && m_tcb->m_isCwndLimited)
    {
        m_congestionControl->IncreaseWindow(m_tcb, segments);
        m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    }
}

std::uint32_t LinuxConnection::AvailableWindow() const
{
    if (m_paces && m_pacing.Wait().IsStrictlyPositive())
    {
        return 0;
    }
    // ns-3 waits for a whole segment, too, but first looks through all that is on its way for the next one.
    const auto window = TcpConnection::AvailableWindow();
    const bool waits = window < m_tcb->m_segmentSize && m_txBuffer->SizeFromSequence(m_tcb->m_highTxMark) > window;
    return waits ? 0 : window;
}

/// ns-3 would send the same, but looks through all that is on its way for each of them.
void LinuxConnection::SendNew()
{
    const auto segment = m_tcb->m_segmentSize;
    const bool isThere = m_endPoint != nullptr || m_endPoint6 != nullptr; // ns-3 gives up after too many timeouts
    while (isThere && (m_state == ESTABLISHED || m_state == CLOSE_WAIT) && m_txBuffer->GetLost() == 0 && BytesInFlight() > 0 &&
           UnAckDataCount() + segment <= m_rWnd && m_txBuffer->SizeFromSequence(m_tcb->m_highTxMark) >= segment &&
           AvailableWindow() >= segment)
    {
        const auto next = m_tcb->m_highTxMark.Get();
        m_tcb->m_nextTxSequence = next + SendDataPacket(next, segment, m_connected);
    }
}

std::uint32_t LinuxConnection::SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck)
{
    const bool again = sequence < m_tcb->m_highTxMark;
    const auto sent = TcpConnection::SendDataPacket(sequence, most, withAck);
    if (again)
    {
        m_rack->SentAgain(sequence + ns3::SequenceNumber32(sent));
    }
    NoteUse();
    if (m_paces)
    {
        m_pacing.Sent(sent, m_tcb->m_pacingRate, m_tcb->m_segmentSize);
        if (const auto next = m_pacing.NextBurst(); next.IsStrictlyPositive() && !m_burst.IsPending())
        {
            m_burst = ns3::Simulator::Schedule(next, &LinuxConnection::Resume, this);
        }
    }
    return sent;
}

/// As tcp_cwnd_validate(): the most that was used since the last round trip began, or that the window was the limit.
void LinuxConnection::NoteUse()
{
    const bool isLimit = m_tcb->m_isCwndLimited;
    const auto used = UnAckDataCount();
    if (m_usedUntil <= m_txBuffer->HeadSequence() || isLimit || (!m_usesWindow && m_used < used))
    {
        m_usesWindow = isLimit;
        m_used = used;
        m_usedUntil = m_tcb->m_highTxMark;
    }
}

void LinuxConnection::Resume()
{
    if (const auto wait = m_pacing.Wait(); wait.IsStrictlyPositive()) // the burst was longer than its first segment
    {
        m_burst = ns3::Simulator::Schedule(wait, &LinuxConnection::Resume, this);
        return;
    }
    SendNew();
    SendPendingData(m_connected);
}

/// As tcp_update_pacing_rate(); what has a model of the path sets it itself.
void LinuxConnection::UpdateRate()
{
    if (!m_paces || m_congestionControl->HasCongControl() || !m_tcb->m_srtt.Get().IsStrictlyPositive())
    {
        return;
    }
    const double factor = m_tcb->m_cWnd < m_tcb->m_ssThresh / 2 ? IN_SLOW_START : LATER;
    const auto window = std::max(m_tcb->m_cWnd.Get(), UnAckDataCount());
    const ns3::DataRate rate(static_cast<std::uint64_t>(factor * window * 8 / m_tcb->m_srtt.Get().GetSeconds()));
    m_tcb->m_pacingRate = std::min(rate, m_tcb->m_maxPacingRate);
}

} // namespace netboxit
