// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tap_profiles.h"

#include "ns3/random-variable-stream.h"
#include "ns3/spectrum-propagation-loss-model.h"
#include "ns3/spectrum-value.h"

#include <array>
#include <complex>
#include <map>
#include <vector>

namespace netboxit
{

/// Rayleigh fading of one path: a sum of sinusoids whose waves come from all around (Clarke 1968), with random phases, so that its
/// mean power is 1 and its autocorrelation J0(2 pi f t).
class RayleighPath
{
  public:
    explicit RayleighPath(ns3::UniformRandomVariable& random);

    /// The complex gain at a time, with the greatest Doppler shift in Hz.
    std::complex<double> At(double seconds, double doppler) const;

  private:
    static constexpr std::size_t WAVES = 16;
    std::array<double, WAVES> m_cosines{};
    std::array<double, WAVES> m_phases{};
};

/// Frequency-selective fading of each pair of stations on one channel, by a tapped delay line of 3GPP TS 36.104, Annex B.2. Uplink and
/// downlink have a model each: their frequencies are too far apart to fade together.
class MultipathFading : public ns3::SpectrumPropagationLossModel
{
  public:
    static ns3::TypeId GetTypeId();
    MultipathFading(std::span<const Tap> taps, double doppler, std::int64_t stream);

  private:
    struct Link
    {
        std::vector<RayleighPath> paths;
        std::int64_t computed{-1};  ///< step of time
        std::vector<double> gains;  ///< by resource block
    };
    using Ends = std::pair<const ns3::MobilityModel*, const ns3::MobilityModel*>;

    ns3::Ptr<ns3::SpectrumValue>
    DoCalcRxPowerSpectralDensity(ns3::Ptr<const ns3::SpectrumSignalParameters> parameters,
                                 ns3::Ptr<const ns3::MobilityModel> from,
                                 ns3::Ptr<const ns3::MobilityModel> to) const override;
    std::int64_t DoAssignStreams(std::int64_t stream) override;
    Link& LinkBetween(const Ends& ends) const;
    void Compute(Link& link, std::int64_t step, const ns3::SpectrumModel& spectrum) const;

    std::span<const Tap> m_taps;
    std::vector<double> m_amplitudes; ///< of the taps, their powers adding up to 1
    double m_doppler;                 ///< Hz
    std::int64_t m_step;              ///< ns
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    mutable std::map<Ends, Link> m_links;
    mutable std::vector<std::complex<double>> m_rotations; ///< by resource block and tap
};

} // namespace netboxit
