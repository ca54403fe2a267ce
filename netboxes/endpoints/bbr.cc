// SPDX-License-Identifier: GPL-2.0-or-later
#include "bbr.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace netboxit
{

namespace
{

/// 2/ln 2: the least gain that doubles the rate each round trip (draft, 4.3.2.1).
constexpr double HIGH_GAIN = 2.885;
constexpr double WINDOW_GAIN = 2;
/// 4.3.4.1: a round trip each.
constexpr std::array CYCLE{1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
constexpr unsigned PROBES_UP = 0;
/// Paced a little below the path's rate (bbr_pacing_margin_percent).
constexpr double MARGIN = 0.99;
/// Startup ends when the rate grew by less than a quarter in three rounds (4.3.2.2).
constexpr double GROWTH = 1.25;
constexpr unsigned ROUNDS_WITHOUT_GROWTH = 3;
/// 4.3.5.
const auto ROUND_TRIP_HOLDS = ns3::Seconds(10);
const auto PROBE_LASTS = ns3::MilliSeconds(200);
constexpr std::uint32_t SMALLEST_WINDOW = 4; ///< segments
/// bbr_extra_acked_win_rtts, and the most of an aggregate that counts (bbr_extra_acked_max_us).
constexpr unsigned AGGREGATE_ROUNDS = 5;
constexpr double LARGEST_AGGREGATE_S = 0.1;
/// Bursts on their way at once: one that is made, one at each of the ends (bbr_quantization_budget).
constexpr std::uint32_t BURSTS = 3;

} // namespace

NS_OBJECT_ENSURE_REGISTERED(Bbr);

ns3::TypeId Bbr::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::Bbr").SetParent<ns3::TcpCongestionOps>().AddConstructor<Bbr>();
    return type;
}

void Bbr::SetStream(std::int64_t stream)
{
    m_random = ns3::CreateObject<ns3::UniformRandomVariable>();
    m_random->SetStream(stream);
}

void Bbr::Observe(const BurstPacing& pacing, ns3::Ptr<DeliveryRate> samples)
{
    m_pacing = &pacing;
    m_samples = std::move(samples);
}

std::string Bbr::GetName() const
{
    return "Bbr";
}

bool Bbr::HasCongControl() const
{
    return true;
}

ns3::Ptr<ns3::TcpCongestionOps> Bbr::Fork()
{
    return ns3::CopyObject<Bbr>(this);
}

void Bbr::PktsAcked(State, std::uint32_t, const ns3::Time& roundTrip)
{
    m_sample = roundTrip;
}

void Bbr::CongControl(State state, const ns3::TcpRateOps::TcpRateConnection&, const Sample& sample)
{
    Begin(state);
    UpdateRate(state, sample);
    UpdateAggregation(state, sample);
    UpdateCycle(state, sample);
    CheckStartup(sample);
    CheckDrain(state);
    UpdateRoundTrip(state, sample);
    SetPacingRate(state, PacingGain());
    SetWindow(state, sample);
    m_sample = {};
}

void Bbr::Begin(const State& state)
{
    if (!m_began)
    {
        m_began = true;
        m_windowBefore = state->m_cWnd;
        m_aggregateBegan = m_leastSeen = ns3::Simulator::Now();
        SetFirstPacingRate(state);
    }
}

void Bbr::UpdateRate(const State& state, const Sample& sample)
{
    m_isRoundStart = false;
    if (sample.m_delivered < 0 || !sample.m_interval.IsStrictlyPositive())
    {
        return;
    }
    if (sample.m_priorDelivered >= m_roundEnds)
    {
        m_roundEnds = Delivered();
        ++m_round;
        m_isRoundStart = true;
        m_conservesPackets = false;
    }
    const auto rate = sample.m_deliveryRate.GetBitRate();
    if (!sample.m_isAppLimited || rate >= Rate())
    {
        m_rate.Update(rate, m_round);
    }
}

/// What is acknowledged above the rate at which it should be (draft-cardwell-iccrg-bbr-congestion-control-02, 4.5.5).
void Bbr::UpdateAggregation(const State& state, const Sample& sample)
{
    if (sample.m_ackedSacked == 0 || sample.m_delivered < 0 || !sample.m_interval.IsStrictlyPositive())
    {
        return;
    }
    if (m_isRoundStart && ++m_aggregateRounds >= AGGREGATE_ROUNDS)
    {
        m_aggregateRounds = 0;
        m_aggregateNow ^= 1U;
        m_aggregates.at(m_aggregateNow) = 0;
    }
    const auto passed = (ns3::Simulator::Now() - m_aggregateBegan).GetSeconds();
    auto expected = static_cast<std::uint64_t>(static_cast<double>(Rate()) / 8 * passed);
    if (m_aggregate <= expected)
    {
        m_aggregate = expected = 0;
        m_aggregateBegan = ns3::Simulator::Now();
    }
    m_aggregate += sample.m_ackedSacked;
    const auto more = static_cast<std::uint32_t>(std::min<std::uint64_t>(m_aggregate - expected, state->m_cWnd));
    m_aggregates.at(m_aggregateNow) = std::max(m_aggregates.at(m_aggregateNow), more);
}

void Bbr::UpdateCycle(const State& state, const Sample& sample)
{
    if (m_mode != Mode::ProbeBandwidth)
    {
        return;
    }
    const bool isOver = ns3::Simulator::Now() - m_phaseBegan > m_leastRoundTrip;
    const auto gain = PacingGain();
    const auto inNetwork = InNetwork(state, sample.m_priorInFlight);
    if (gain > 1 ? isOver && (sample.m_bytesLoss > 0 || inNetwork >= InFlight(state, gain))
                 : isOver || (gain < 1 && inNetwork <= InFlight(state, 1)))
    {
        AdvanceCycle();
    }
}

void Bbr::CheckStartup(const Sample& sample)
{
    if (m_isFull || !m_isRoundStart || sample.m_isAppLimited)
    {
        return;
    }
    if (static_cast<double>(Rate()) >= GROWTH * static_cast<double>(m_fullRate))
    {
        m_fullRate = Rate();
        m_roundsWithoutGrowth = 0;
        return;
    }
    m_isFull = ++m_roundsWithoutGrowth >= ROUNDS_WITHOUT_GROWTH;
}

void Bbr::CheckDrain(const State& state)
{
    if (m_mode == Mode::Startup && m_isFull)
    {
        m_mode = Mode::Drain;
        state->m_ssThresh = InFlight(state, 1) * state->m_segmentSize;
    }
    if (m_mode == Mode::Drain && InNetwork(state, state->m_bytesInFlight) <= InFlight(state, 1))
    {
        ProbeBandwidth();
    }
}

/// It begins at any phase but the one that drains.
void Bbr::ProbeBandwidth()
{
    m_mode = Mode::ProbeBandwidth;
    m_phase = static_cast<unsigned>(CYCLE.size() - 1 - m_random->GetInteger(0, CYCLE.size() - 2));
    AdvanceCycle();
}

void Bbr::AdvanceCycle()
{
    m_phase = (m_phase + 1) % CYCLE.size();
    m_phaseBegan = ns3::Simulator::Now();
}

void Bbr::UpdateRoundTrip(const State& state, const Sample& sample)
{
    const auto now = ns3::Simulator::Now();
    const bool isOld = now > m_leastSeen + ROUND_TRIP_HOLDS;
    if (m_sample.IsStrictlyPositive() && (m_sample < m_leastRoundTrip || isOld))
    {
        m_leastRoundTrip = m_sample;
        m_leastSeen = now;
    }
    if (isOld && !m_startsFromIdle && m_mode != Mode::ProbeRoundTrip)
    {
        SaveWindow(*state);
        m_mode = Mode::ProbeRoundTrip;
        m_probeEnds = {};
    }
    if (m_mode == Mode::ProbeRoundTrip)
    {
        ProbeRoundTrip(state);
    }
    if (sample.m_delivered > 0)
    {
        m_startsFromIdle = false;
    }
}

void Bbr::ProbeRoundTrip(const State& state)
{
    m_samples->LimitByApplication(state->m_bytesInFlight);
    if (!m_probeEnds.IsZero())
    {
        m_isProbeRoundOver |= m_isRoundStart;
        if (m_isProbeRoundOver)
        {
            EndProbeIfDone(state);
        }
    }
    else if (state->m_bytesInFlight <= SMALLEST_WINDOW * state->m_segmentSize)
    {
        m_probeEnds = ns3::Simulator::Now() + PROBE_LASTS;
        m_isProbeRoundOver = false;
        m_roundEnds = Delivered();
    }
}

void Bbr::EndProbeIfDone(const State& state)
{
    if (m_probeEnds.IsZero() || ns3::Simulator::Now() <= m_probeEnds)
    {
        return;
    }
    m_leastSeen = ns3::Simulator::Now();
    state->m_cWnd = std::max(state->m_cWnd.Get(), m_windowBefore);
    if (m_isFull)
    {
        ProbeBandwidth();
    }
    else
    {
        m_mode = Mode::Startup;
    }
}

void Bbr::SetPacingRate(const State& state, double gain)
{
    if (!m_hasRoundTrip && m_leastRoundTrip != ns3::Time::Max())
    {
        SetFirstPacingRate(state);
    }
    const ns3::DataRate rate(static_cast<std::uint64_t>(MARGIN * gain * static_cast<double>(Rate())));
    if (m_isFull || rate > state->m_pacingRate)
    {
        state->m_pacingRate = std::min(rate, state->m_maxPacingRate);
    }
}

/// The window each round trip, or each millisecond as long as that is not known.
void Bbr::SetFirstPacingRate(const State& state)
{
    m_hasRoundTrip = state->m_srtt.Get().IsStrictlyPositive();
    const auto roundTrip = m_hasRoundTrip ? state->m_srtt.Get() : ns3::MilliSeconds(1);
    const auto rate = MARGIN * HIGH_GAIN * state->m_cWnd * 8 / roundTrip.GetSeconds();
    state->m_pacingRate = std::min(ns3::DataRate(static_cast<std::uint64_t>(rate)), state->m_maxPacingRate);
}

void Bbr::SetWindow(const State& state, const Sample& sample)
{
    const auto segment = state->m_segmentSize;
    const auto least = SMALLEST_WINDOW * segment;
    if (sample.m_ackedSacked > 0 && !Recover(state, sample))
    {
        auto target = Product(state, WindowGain());
        if (m_isFull)
        {
            const auto largest = static_cast<std::uint32_t>(static_cast<double>(Rate()) / 8 * LARGEST_AGGREGATE_S);
            target += std::min(std::max(m_aggregates[0], m_aggregates[1]), largest) / segment;
        }
        target = WithBursts(state, target) * segment;
        const auto grown = state->m_cWnd.Get() + sample.m_ackedSacked;
        if (m_isFull)
        {
            state->m_cWnd = std::min(grown, target);
        }
        else if (state->m_cWnd < target || Delivered() < state->m_initialCWnd * segment)
        {
            state->m_cWnd = grown;
        }
        state->m_cWnd = std::max(state->m_cWnd.Get(), least);
    }
    if (m_mode == Mode::ProbeRoundTrip)
    {
        state->m_cWnd = std::min(state->m_cWnd.Get(), least);
    }
}

/// In the first round trip of a recovery as much leaves as arrives (draft, 4.2.3.4).
bool Bbr::Recover(const State& state, const Sample& sample)
{
    if (sample.m_bytesLoss > 0)
    {
        state->m_cWnd = std::max(state->m_cWnd.Get(), sample.m_bytesLoss + state->m_segmentSize) - sample.m_bytesLoss;
    }
    const auto conserved = state->m_bytesInFlight.Get() + sample.m_ackedSacked;
    const bool isRecovering = state->m_congState == ns3::TcpSocketState::CA_RECOVERY;
    const bool isLoss = state->m_congState == ns3::TcpSocketState::CA_LOSS;
    if (isRecovering && !m_wasRecovering)
    {
        m_conservesPackets = true;
        m_roundEnds = Delivered();
        state->m_cWnd = conserved;
    }
    else if (m_wasRecovering && !isRecovering && !isLoss)
    {
        m_conservesPackets = false;
        state->m_cWnd = std::max(state->m_cWnd.Get(), m_windowBefore);
    }
    m_wasRecovering = isRecovering || isLoss;
    if (m_conservesPackets)
    {
        state->m_cWnd = std::max(state->m_cWnd.Get(), conserved);
    }
    return m_conservesPackets;
}

void Bbr::SaveWindow(const ns3::TcpSocketState& state)
{
    const bool isLess = m_wasRecovering || m_mode == Mode::ProbeRoundTrip;
    m_windowBefore = isLess ? std::max(m_windowBefore, state.m_cWnd.Get()) : state.m_cWnd.Get();
}

/// Called at each loss. The threshold means nothing to BBR; without selective acknowledgements ns-3 takes it for the window
/// that follows a recovery.
std::uint32_t Bbr::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t)
{
    SaveWindow(*state);
    return m_windowBefore;
}

