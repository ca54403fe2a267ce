// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "numerology.h"

#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"

#include <string>

namespace netboxit::wimax
{

inline constexpr double SPEED_OF_LIGHT = 299792458.0; // m/s

/// What both directions of all links of a cell have in common.
struct RadioParameters
{
    double frequencyHz{};
    double noiseFigureDb{};
    double implementationLossDb{}; ///< what a real receiver lacks to an ideal one; 8.3.11.1 allows for 5 dB
    std::string propagation;       ///< "friis" or "log-distance"
    double pathLossExponent{};     ///< of "log-distance"
};

/// Signal-to-noise ratio at the receiver: transmit power, antenna gains, ns-3's propagation loss, thermal
/// noise in the occupied bandwidth.
class LinkBudget
{
  public:
    LinkBudget(const RadioParameters& radio, const Numerology& numerology);

    double PathLossDb(double distanceM) const;
    double SnrDb(double txPowerDbm, double antennaGainsDb, double distanceM) const;

  private:
    double m_noiseDbm;
    ns3::Ptr<ns3::PropagationLossModel> m_loss;
    ns3::Ptr<ns3::MobilityModel> m_transmitter;
    ns3::Ptr<ns3::MobilityModel> m_receiver;
};

} // namespace netboxit::wimax
