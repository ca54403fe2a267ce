// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_budget.h"

#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"

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
    : m_noiseDbm(THERMAL_NOISE_DBM_HZ + 10.0 * std::log10(numerology.OccupiedBandwidthHz()) +
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
    else if (radio.propagation != "friis")
    {
        throw std::invalid_argument("wimax: propagation '" + radio.propagation +
                                    "' is not one of friis, log-distance");
    }
}

double LinkBudget::PathLossDb(double distanceM) const
{
    return LossDb(*m_loss, m_transmitter, m_receiver, distanceM);
}

double LinkBudget::SnrDb(double txPowerDbm, double antennaGainsDb, double distanceM) const
{
    return txPowerDbm + antennaGainsDb - PathLossDb(distanceM) - m_noiseDbm;
}

} // namespace netboxit::wimax
