// SPDX-License-Identifier: GPL-2.0-or-later
#include "noordwijk.h"

#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// STAB: trains for each change.
constexpr unsigned TRAINS_FOR_A_CHANGE = 2;
/// Beta: round trips of a train that differ by more are congestion.
const auto CONGESTION = ns3::MilliSeconds(200);
constexpr std::uint32_t SMALLEST_BURST = 3;
/// Lambda, for the smallest burst.
constexpr std::int64_t SLOWER = 2;
/// How often a timeout doubles the timer: to 32 s from half a second.
constexpr unsigned MOST_DOUBLINGS = 6;

/// Its window is the burst, which others than it set.
class NoordwijkControl : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static const auto type = ns3::TypeId("netboxit::NoordwijkControl").SetParent<ns3::TcpCongestionOps>();
        return type;
    }

    std::string GetName() const override
    {
        return "Noordwijk";
    }

    std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t) override
    {
        return state->m_cWnd;
    }

    /// So that ns-3's recovery algorithms leave the window alone.
    bool HasCongControl() const override
    {
        return true;
    }

    ns3::Ptr<ns3::TcpCongestionOps> Fork() override
    {
        return ns3::CopyObject<NoordwijkControl>(this);
    }
};

} // namespace

ns3::TypeId Noordwijk::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::Noordwijk").SetParent<TcpConnection>();
    return type;
}

Noordwijk::~Noordwijk()
{
    m_next.Cancel();
}

void Noordwijk::Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream)
{
    TcpConnection::Configure(options, mtu, randomStream);
    SetCongestionControlAlgorithm(ns3::CreateObject<NoordwijkControl>());
    SetInitialCwnd(options.burst);
    SetTcpNoDelay(true);
    m_firstBurst = m_burst = options.burst;
    m_firstTimer = m_timer = options.burstTimer;
}

ns3::Ptr<ns3::TcpSocketBase> Noordwijk::Fork()
{
    return ns3::CopyObject<Noordwijk>(this);
}

/// What is on its way, and two bursts.
std::uint32_t Noordwijk::UsefulBacklog() const
{
    return UnAckDataCount() + 2 * m_firstBurst * m_tcb->m_segmentSize;
}

Json Noordwijk::Read() const
{
    auto values = TcpConnection::Read();
    values["burst"] = m_burst;
    values["burst_timer_ms"] = static_cast<double>(m_timer.GetNanoSeconds()) / 1e6;
    return values;
}

std::uint32_t Noordwijk::AvailableWindow() const
{
    // Before the first segment its size is not agreed upon; the timer runs from that segment on.
    const auto allowed = m_next.IsPending() ? m_allowed : NextBurst();
    if (allowed <= 0 && m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY)
    {
        ns3::SequenceNumber32 next;
        ns3::SequenceNumber32 end;
        const bool isLost = m_txBuffer->GetLost() > 0 && m_txBuffer->NextSeg(&next, &end, false) && next < m_tcb->m_highTxMark;
        return isLost ? m_tcb->m_segmentSize : 0;
    }
    return static_cast<std::uint32_t>(std::max<std::int64_t>(allowed, 0));
}

std::uint32_t Noordwijk::SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck)
{
    BeginSending(); // the first burst has to know of the share
    if (!m_next.IsPending())
    {
        StartTimer();
    }
    const bool again = sequence < m_tcb->m_highTxMark;
    const auto sent = TcpConnection::SendDataPacket(sequence, most, withAck);
    const auto end = sequence + ns3::SequenceNumber32(sent);
    m_allowed -= sent;
    if (again)
    {
        for (auto& train : m_trains)
        {
            train.repeated |= sequence < train.end && train.begin < end;
        }
        return sent;
    }
    if (!m_isOpen)
    {
        m_trains.emplace_back(sequence);
        m_isOpen = true;
    }
    m_trains.back().end = end;
    ++m_trains.back().segments;
    return sent;
}

std::int64_t Noordwijk::NextBurst() const
{
    return std::min<std::int64_t>(m_allowed, 0) + std::int64_t{m_burst} * m_tcb->m_segmentSize;
}

void Noordwijk::StartTimer()
{
    m_isOpen = false;
    m_allowed = NextBurst();
    m_next = ns3::Simulator::Schedule(m_timer, &Noordwijk::Burst, this);
}

/// The timer stops where there is nothing to send; the next segment starts it.
void Noordwijk::Burst()
{
    NotifySend(GetTxAvailable()); // ns-3 asks an application only while there is some of its data
    SendPendingData(m_connected);
}

