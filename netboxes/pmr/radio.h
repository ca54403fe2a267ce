// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "../mobility/circle.h"
#include "blocks.h"
#include "propagation.h"

#include <map>

namespace netboxit
{

/// Where the stations are, how strongly they hear each other, and which blocks that spoils.
class Radio
{
  public:
    Radio(const Json& parameters, const std::vector<std::string>& stations);

    /// The base station; none in direct mode.
    std::optional<StationId> Base() const
    {
        return m_base;
    }

    /// Mean power with which `to` receives `from`, dBm.
    double Power(StationId from, StationId to) const;
    /// Mean ratio of a symbol's energy to noise, dB.
    double Snr(StationId from, StationId to) const;
    /// Whether each hears the other with its sensitivity at least, and both radios are on; or would, without fades.
    bool Reach(StationId a, StationId b, bool faded = true) const;
    /// Whether a packet can get from one to the other, over the base where there is one.
    bool Connected(StationId a, StationId b) const;
    /// A terminal is in service when it and the base, or any other terminal, reach each other.
    bool InService(StationId station, bool faded = true) const;
    bool IsOff(StationId station) const
    {
        return m_allOff || m_stations.at(station).off;
    }

    /// How a link is in one frame: a power ratio, drawn where links fade.
    double DrawFade() const;
    /// Whether a block gets over a link in a frame with this fade.
    bool DrawBlock(StationId from, StationId to, double fade, const BlockFormat& format) const;

    /// Where the stations are.
    Circle& Places()
    {
        return m_circle;
    }
    void SetTxPower(std::optional<StationId> station, double dBm);
    void SetOutage(std::optional<StationId> station, bool off);
    /// What all links lose besides, or those of one station, dB.
    void SetFade(std::optional<StationId> station, double decibels);

  private:
    enum class Errors
    {
        Tu50,
        Static,
        None,
    };

    struct Station
    {
        double txPower;     ///< dBm
        double antennaGain; ///< dB
        double sensitivity; ///< dBm
        bool ownTxPower;
        bool off;
        double fade; ///< dB
    };

    double Fade(StationId a, StationId b) const
    {
        return m_fade + m_stations[a].fade + m_stations[b].fade;
    }

    std::size_t m_count;
    Circle m_circle;
    std::optional<StationId> m_base;
    Propagation m_propagation;
    Errors m_errors;
    bool m_allOff;
    double m_fade; ///< of all, dB
    std::vector<Station> m_stations;
    ns3::Ptr<ns3::ExponentialRandomVariable> m_fades;
    ns3::Ptr<ns3::UniformRandomVariable> m_spoiled;
};

} // namespace netboxit
