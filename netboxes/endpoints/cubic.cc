// SPDX-License-Identifier: GPL-2.0-or-later
#include "cubic.h"

#include "ns3/simulator.h"
#include "ns3/tcp-socket-state.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// RFC 9438, 4.1 and 4.6: segments/s³, and what is left of a window at a loss.
constexpr double C = 0.4;
constexpr double BETA = 0.7;
/// 4.3: Reno with that decrease grows by a segment each 1/0.529 windows.
constexpr double RENO_STEP = (1 + BETA) / 3 / (1 - BETA);
/// Before the first loss a window grows at least by a twentieth each round trip, and never by more than a half.
constexpr std::uint32_t FIRST_STEP = 20;
constexpr std::uint32_t SHORTEST_STEP = 2;
constexpr std::uint32_t LONGEST_STEP = 100; ///< windows
/// No round trips are taken so long after a loss.
const auto QUIET = ns3::Seconds(1);

/// hystart_low_window, segments.
constexpr std::uint32_t HYBRID_FROM = 16;
/// hystart_ack_delta_us: acknowledgements of a train are at most so far apart.
const auto TRAIN_GAP = ns3::MilliSeconds(2);
/// hystart_ack_delay(): a train is longer by what segmentation offload holds back.
const auto OFFLOAD = ns3::MilliSeconds(1);
constexpr unsigned SAMPLES = 8;
const auto LEAST_INCREASE = ns3::MilliSeconds(4);
const auto MOST_INCREASE = ns3::MilliSeconds(16);

} // namespace

NS_OBJECT_ENSURE_REGISTERED(Cubic);

ns3::TypeId Cubic::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::Cubic").SetParent<ns3::TcpCongestionOps>().AddConstructor<Cubic>();
    return type;
}

void Cubic::SetPaces(bool paces)
{
    m_paces = paces;
}

std::string Cubic::GetName() const
{
    return "Cubic";
}

ns3::Ptr<ns3::TcpCongestionOps> Cubic::Fork()
{
    return ns3::CopyObject<Cubic>(this);
}

void Cubic::PktsAcked(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t, const ns3::Time& roundTrip)
{
    const auto now = ns3::Simulator::Now();
    m_lastArrival = now;
    if (!roundTrip.IsStrictlyPositive() || (m_hasEpoch && now - m_epoch.began < QUIET))
    {
        return;
    }
    m_leastRoundTrip = std::min(m_leastRoundTrip, roundTrip);
    if (!m_left && state->m_cWnd < state->m_ssThresh && state->GetCwndInSegments() >= HYBRID_FROM)
    {
        LeaveSlowStart(state, roundTrip);
    }
}

/// It ends when acknowledgements arrive as one train for half of a round trip, or when round trips become longer: both tell of
/// a window that fills the path.
void Cubic::LeaveSlowStart(ns3::Ptr<ns3::TcpSocketState> state, const ns3::Time& roundTrip)
{
    const auto now = ns3::Simulator::Now();
    if (m_roundEnds < state->m_lastAckedSeq)
    {
        m_roundEnds = state->m_highTxMark;
        m_roundBegan = m_train = now;
        m_leastOfRound = ns3::Time::Max();
        m_samples = 0;
    }
    if (now - m_train <= TRAIN_GAP)
    {
        m_train = now;
        const auto fills = (m_leastRoundTrip + OFFLOAD) / (m_paces ? 1 : 2);
        m_left = now - m_roundBegan > fills;
    }
    m_leastOfRound = std::min(m_leastOfRound, roundTrip);
    if (m_samples < SAMPLES)
    {
        ++m_samples;
    }
    else
    {
        const auto increase = std::clamp(m_leastRoundTrip / 8, LEAST_INCREASE, MOST_INCREASE);
        m_left |= m_leastOfRound > m_leastRoundTrip + increase;
    }
    if (m_left)
    {
        state->m_ssThresh = state->m_cWnd.Get();
    }
}

void Cubic::IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments)
{
    if (!state->m_isCwndLimited)
    {
        return;
    }
    if (state->m_cWnd < state->m_ssThresh)
    {
        const auto room = (state->m_ssThresh.Get() - state->m_cWnd.Get() + state->m_segmentSize - 1) / state->m_segmentSize;
        const auto grown = std::min(segments, room);
        state->m_cWnd += grown * state->m_segmentSize;
        segments -= grown;
    }
    if (segments == 0)
    {
        return;
    }
    const auto step = Step(state->GetCwndInSegments(), segments);
    if (m_counted >= step) // as tcp_cong_avoid_ai(): the step was longer when this was counted
    {
        m_counted = 0;
        state->m_cWnd += state->m_segmentSize;
    }
    m_counted += segments;
    state->m_cWnd += m_counted / step * state->m_segmentSize;
    m_counted %= step;
}

std::uint32_t Cubic::Step(std::uint32_t window, std::uint32_t segments)
{
    const auto now = ns3::Simulator::Now();
    if (!m_hasEpoch)
    {
        m_hasEpoch = true;
        const bool isBelow = window < m_most;
        m_epoch = {.began = now,
                   .k = isBelow ? std::cbrt((m_most - window) / C) : 0,
                   .origin = isBelow ? m_most : window,
                   .reno = window};
    }
    // The window that is to be there a round trip later (RFC 9438, 4.2).
    const auto ahead = m_leastRoundTrip == ns3::Time::Max() ? ns3::Time() : m_leastRoundTrip;
    const auto offset = (now + ahead - m_epoch.began).GetSeconds() - m_epoch.k;
    const auto target = m_epoch.origin + static_cast<std::int64_t>(C * offset * offset * offset); // whole segments
    auto step = target > window ? static_cast<std::uint32_t>(window / (target - window)) : LONGEST_STEP * window;
    if (m_most == 0)
    {
        step = std::min(step, FIRST_STEP);
    }
    m_epoch.renoCount += segments;
    const auto each = std::max(static_cast<std::uint32_t>(window * RENO_STEP), 1U);
    m_epoch.reno += m_epoch.renoCount / each;
    m_epoch.renoCount %= each;
    if (m_epoch.reno > window)
    {
        step = std::min(step, window / (m_epoch.reno - window));
    }
    return std::max(step, SHORTEST_STEP);
}

/// With fast convergence (RFC 9438, 4.7).
std::uint32_t Cubic::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t)
{
    const auto window = state->GetCwndInSegments();
    m_most = window < m_most ? static_cast<std::uint32_t>(window * (1 + BETA) / 2) : window;
    m_hasEpoch = false;
    m_counted = 0;
    return std::max(static_cast<std::uint32_t>(window * BETA), 2U) * state->m_segmentSize;
}

/// A timeout makes what was learnt of the path void (bictcp_reset).
void Cubic::CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state, ns3::TcpSocketState::TcpCongState_t next)
{
    if (next == ns3::TcpSocketState::CA_LOSS)
    {
        m_most = 0;
        m_hasEpoch = false;
        m_leastRoundTrip = ns3::Time::Max();
        m_left = false;
        m_roundEnds = state->m_lastAckedSeq;
    }
}

/// A pause is no part of the function's time.
void Cubic::CwndEvent(ns3::Ptr<ns3::TcpSocketState>, ns3::TcpSocketState::TcpCAEvent_t event)
{
    if (event == ns3::TcpSocketState::CA_EVENT_TX_START && m_hasEpoch)
    {
        m_epoch.began += ns3::Simulator::Now() - m_lastArrival;
    }
}

} // namespace netboxit
