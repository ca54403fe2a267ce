// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "../mobility/circle.h"
#include "pair_loss.h"

#include "ns3/lr-wpan-net-device.h"

namespace netboxit
{

/// The air and the radios on it: ns-3's devices, one a station, with where they are and what they hear of each other.
class Radio
{
  public:
    Radio(const Json& parameters, const std::vector<std::string>& stations);

    const ns3::Ptr<ns3::lrwpan::LrWpanNetDevice>& Device(StationId station) const
    {
        return m_devices.at(station);
    }

    /// Mean power with which `to` receives `from`, dBm.
    double Power(StationId from, StationId to) const;
    /// Noise in each receiver, dBm.
    double Noise() const
    {
        return m_noise;
    }
    /// Whether each hears the other with `sensitivity` at least; or would, without fades.
    bool Reach(StationId a, StationId b, bool faded = true) const;
    /// What a MAC frame carries at most, bytes.
    std::uint32_t PayloadRoom() const;

    /// Where the stations are.
    Circle& Places()
    {
        return m_circle;
    }
    /// Of all that have no power of their own, or of one, which then has.
    void SetTxPower(std::optional<StationId> station, double dBm);
    void SetOutage(std::optional<StationId> station, bool off);
    void SetFade(std::optional<StationId> station, double decibels)
    {
        m_loss->SetFade(station, decibels);
    }
    bool IsOff(StationId station) const
    {
        return m_allOff || m_stations.at(station).off;
    }

  private:
    struct Station
    {
        double txPower;
        bool ownTxPower;
        bool off;
    };

    void BuildDevices(const Json& parameters);
    void ApplyTxPower(StationId station);
    void ApplyOutage();

    std::size_t m_count;
    Circle m_circle;
    bool m_extended;
    bool m_allOff;
    std::uint32_t m_channelNumber;
    double m_sensitivity;
    double m_noise{};
    ns3::Ptr<PairLoss> m_loss;
    std::vector<Station> m_stations;
    std::vector<ns3::Ptr<ns3::lrwpan::LrWpanNetDevice>> m_devices;
};

} // namespace netboxit
