// SPDX-License-Identifier: GPL-2.0-or-later
#include "radio.h"

#include "block_error.h"

#include <cmath>

namespace netboxit
{

namespace
{

/// Random streams: fades, blocks, walks (one a station).
constexpr std::int64_t FADE_STREAM = 7000;
constexpr std::int64_t BLOCK_STREAM = 7001;
constexpr std::int64_t FIRST_WALK_STREAM = 7010;

} // namespace

Radio::Radio(const Json& parameters, const std::vector<std::string>& stations)
    : m_count(stations.size()),
      m_circle(parameters.at("stations"), stations, "base", parameters.at("distance"), FIRST_WALK_STREAM),
      m_base(m_circle.Central()), m_propagation(parameters),
      m_errors(parameters.at("error_model") == "tu50"     ? Errors::Tu50
               : parameters.at("error_model") == "static" ? Errors::Static
                                                          : Errors::None),
      m_allOff(parameters.at("outage")), m_fade(parameters.at("fade")),
      m_fades(ns3::CreateObject<ns3::ExponentialRandomVariable>()),
      m_spoiled(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_fades->SetStream(FADE_STREAM);
    m_spoiled->SetStream(BLOCK_STREAM);
    const auto& said = parameters.at("stations");
    for (StationId id = 0; id < m_count; ++id)
    {
        const auto& station = said.at(stations[id]);
        const bool base = id == m_base;
        const bool ownTxPower = !station.at("tx_power").is_null();
        m_stations.push_back(
            {.txPower = ownTxPower ? station.at("tx_power") : parameters.at(base ? "base_tx_power" : "tx_power"),
             .antennaGain = parameters.at(base ? "base_antenna_gain" : "antenna_gain"),
             .sensitivity = parameters.at(base ? "base_sensitivity" : "sensitivity"),
             .ownTxPower = ownTxPower || base,
             .off = station.at("outage"),
             .fade = station.at("fade")});
    }
}

double Radio::Power(StationId from, StationId to) const
{
    const auto& sender = m_stations[from];
    const auto& receiver = m_stations[to];
    const double metres = ns3::CalculateDistance(m_circle.At(from)->GetPosition(), m_circle.At(to)->GetPosition());
    return sender.txPower + sender.antennaGain + receiver.antennaGain - m_propagation.Loss(metres) -
           Fade(from, to);
}

double Radio::Snr(StationId from, StationId to) const
{
    return Power(from, to) - m_stations[to].sensitivity + SNR_AT_SENSITIVITY;
}

bool Radio::Reach(StationId a, StationId b, bool faded) const
{
    const double back = faded ? 0.0 : Fade(a, b);
    return !IsOff(a) && !IsOff(b) && Power(a, b) + back >= m_stations[b].sensitivity &&
           Power(b, a) + back >= m_stations[a].sensitivity;
}

bool Radio::Connected(StationId a, StationId b) const
{
    return !m_base || a == m_base || b == m_base ? Reach(a, b) : Reach(a, *m_base) && Reach(b, *m_base);
}

bool Radio::InService(StationId station, bool faded) const
{
    if (m_base)
    {
        return station == m_base ? !IsOff(station) : Reach(station, *m_base, faded);
    }
    for (StationId other = 0; other < m_count; ++other)
    {
        if (other != station && Reach(station, other, faded))
        {
            return true;
        }
    }
    return false;
}

double Radio::DrawFade() const
{
    return m_errors == Errors::Tu50 ? m_fades->GetValue(1.0, 0.0) : 1.0;
}

bool Radio::DrawBlock(StationId from, StationId to, double fade, const BlockFormat& format) const
{
    if (m_errors == Errors::None)
    {
        return true;
    }
    const double snr = std::pow(10.0, Snr(from, to) / 10.0) * fade;
    return m_spoiled->GetValue() >= BlockError(snr, format.bits, format.codingGain);
}

void Radio::SetTxPower(std::optional<StationId> station, double dBm)
{
    for (StationId id = 0; id < m_count; ++id)
    {
        auto& each = m_stations[id];
        if (station ? id == *station : !each.ownTxPower)
        {
            each.ownTxPower = each.ownTxPower || station.has_value();
            each.txPower = dBm;
        }
    }
}

void Radio::SetOutage(std::optional<StationId> station, bool off)
{
    (station ? m_stations.at(*station).off : m_allOff) = off;
}

void Radio::SetFade(std::optional<StationId> station, double decibels)
{
    (station ? m_stations.at(*station).fade : m_fade) = decibels;
}

} // namespace netboxit
