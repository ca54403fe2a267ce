// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_budget.h"

#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"

#include <array>
#include <cmath>
#include <stdexcept>

namespace netboxit::wimax
{

namespace
{

/// kT at 290 K, in dBm/Hz: the 8.3.11.1 formula's -102 dBm is this over 1 MHz plus 7 dB noise figure and 5 dB
/// implementation loss.
constexpr double THERMAL_NOISE_DBM_HZ = -174.0;

/// Where the log-distance law leaves free space.
constexpr double REFERENCE_M = 1.0;

/// Where the suburban model leaves free space.
constexpr double SUBURBAN_REFERENCE_M = 100.0;

ns3::Ptr<ns3::PropagationLossModel> MakeFriis(double frequencyHz)
{
    auto friis = ns3::CreateObject<ns3::FriisPropagationLossModel>();
    friis->SetAttribute("Frequency", ns3::DoubleValue(frequencyHz));
    return friis;
}

double LossDb(const ns3::PropagationLossModel& model,
              const ns3::Ptr<ns3::MobilityModel>& transmitter,
              const ns3::Ptr<ns3::MobilityModel>& receiver,
              double distanceM)
{
    receiver->SetPosition(ns3::Vector(distanceM, 0.0, 0.0));
    return -model.CalcRxPower(0.0, transmitter, receiver);
}

} // namespace

LinkBudget::LinkBudget(const RadioParameters& radio, const Numerology& numerology)
    : m_radio(radio), m_noiseDbm(THERMAL_NOISE_DBM_HZ + 10.0 * std::log10(numerology.OccupiedBandwidthHz()) +
                 radio.noiseFigureDb + radio.implementationLossDb),
      m_loss(MakeFriis(radio.frequencyHz)),
      m_transmitter(ns3::CreateObject<ns3::ConstantPositionMobilityModel>()),
      m_receiver(ns3::CreateObject<ns3::ConstantPositionMobilityModel>())
{
    m_transmitter->SetPosition(ns3::Vector(0.0, 0.0, 0.0));
    if (radio.propagation == "log-distance")
    {
        auto logDistance = ns3::CreateObject<ns3::LogDistancePropagationLossModel>();
        logDistance->SetReference(REFERENCE_M, LossDb(*m_loss, m_transmitter, m_receiver, REFERENCE_M));
        logDistance->SetPathLossExponent(radio.pathLossExponent);
        m_loss = logDistance;
    }
    else if (radio.propagation != "friis" && radio.propagation != "two-ray" &&
             !radio.propagation.starts_with("sui-"))
    {
        throw std::invalid_argument("wimax: propagation '" + radio.propagation +
                                    "' is not one of friis, log-distance, two-ray, sui-a, sui-b, sui-c");
    }
}

double LinkBudget::PathLossDb(double distanceM) const
{
    if (m_radio.propagation == "two-ray")
    {
        return TwoRayDb(distanceM);
    }
    return m_radio.propagation.starts_with("sui-") ? SuburbanDb(distanceM) : FreeSpaceDb(distanceM);
}

double LinkBudget::FreeSpaceDb(double distanceM) const
{
    return LossDb(*m_loss, m_transmitter, m_receiver, distanceM);
}

double LinkBudget::TwoRayDb(double distanceM) const
{
    const double heights = m_radio.baseHeightM * m_radio.subscriberHeightM;
    const double crossover = 4.0 * M_PI * heights * m_radio.frequencyHz / SPEED_OF_LIGHT;
    return distanceM <= crossover ? FreeSpaceDb(distanceM)
                                  : 40.0 * std::log10(distanceM) - 20.0 * std::log10(heights);
}

double LinkBudget::SuburbanDb(double distanceM) const
{
    struct Terrain
    {
        double a, b, c;
        double heightDb; ///< a decade of the subscriber's height over 2 m
    };
    static constexpr std::array TERRAINS{Terrain{4.6, 0.0075, 12.6, 10.8},
                                         Terrain{4.0, 0.0065, 17.1, 10.8},
                                         Terrain{3.6, 0.005, 20.0, 20.0}};
    const auto& terrain = TERRAINS.at(static_cast<std::size_t>(m_radio.propagation.back() - 'a'));
    if (distanceM <= SUBURBAN_REFERENCE_M)
    {
        return FreeSpaceDb(distanceM);
    }
    const double exponent = terrain.a - terrain.b * m_radio.baseHeightM + terrain.c / m_radio.baseHeightM;
    return FreeSpaceDb(SUBURBAN_REFERENCE_M) +
           10.0 * exponent * std::log10(distanceM / SUBURBAN_REFERENCE_M) +
           6.0 * std::log10(m_radio.frequencyHz / 2e9) -
           terrain.heightDb * std::log10(m_radio.subscriberHeightM / 2.0);
}

double LinkBudget::SnrDb(double txPowerDbm, double antennaGainsDb, double distanceM) const
{
    return txPowerDbm + antennaGainsDb - PathLossDb(distanceM) - m_noiseDbm;
}

} // namespace netboxit::wimax
