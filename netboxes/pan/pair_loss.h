// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/random-variable-stream.h"

#include <map>
#include <vector>

namespace netboxit
{

/// Loss between two stations: by distance, by log-normal shadowing of the pair, by their antennas, and by a radio that is off.
class PairLoss : public ns3::PropagationLossModel
{
  public:
    static ns3::TypeId GetTypeId();

    /// Stations are told apart by where they are, in the order in which they are given here.
    void Set(ns3::Ptr<ns3::PropagationLossModel> byDistance,
             const std::vector<ns3::Ptr<ns3::MobilityModel>>& stations,
             double antennaGain,
             double shadowing,
             std::int64_t stream);
    void SetOff(std::size_t station, bool off)
    {
        m_off.at(station) = off;
    }

  private:
    double DoCalcRxPower(double txPowerDbm,
                         ns3::Ptr<ns3::MobilityModel> a,
                         ns3::Ptr<ns3::MobilityModel> b) const override;
    int64_t DoAssignStreams(int64_t) override;

    ns3::Ptr<ns3::PropagationLossModel> m_byDistance;
    double m_antennaGain{};
    std::map<const ns3::MobilityModel*, std::size_t> m_numbers;
    std::vector<double> m_shadowing; ///< dB, stations times stations, symmetrical
    std::vector<bool> m_off;
};

} // namespace netboxit
