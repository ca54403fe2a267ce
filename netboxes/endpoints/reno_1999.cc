// SPDX-License-Identifier: GPL-2.0-or-later
#include "reno_1999.h"

#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <cstdlib>

namespace netboxit
{

namespace
{

/// Defaults of ns-2 2.1b4 (ns-default.tcl: tcpTick_, window_, rtxcur_init_) and of its back-off (tcp.cc).
const auto TICK = ns3::MilliSeconds(500);
constexpr std::uint32_t LARGEST_WINDOW = 20;
constexpr std::uint32_t SMALLEST_THRESHOLD = 2;
constexpr std::int64_t FIRST_TIMEOUT_TICKS = 12;
constexpr std::int64_t LARGEST_BACKOFF = 64;
/// Beyond it the smoothed round trip is believed no more.
constexpr std::int64_t TRUSTED_BACKOFF = 8;

/// One segment more for each acknowledgement below the threshold, one for each round trip above it.
class Reno1999Control : public ns3::TcpNewReno
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static const auto type = ns3::TypeId("netboxit::Reno1999Control").SetParent<ns3::TcpNewReno>();
        return type;
    }

    /// For each acknowledgement of something new, also of the last segment that a timeout had sent again: of that ns-3 says that
    /// it acknowledges none.
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t) override
    {
        TcpNewReno::IncreaseWindow(state, 1);
        state->m_cWnd = std::min(state->m_cWnd.Get(), LARGEST_WINDOW * state->m_segmentSize);
    }

    std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t) override
    {
        return std::max(SMALLEST_THRESHOLD, state->GetCwndInSegments() / 2) * state->m_segmentSize;
    }

    ns3::Ptr<ns3::TcpCongestionOps> Fork() override
    {
        return ns3::CopyObject<Reno1999Control>(this);
    }
};

} // namespace

ns3::TypeId Reno1999::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::Reno1999").SetParent<TcpConnection>();
    return type;
}

void Reno1999::Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream)
{
    TcpConnection::Configure(options, mtu, randomStream);
    SetInitialSSThresh(options.ssthresh.value_or(LARGEST_WINDOW * m_tcb->m_segmentSize));
    SetConnTimeout(FIRST_TIMEOUT_TICKS * TICK);
    SetCongestionControlAlgorithm(ns3::CreateObject<Reno1999Control>());
    SetRecoveryAlgorithm(ns3::CreateObject<ns3::TcpClassicRecovery>());
    m_began = ns3::Simulator::Now();
    m_timeout = FIRST_TIMEOUT_TICKS;
}

ns3::Ptr<ns3::TcpSocketBase> Reno1999::Fork()
{
    return ns3::CopyObject<Reno1999>(this);
}

/// ns-3 reckons a timeout of its own with each.
void Reno1999::SendEmptyPacket(std::uint8_t flags)
{
    TcpConnection::SendEmptyPacket(flags);
    m_rto = Timeout();
}

std::uint32_t Reno1999::SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck)
{
    const bool again = sequence < m_tcb->m_highTxMark;
    const auto sent = TcpConnection::SendDataPacket(sequence, most, withAck);
    const auto end = sequence + ns3::SequenceNumber32(sent);
    if (!again && !m_timed)
    {
        m_timed = {end, ns3::Simulator::Now()};
    }
    else if (again && m_timed && sequence < m_timed->end)
    {
        m_timed.reset(); // Karn and Partridge, 1987
    }
    return sent;
}

std::uint32_t Reno1999::AvailableWindow() const
{
    if (m_sackEnabled)
    {
        return TcpConnection::AvailableWindow();
    }
    auto window = m_tcb->m_cWnd.Get();
    auto inFlight = BytesInFlight();
    if (m_tcb->m_congState == ns3::TcpSocketState::CA_LOSS && m_duplicates >= m_retxThresh)
    {
        // ns-3 does not heed duplicates after a timeout.
        window += m_duplicates * m_tcb->m_segmentSize;
    }
    else if (m_tcb->m_congState == ns3::TcpSocketState::CA_DISORDER && m_dupAckCount < m_retxThresh)
    {
        // No limited transmit (RFC 3042 is of 2001): ns-3 counts the first duplicates as segments that have left the network.
        inFlight += m_dupAckCount * m_tcb->m_segmentSize;
    }
    window = std::min(window, m_rWnd.Get());
    return window - std::min(window, inFlight);
}

void Reno1999::ReceivedAck(ns3::Ptr<ns3::Packet> segment, const ns3::TcpHeader& header)
{
    m_rWnd = std::min(m_rWnd.Get(), LARGEST_WINDOW * m_tcb->m_segmentSize);
    const auto acknowledged = header.GetAckNumber();
    if (m_sackEnabled)
    {
        TcpConnection::ReceivedAck(segment, header);
    }
    else if (acknowledged <= m_txBuffer->HeadSequence())
    {
        ReceivedDuplicate(segment, header);
    }
    else
    {
        ReceivedNewAck(segment, header);
    }
}

