// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_pacing.h"
#include "delivery_rate.h"

#include "ns3/random-variable-stream.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/windowed-filter.h"

#include <array>

namespace netboxit
{

/// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with what Linux's has besides: budgets for bursts and for
/// acknowledgements that come together. Without the long-term rate for paths that are policed. ns-3.44's counts bursts of one
/// segment, which leaves less in the queue, takes segments that were sent again for lost, and the time of an aggregate in whole
/// seconds.
class Bbr : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId();

    /// Of the random phase of its cycle.
    void SetStream(std::int64_t stream);
    /// Of the connection that this is of: when its next burst leaves, and its samples.
    void Observe(const BurstPacing& pacing, ns3::Ptr<DeliveryRate> samples);

    std::string GetName() const override;
    bool HasCongControl() const override;
    void PktsAcked(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments, const ns3::Time& roundTrip) override;
    void CongControl(ns3::Ptr<ns3::TcpSocketState> state,
                     const ns3::TcpRateOps::TcpRateConnection& connection,
                     const ns3::TcpRateOps::TcpRateSample& sample) override;
    std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t inFlight) override;
    void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state, ns3::TcpSocketState::TcpCongState_t next) override;
    void CwndEvent(ns3::Ptr<ns3::TcpSocketState> state, ns3::TcpSocketState::TcpCAEvent_t event) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    using State = ns3::Ptr<ns3::TcpSocketState>;
    using Sample = ns3::TcpRateOps::TcpRateSample;
    using MaximumRate =
        ns3::WindowedFilter<std::uint64_t, ns3::MaxFilter<std::uint64_t>, std::uint32_t, std::uint32_t>;

    enum class Mode
    {
        Startup,
        Drain,
        ProbeBandwidth,
        ProbeRoundTrip
    };

    void Begin(const State& state);
    // The model of the path, draft 4.1.
    void UpdateRate(const State& state, const Sample& sample);
    void UpdateAggregation(const State& state, const Sample& sample);
    void UpdateRoundTrip(const State& state, const Sample& sample);
    // The state machine, 4.3.
    void UpdateCycle(const State& state, const Sample& sample);
    void CheckStartup(const Sample& sample);
    void CheckDrain(const State& state);
    void ProbeBandwidth();
    void AdvanceCycle();
    void ProbeRoundTrip(const State& state);
    void EndProbeIfDone(const State& state);
    // What it controls, 4.2.
    void SetPacingRate(const State& state, double gain);
    void SetFirstPacingRate(const State& state);
    void SetWindow(const State& state, const Sample& sample);
    /// False: the window is what that says.
    bool Recover(const State& state, const Sample& sample);
    void SaveWindow(const ns3::TcpSocketState& state);

    double PacingGain() const;
    double WindowGain() const;
    std::uint64_t Delivered() const;
    std::uint64_t Rate() const; ///< bit/s
    std::uint32_t Burst(const State& state) const;                   ///< segments
    std::uint32_t Product(const State& state, double gain) const;    ///< of rate and round trip, segments
    std::uint32_t WithBursts(const State& state, std::uint32_t segments) const;
    std::uint32_t InFlight(const State& state, double gain) const;   ///< segments
    std::uint32_t InNetwork(const State& state, std::uint32_t bytes) const; ///< when the next burst leaves, segments

    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    const BurstPacing* m_pacing{nullptr};
    ns3::Ptr<DeliveryRate> m_samples;
    bool m_began{false};
    Mode m_mode{Mode::Startup};

    MaximumRate m_rate{10, 0, 0};
    std::uint64_t m_roundEnds{0}; ///< in bytes delivered
    std::uint32_t m_round{0};
    bool m_isRoundStart{false};

    ns3::Time m_sample; ///< round trip of this acknowledgement; 0: none
    ns3::Time m_leastRoundTrip{ns3::Time::Max()};
    ns3::Time m_leastSeen;
    ns3::Time m_probeEnds; ///< 0: what is on its way is still too much
    bool m_isProbeRoundOver{false};
    bool m_startsFromIdle{false};
    bool m_hasRoundTrip{false}; ///< the pacing rate was one of a guess before

    bool m_isFull{false};
    std::uint64_t m_fullRate{0};
    unsigned m_roundsWithoutGrowth{0};

    unsigned m_phase{0};
    ns3::Time m_phaseBegan;

    std::array<std::uint32_t, 2> m_aggregates{}; ///< the largest of this window and of the last one, bytes
    unsigned m_aggregateNow{0};
    unsigned m_aggregateRounds{0};
    ns3::Time m_aggregateBegan;
    std::uint64_t m_aggregate{0}; ///< acknowledged since then, bytes

    std::uint32_t m_windowBefore{0}; ///< a recovery or a probe, bytes
    bool m_conservesPackets{false};
    bool m_wasRecovering{false}; ///< at the last acknowledgement
};

} // namespace netboxit
