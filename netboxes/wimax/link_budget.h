// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/nature.h"
#include "numerology.h"

#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"

#include <string>

namespace netboxit::wimax
{


/// What both directions of all links of a cell have in common.
struct RadioParameters
{
    double frequencyHz{};
    double noiseFigureDb{};
    double implementationLossDb{}; ///< what a real receiver lacks to an ideal one; 8.3.11.1 allows for 5 dB
    std::string propagation;       ///< "friis", "log-distance", "two-ray", "sui-a", "sui-b" or "sui-c"
    double pathLossExponent{};     ///< of "log-distance"
    double baseHeightM{};          ///< of the antennas above the ground, of "two-ray" and "sui-…"
    double subscriberHeightM{};
};

/// Signal-to-noise ratio at the receiver: transmit power, antenna gains, ns-3's propagation loss, thermal
/// noise in the occupied bandwidth.
///
/// two-ray: free space up to where the ray reflected by the ground takes over, 4 pi hb hs / lambda, from there the
/// fourth power of the distance (T. Rappaport, "Wireless Communications", 4.6). sui-a, -b, -c: the suburban model of
/// the standard's task group for hilly, intermediate and flat terrain, with its corrections for frequency and
/// height (IEEE 802.16.3c-01/29r4; V. Erceg et al., IEEE J. Sel. Areas Commun. 17(7), 1999), free space up to 100 m.
class LinkBudget
{
  public:
    LinkBudget(const RadioParameters& radio, const Numerology& numerology);

    double PathLossDb(double distanceM) const;
    double SnrDb(double txPowerDbm, double antennaGainsDb, double distanceM) const;

  private:
    double FreeSpaceDb(double distanceM) const;
    double TwoRayDb(double distanceM) const;
    double SuburbanDb(double distanceM) const;

    RadioParameters m_radio;
    double m_noiseDbm;
    ns3::Ptr<ns3::PropagationLossModel> m_loss;
    ns3::Ptr<ns3::MobilityModel> m_transmitter;
    ns3::Ptr<ns3::MobilityModel> m_receiver;
};

} // namespace netboxit::wimax
