// SPDX-License-Identifier: GPL-2.0-or-later
#include "capacity_request.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// Over which time a terminal measures the rate at which packets come, s: half a geostationary round trip. Its own affair by the standard.
constexpr double RATE_WINDOW = 0.25;
/// RBDC is asked for in steps of 1 kbit/s (EN 301 545-2, 6.5.3: the smallest scaling).
constexpr double RATE_STEP = 1000.0;
/// A rate is asked for anew when it has changed by so much of itself.
constexpr double RATE_CHANGE = 0.05;

/// Bytes that a packet takes in bursts: with the header of its first fragment and its trailer, but without those of further ones.
double Encapsulated(double bytes, double packets, const Encapsulation& encapsulation)
{
    return bytes + packets * (encapsulation.start + encapsulation.packet + encapsulation.trailer);
}

} // namespace

void Requester::Arrived(const Packet& packet, const Encapsulation& encapsulation, ns3::Time now)
{
    m_arrivals *= std::exp(-(now - m_arrivalsAt).GetSeconds() / RATE_WINDOW);
    m_arrivalsAt = now;
    m_arrivals += Encapsulated(packet.frame.length, 1.0, encapsulation);
}

void Requester::Assigned(double bytes)
{
    m_volume = std::max(0.0, m_volume - bytes);
}

double Requester::Backlog(const BurstFiller& filler) const
{
    double bytes = 0.0;
    for (const auto trafficClass : parameters.classes)
    {
        const auto& amount = filler.NotBegun(trafficClass);
        bytes += Encapsulated(static_cast<double>(amount.bytes), static_cast<double>(amount.packets), filler.GetEncapsulation());
    }
    const auto* begun = filler.Begun();
    if (begun != nullptr && std::ranges::find(parameters.classes, begun->frame.trafficClass) != parameters.classes.end())
    {
        bytes += filler.BytesBegun();
    }
    return bytes;
}

std::optional<std::pair<Method, double>> Requester::Ask(const BurstFiller& filler, const Occasion& occasion)
{
    // Of each further slot a fragment header is taken off.
    const double continued = occasion.payload / (occasion.payload - filler.GetEncapsulation().continuation);
    const double backlog = std::max(0.0, Backlog(filler) * continued - occasion.assigned);
    return parameters.Uses(Method::Rbdc) ? AskForRate(backlog, occasion) : AskForVolume(backlog, occasion);
}

std::optional<std::pair<Method, double>> Requester::AskForRate(double backlog, const Occasion& occasion)
{
    const double age = (occasion.now - m_arrivalsAt).GetSeconds();
    const double arriving = m_arrivals * std::exp(-age / RATE_WINDOW) / RATE_WINDOW;
    const double needed = 8.0 * (arriving + backlog / occasion.loop) - (parameters.Uses(Method::Cra) ? parameters.craRate : 0.0);
    const double rate = std::clamp(std::ceil(needed / RATE_STEP) * RATE_STEP, 0.0, parameters.rbdcMaximum);
    const bool renew = rate > 0.0 && (occasion.now - m_asked).GetSeconds() > parameters.rbdcTimeout / 2.0;
    // Nothing is left of a window that is this old: the rate is given back.
    const double kept = backlog == 0.0 && age > 4.0 * RATE_WINDOW ? 0.0 : rate;
    if (std::abs(kept - m_rate) <= RATE_CHANGE * m_rate && !renew)
    {
        return std::nullopt;
    }
    m_rate = kept;
    m_asked = occasion.now;
    return std::pair{Method::Rbdc, kept};
}

std::optional<std::pair<Method, double>> Requester::AskForVolume(double backlog, const Occasion& occasion)
{
    const bool absolute = parameters.Uses(Method::Avbdc);
    const bool overdue = (occasion.now - m_asked).GetSeconds() > occasion.loop;
    if (overdue)
    {
        // What was asked for a loop ago and did not come was lost, or will not come.
        m_volume = 0.0;
    }
    if (absolute && !overdue)
    {
        return std::nullopt;
    }
    const double volume = std::min(backlog, parameters.vbdcMaximum) - (absolute ? 0.0 : m_volume);
    if (volume < 1.0)
    {
        return std::nullopt;
    }
    m_volume += volume;
    m_asked = occasion.now;
    return std::pair{absolute ? Method::Avbdc : Method::Vbdc, volume};
}

} // namespace netboxit
