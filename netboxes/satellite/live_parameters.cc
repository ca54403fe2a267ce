// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/station_parameter.h"

#include "satellite.h"

#include <cmath>
#include <sstream>

namespace netboxit
{

namespace
{

/// The longest codeword that parameters.py accepts, s; a superframe that changes its rate must stay within 1 ms and this, too.
constexpr double LONGEST_CODEWORD = 2.0;
constexpr double SHORTEST_SUPERFRAME = 1e-3;

void CheckCodeword(const Profile& profile, double rate)
{
    if (profile.bits / rate > LONGEST_CODEWORD)
    {
        std::ostringstream message;
        message << "satellite: at " << rate << " bit/s " << profile.name << " takes " << profile.bits / rate << " s, longer than "
                << LONGEST_CODEWORD << " s; its rate is " << std::ceil(profile.bits / LONGEST_CODEWORD) << " bit/s or more";
        throw OutOfRange(message.str());
    }
}

} // namespace

void SatelliteSegment::Set(std::string_view parameter, const Json& value)
{
    const auto target = TargetOf(parameter, m_names);
    if (target.station)
    {
        SetOfStation(*target.station, target.parameter, value);
    }
    else
    {
        SetOfLink(parameter, value);
    }
    MeasureAll();
    UpdateLinks();
}

void SatelliteSegment::SetOfLink(std::string_view parameter, const Json& value)
{
    if (parameter == "outage")
    {
        m_outage = value;
        return;
    }
    if (parameter == "queue")
    {
        for (auto& station : m_stations)
        {
            station.sender->SetQueue(value);
        }
        return;
    }
    const double number = value;
    if (parameter == "delay")
    {
        if (!m_delay.IsConstant())
        {
            throw OutOfRange("satellite: delay follows `delay_profile` or `orbit`; leave them out to set it");
        }
        m_delay.Set(number);
    }
    else if (parameter == "packet_error_rate")
    {
        m_packetErrorRate = number;
    }
    else if (parameter == "fade")
    {
        m_sky.fade = number;
    }
    else if (parameter == "forward_rate")
    {
        CheckCodeword(m_forwardProfiles.Reference(), number);
        dynamic_cast<Carrier&>(*m_stations[m_gateway].sender).SetRate(number);
    }
    else
    {
        SetReturnRate(number);
    }
}

void SatelliteSegment::SetReturnRate(double rate)
{
    if (m_shared)
    {
        const double duration = m_returnChannel->DurationAt(rate);
        if (duration < SHORTEST_SUPERFRAME || duration > LONGEST_CODEWORD)
        {
            std::ostringstream message;
            message << "satellite: at " << rate << " bit/s a superframe, which keeps its slots, takes " << duration << " s; it can take "
                    << SHORTEST_SUPERFRAME << " to " << LONGEST_CODEWORD << " s";
            throw OutOfRange(message.str());
        }
        m_returnChannel->SetRate(rate);
        return;
    }
    CheckCodeword(m_returnProfiles.Reference(), rate);
    for (const auto terminal : m_terminals)
    {
        dynamic_cast<Carrier&>(*m_stations[terminal].sender).SetRate(rate);
    }
}

void SatelliteSegment::SetOfStation(StationId station, std::string_view parameter, const Json& value)
{
    if (parameter == "outage")
    {
        m_stations[station].outage = value;
        return;
    }
    const double number = value;
    auto& sky = *m_stations[station].sky;
    if (parameter == "fade")
    {
        sky.fade = number;
        return;
    }
    if (parameter == "fade_up" || parameter == "fade_down")
    {
        (parameter == "fade_up" ? sky.fadeUp : sky.fadeDown) = number;
        return;
    }
    if (!IsTerminal(station))
    {
        throw UnknownParameter("satellite: " + std::string(parameter) +
                               " is a terminal's; a gateway has fade fade_up fade_down outage");
    }
    auto& link = Link(station);
    const bool isOfShared = parameter == "cra_rate" || parameter == "rbdc_max";
    if (isOfShared || parameter == "return_rate")
    {
        if (isOfShared != m_shared)
        {
            throw UnknownParameter("satellite: " + std::string(parameter) + " of a station is for `return_channel: " +
                                   (isOfShared ? "shared`" : "own`; on a shared one there are cra_rate and rbdc_max"));
        }
        if (parameter == "return_rate")
        {
            CheckCodeword(m_returnProfiles.Reference(), number);
            dynamic_cast<Carrier&>(*m_stations[station].sender).SetRate(number);
        }
        else if (parameter == "cra_rate")
        {
            m_returnChannel->SetCraRate(*link.place, number);
        }
        else
        {
            m_returnChannel->SetRbdcMaximum(*link.place, number);
        }
    }
    else if (parameter == "delay")
    {
        link.delay = number;
    }
    else if (parameter == "packet_error_rate")
    {
        link.packetErrorRate = number;
    }
    else
    {
        (parameter == "forward_es_n0" ? link.forwardClearSky : link.returnClearSky) = number;
    }
}

} // namespace netboxit