void Noordwijk::NewAck(const ns3::SequenceNumber32& sequence, bool resetRto)
{
    Take(sequence);
    TcpConnection::NewAck(sequence, resetRto);
    if (BytesInFlight() == 0)
    {
        m_retxEvent.Cancel(); // what waits for the next burst is not late
    }
    if (sequence >= m_recover)
    {
        m_timeoutsInTurn = 0;
    }
}

void Noordwijk::Take(const ns3::SequenceNumber32& acknowledged)
{
    while (!m_trains.empty() && m_trains.front().begin < acknowledged)
    {
        auto& train = m_trains.front();
        const auto now = ns3::Simulator::Now();
        if (train.acknowledgements++ == 0)
        {
            train.first = now;
        }
        train.least = std::min(train.least, m_tcb->m_lastRtt.Get());
        train.most = std::max(train.most, m_tcb->m_lastRtt.Get());
        if (acknowledged < train.end)
        {
            return;
        }
        if (!train.repeated && train.acknowledgements == train.segments && train.segments > 1)
        {
            Measure(train);
        }
        m_isOpen = m_isOpen && m_trains.size() > 1;
        m_trains.pop_front();
    }
}

void Noordwijk::Measure(const Train& train)
{
    if (++m_measured < TRAINS_FOR_A_CHANGE)
    {
        return;
    }
    m_measured = 0;
    const auto dispersion = (ns3::Simulator::Now() - train.first).GetSeconds();
    const auto difference = train.most - train.least;
    if (dispersion == 0)
    {
        return;
    }
    const auto timer = ns3::Seconds(m_firstBurst * dispersion / train.segments);
    if (difference > CONGESTION)
    {
        const auto burst = m_burst * dispersion / (dispersion + difference.GetSeconds());
        Use(burst, burst <= SMALLEST_BURST ? SLOWER * timer : timer);
    }
    else
    {
        Use(m_burst + (m_firstBurst - m_burst) / 2.0, timer);
    }
}

/// Whole segments, rounded up: that half of the rest to the first burst comes to an end.
void Noordwijk::Use(double segments, ns3::Time timer)
{
    const auto least = std::min(SMALLEST_BURST, m_firstBurst);
    m_burst = std::clamp(static_cast<std::uint32_t>(std::ceil(segments)), least, m_firstBurst);
    m_timer = timer;
    m_tcb->m_cWnd = m_burst * m_tcb->m_segmentSize;
    KeepRate();
}

void Noordwijk::UseShare(std::optional<middleware::Rate> share)
{
    TcpConnection::UseShare(share);
    KeepRate();
}

/// Where a burst each timer is more than the share, the burst becomes BURST = BW TX/(8 MSS), in whole segments and at least 3, as
/// in the authors' own code; then the timer becomes TX = 8 MSS BURST/BW, so that the rate is the share.
void Noordwijk::KeepRate()
{
    const auto share = ShareOfData();
    const double segmentBits = 8.0 * m_tcb->m_segmentSize;
    if (!share || m_burst * segmentBits <= static_cast<double>(*share) * m_timer.GetSeconds())
    {
        return;
    }
    const auto rate = static_cast<double>(std::max<middleware::Rate>(*share, 1));
    const auto least = std::min(SMALLEST_BURST, m_burst);
    m_burst = std::max(static_cast<std::uint32_t>(rate * m_timer.GetSeconds() / segmentBits), least);
    m_timer = ns3::Seconds(m_burst * segmentBits / rate);
    m_tcb->m_cWnd = m_burst * m_tcb->m_segmentSize;
}

void Noordwijk::ReTxTimeout()
{
    if (m_state == SYN_SENT || m_txBuffer->Size() == 0)
    {
        TcpConnection::ReTxTimeout();
        return;
    }
    m_timeoutsInTurn = std::min(m_timeoutsInTurn + 1, MOST_DOUBLINGS);
    m_measured = 0;
    m_next.Cancel();
    m_timer = m_firstTimer * (std::int64_t{1} << m_timeoutsInTurn);
    m_burst = m_firstBurst;
    KeepRate();
    StartTimer();
    // ns-3 permits one segment here; the others of the burst follow.
    m_allowed = m_tcb->m_segmentSize;
    TcpConnection::ReTxTimeout();
    m_tcb->m_cWnd = m_burst * m_tcb->m_segmentSize;
    m_allowed += std::int64_t{m_burst - 1} * m_tcb->m_segmentSize;
    ns3::Simulator::ScheduleNow(&Noordwijk::Burst, ns3::Ptr<Noordwijk>(this));
}

} // namespace netboxit