void Reno1999::ReceivedDuplicate(const ns3::Ptr<ns3::Packet>& segment, const ns3::TcpHeader& header)
{
    const bool wasRecovering = m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY;
    const auto acknowledged = header.GetAckNumber();
    if (acknowledged == m_txBuffer->HeadSequence() && acknowledged < m_tcb->m_highTxMark && segment->GetSize() == 0)
    {
        ++m_duplicates;
    }
    TcpConnection::ReceivedAck(segment, header);
    if (!wasRecovering && m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY)
    {
        BeginRecovery();
        RestartTimer(Timeout());
    }
}

/// Of a new acknowledgement NewReno (RFC 6582) concludes that the next segment is lost; Reno does not.
void Reno1999::ReceivedNewAck(const ns3::Ptr<ns3::Packet>& segment, const ns3::TcpHeader& header)
{
    m_duplicates = 0;
    m_txBuffer->ResetRenoSack();
    const bool ends = m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY && header.GetAckNumber() < m_recover;
    const auto recover = m_recover;
    m_recover = ends ? header.GetAckNumber() : recover;
    TcpConnection::ReceivedAck(segment, header);
    if (ends)
    {
        m_recover = recover;
        m_recoverActive = true;
    }
}

/// No second fast retransmission before something is acknowledged that is sent from now on.
void Reno1999::BeginRecovery()
{
    m_recover = m_tcb->m_highTxMark + 1;
    m_recoverActive = true;
}

void Reno1999::EstimateRtt(const ns3::TcpHeader& header)
{
    m_history.clear();
    m_timeoutBefore = Timeout();
    if (m_timed && header.GetAckNumber() >= m_timed->end)
    {
        const auto now = ns3::Simulator::Now();
        const auto sent = m_timed->sent;
        m_timed.reset();
        m_tcb->m_lastRtt = now - sent;
        m_tcb->m_minRtt = std::min(m_tcb->m_minRtt, now - sent);
        Sample(((now - m_began) / TICK).GetHigh() - ((sent - m_began) / TICK).GetHigh());
    }
    m_rto = Timeout();
}

/// Jacobson 1988, appendix A, in whole ticks.
void Reno1999::Sample(std::int64_t ticks)
{
    ticks = std::max<std::int64_t>(ticks, 1);
    if (m_smoothed == 0)
    {
        m_smoothed = 8 * ticks;
        m_variation = 2 * ticks;
    }
    else
    {
        const auto error = ticks - m_smoothed / 8;
        m_smoothed = std::max<std::int64_t>(m_smoothed + error, 1);
        m_variation = std::max<std::int64_t>(m_variation + std::abs(error) - m_variation / 4, 1);
    }
    m_timeout = (m_smoothed + 8 * m_variation) / 8;
    m_backoff = 1;
    m_tcb->m_srtt = ns3::TimeStep(TICK.GetTimeStep() * m_smoothed / 8);
}

ns3::Time Reno1999::Timeout() const
{
    return ns3::Max(m_timeout * TICK, m_minRto) * m_backoff;
}

void Reno1999::RestartTimer(ns3::Time timeout)
{
    m_rto = Timeout();
    if (m_retxEvent.IsPending())
    {
        m_retxEvent.Cancel();
        m_retxEvent = ns3::Simulator::Schedule(timeout, &Reno1999::ReTxTimeout, this);
    }
}

/// While something is on its way, the timer starts again before the acknowledgement's round trip counts, as in ns-2 until 2001 (its
/// `timerfix_`): after a timeout it has the back-off once more.
void Reno1999::NewAck(const ns3::SequenceNumber32& sequence, bool resetRto)
{
    TcpConnection::NewAck(sequence, resetRto);
    RestartTimer(sequence < m_tcb->m_highTxMark ? m_timeoutBefore : Timeout());
}

void Reno1999::ReTxTimeout()
{
    if (m_state == SYN_SENT || m_txBuffer->Size() == 0)
    {
        TcpConnection::ReTxTimeout();
        return;
    }
    m_backoff = std::min(2 * m_backoff, LARGEST_BACKOFF);
    if (m_backoff > TRUSTED_BACKOFF)
    {
        m_variation += m_smoothed / 8;
        m_smoothed = 0;
    }
    m_timed.reset();
    m_duplicates = 0;
    const auto threshold = m_congestionControl->GetSsThresh(m_tcb, 0);
    TcpConnection::ReTxTimeout();
    m_tcb->m_ssThresh = threshold; // ns-3 leaves it when a segment is lost again (RFC 5681 of 2009)
    if (!m_sackEnabled)
    {
        BeginRecovery();
    }
    RestartTimer(Timeout());
}

} // namespace netboxit
