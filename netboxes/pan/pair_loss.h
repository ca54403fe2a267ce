// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/random-variable-stream.h"

#include <map>
#include <optional>
#include <vector>

namespace netboxit
{

/// Loss between two stations: by distance, by log-normal shadowing of the pair, by their antennas, by fades, and by a radio that is off.
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
    /// What all links lose besides, or those of one station, dB.
    void SetFade(std::optional<std::size_t> station, double decibels)
    {
        (station ? m_fades.at(*station) : m_fade) = decibels;
    }
    double Fade(std::size_t a, std::size_t b) const
    {
        return m_fade + m_fades[a] + m_fades[b];
    }
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
    double m_fade{0.0};
    std::vector<double> m_fades; ///< of stations
};

} // namespace netboxit