void Bbr::CongestionStateSet(State, ns3::TcpSocketState::TcpCongState_t next)
{
    if (next == ns3::TcpSocketState::CA_LOSS)
    {
        m_wasRecovering = true;
        m_fullRate = 0;
        m_isRoundStart = true;
    }
}

/// After a pause that its application made, the path's rate is what it was, and so it is paced.
void Bbr::CwndEvent(State state, ns3::TcpSocketState::TcpCAEvent_t event)
{
    if (event != ns3::TcpSocketState::CA_EVENT_TX_START || m_samples->GetConnectionRate().m_appLimited == 0)
    {
        return;
    }
    m_startsFromIdle = true;
    m_aggregateBegan = ns3::Simulator::Now();
    m_aggregate = 0;
    if (m_mode == Mode::ProbeBandwidth)
    {
        SetPacingRate(state, 1);
    }
    // After a timeout the window is a segment until something is acknowledged, which then ends the probe.
    else if (m_mode == Mode::ProbeRoundTrip && m_isProbeRoundOver && state->m_congState != ns3::TcpSocketState::CA_LOSS)
    {
        EndProbeIfDone(state);
    }
}

double Bbr::PacingGain() const
{
    switch (m_mode)
    {
    case Mode::Startup:
        return HIGH_GAIN;
    case Mode::Drain:
        return 1 / HIGH_GAIN;
    case Mode::ProbeBandwidth:
        return CYCLE.at(m_phase);
    case Mode::ProbeRoundTrip:
        break;
    }
    return 1;
}

