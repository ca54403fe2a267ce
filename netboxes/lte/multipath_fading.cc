// SPDX-License-Identifier: GPL-2.0-or-later
#include "multipath_fading.h"

#include "ns3/mobility-model.h"
#include "ns3/simulator.h"
#include "ns3/spectrum-signal-parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace netboxit
{

namespace
{

/// Gains are computed anew after this share of a Doppler period, in which they hardly change (J0 of it is 0.98), but not more often
/// than each subframe.
constexpr double SHARE_OF_PERIOD = 0.05;
constexpr std::int64_t SUBFRAME = 1'000'000; ///< ns
constexpr std::int64_t LONGEST_STEP = 20'000'000;

} // namespace

RayleighPath::RayleighPath(ns3::UniformRandomVariable& random)
{
    const double turn = random.GetValue(0.0, 2.0 * std::numbers::pi);
    for (std::size_t wave = 0; wave < WAVES; ++wave)
    {
        m_cosines[wave] = std::cos((2.0 * std::numbers::pi * static_cast<double>(wave) + turn) / WAVES);
        m_phases[wave] = random.GetValue(0.0, 2.0 * std::numbers::pi);
    }
}

std::complex<double> RayleighPath::At(double seconds, double doppler) const
{
    std::complex<double> sum;
    for (std::size_t wave = 0; wave < WAVES; ++wave)
    {
        sum += std::polar(1.0, 2.0 * std::numbers::pi * doppler * seconds * m_cosines[wave] + m_phases[wave]);
    }
    return sum / std::sqrt(static_cast<double>(WAVES));
}

ns3::TypeId MultipathFading::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::MultipathFading").SetParent<ns3::SpectrumPropagationLossModel>();
    return id;
}

MultipathFading::MultipathFading(std::span<const Tap> taps, double doppler, std::int64_t stream)
    : m_taps(taps), m_doppler(doppler),
      m_step(std::clamp(static_cast<std::int64_t>(SHARE_OF_PERIOD / doppler * 1e9) / SUBFRAME * SUBFRAME,
                        SUBFRAME,
                        LONGEST_STEP)),
      m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_random->SetStream(stream);
    double whole = 0.0;
    for (const auto& tap : taps)
    {
        whole += std::pow(10.0, tap.power / 10.0);
    }
    for (const auto& tap : taps)
    {
        m_amplitudes.push_back(std::sqrt(std::pow(10.0, tap.power / 10.0) / whole));
    }
}

std::int64_t MultipathFading::DoAssignStreams(std::int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

MultipathFading::Link& MultipathFading::LinkBetween(const Ends& ends) const
{
    auto& link = m_links[ends];
    while (link.paths.size() < m_taps.size())
    {
        link.paths.emplace_back(*m_random);
    }
    return link;
}

void MultipathFading::Compute(Link& link, std::int64_t step, const ns3::SpectrumModel& spectrum) const
{
    const auto blocks = spectrum.GetNumBands();
    if (m_rotations.size() != blocks * m_taps.size())
    {
        m_rotations.clear();
        for (auto band = spectrum.Begin(); band != spectrum.End(); ++band)
        {
            for (const auto& tap : m_taps)
            {
                m_rotations.push_back(
                    std::polar(1.0, -2.0 * std::numbers::pi * (band->fc - spectrum.Begin()->fc) * tap.delay));
            }
        }
    }
    std::array<std::complex<double>, 16> gains{};
    for (std::size_t tap = 0; tap < m_taps.size(); ++tap)
    {
        gains.at(tap) = m_amplitudes[tap] *
                        link.paths[tap].At(static_cast<double>(step) * static_cast<double>(m_step) / 1e9, m_doppler);
    }
    link.gains.resize(blocks);
    for (std::size_t block = 0; block < blocks; ++block)
    {
        std::complex<double> sum;
        for (std::size_t tap = 0; tap < m_taps.size(); ++tap)
        {
            sum += gains[tap] * m_rotations[block * m_taps.size() + tap];
        }
        link.gains[block] = std::norm(sum);
    }
    link.computed = step;
}

ns3::Ptr<ns3::SpectrumValue>
MultipathFading::DoCalcRxPowerSpectralDensity(ns3::Ptr<const ns3::SpectrumSignalParameters> parameters,
                                              ns3::Ptr<const ns3::MobilityModel> from,
                                              ns3::Ptr<const ns3::MobilityModel> to) const
{
    auto density = parameters->psd->Copy();
    auto& link = LinkBetween({ns3::PeekPointer(from), ns3::PeekPointer(to)});
    const auto step = ns3::Simulator::Now().GetNanoSeconds() / m_step;
    if (step != link.computed || link.gains.size() != density->GetSpectrumModel()->GetNumBands())
    {
        Compute(link, step, *density->GetSpectrumModel());
    }
    std::size_t block = 0;
    for (auto value = density->ValuesBegin(); value != density->ValuesEnd(); ++value)
    {
        *value *= link.gains[block++];
    }
    return density;
}

} // namespace netboxit