double Bbr::WindowGain() const
{
    switch (m_mode)
    {
    case Mode::Startup:
    case Mode::Drain:
        return HIGH_GAIN;
    case Mode::ProbeBandwidth:
        return WINDOW_GAIN;
    case Mode::ProbeRoundTrip:
        break;
    }
    return 1;
}

std::uint64_t Bbr::Delivered() const
{
    return m_samples->GetConnectionRate().m_delivered;
}

std::uint64_t Bbr::Rate() const
{
    return m_rate.GetBest();
}

std::uint32_t Bbr::Burst(const State& state) const
{
    return BurstPacing::Segments(state->m_pacingRate, state->m_segmentSize);
}

std::uint32_t Bbr::Product(const State& state, double gain) const
{
    if (m_leastRoundTrip == ns3::Time::Max())
    {
        return state->m_initialCWnd;
    }
    const auto bytes = static_cast<double>(Rate()) / 8 * m_leastRoundTrip.GetSeconds();
    return static_cast<std::uint32_t>(std::ceil(gain * bytes / state->m_segmentSize));
}

/// An even number: a receiver acknowledges two segments at once.
std::uint32_t Bbr::WithBursts(const State& state, std::uint32_t segments) const
{
    const auto even = (segments + BURSTS * Burst(state) + 1) / 2 * 2;
    return even + (m_mode == Mode::ProbeBandwidth && m_phase == PROBES_UP ? 2 : 0);
}

std::uint32_t Bbr::InFlight(const State& state, double gain) const
{
    return WithBursts(state, Product(state, gain));
}

/// What arrives until the next burst leaves has left the network, and a burst is added while it probes for more.
std::uint32_t Bbr::InNetwork(const State& state, std::uint32_t bytes) const
{
    const auto segment = state->m_segmentSize;
    const auto then = (bytes + segment - 1) / segment + (PacingGain() > 1 ? Burst(state) : 0);
    const auto arrive = static_cast<double>(Rate()) / 8 * m_pacing->NextBurst().GetSeconds() / segment;
    return then - std::min(static_cast<std::uint32_t>(arrive), then);
}

} // namespace netboxit
