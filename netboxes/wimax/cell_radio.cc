// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace netboxit::wimax
{

namespace
{

/// Two stations may be at one place; a link is not shorter than what `distance` permits.
constexpr double NEAREST_M = 1.0;

Json NameOf(std::optional<ProfileId> profile)
{
    return profile ? Json(PROFILES[*profile].name) : Json();
}

} // namespace

void Cell::Begin()
{
    m_began = true;
    m_beganS = ns3::Simulator::Now().GetSeconds();
    m_places.Begin();
    UpdateLinks();
    // Whoever watches from here on knows of nothing that was said before.
    m_booking = {};
    m_bookingStale = true;
}

void Cell::UpdateLinks()
{
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        UpdateLink(index);
    }
}

void Cell::UpdateSignal(std::size_t index)
{
    auto& subscriber = *m_subscribers[index];
    auto& radio = m_radios[index];
    const auto& station = m_configuration.stations[subscriber.Id()];
    const auto& base = m_configuration.stations[m_configuration.base];
    const auto place =
        m_places.RelativeTo(m_configuration.base, subscriber.Id(), m_configuration.DistanceM(station));
    radio.distanceM = std::max(place.GetLength(), NEAREST_M);
    const double elapsed = m_began ? ns3::Simulator::Now().GetSeconds() - m_beganS : 0.0;
    const auto series = [elapsed](const std::optional<Timeline>& fade)
    { return fade ? fade->At(elapsed) : 0.0; };
    radio.fadeDb =
        m_configuration.fadeDb + series(m_configuration.fadeSeries) + station.fadeDb + series(station.fadeSeries);
    const double gains = station.antennaGainDbi + base.antennaGainDbi - radio.fadeDb - radio.shadowing.LossDb(place);
    const auto snr = [&](const StationConfiguration& sender)
    { return m_budget->SnrDb(m_configuration.TxPowerDbm(sender), gains, radio.distanceM); };
    subscriber.Downlink().Update(snr(base), m_receiverSnr, m_configuration.hysteresisDb);
    subscriber.Uplink().Update(snr(station), m_receiverSnr, m_configuration.hysteresisDb);
}

bool Cell::Reaches(std::size_t index) const
{
    return 2.0 * m_radios[index].distanceM / SPEED_OF_LIGHT <= m_configuration.frame.ttgS;
}

void Cell::UpdateLink(std::size_t index)
{
    auto& subscriber = *m_subscribers[index];
    const auto down = subscriber.Downlink().Profile();
    const auto up = subscriber.Uplink().Profile();
    UpdateSignal(index);
    const bool received = subscriber.Downlink().Profile() && subscriber.Uplink().Profile() && Reaches(index);
    auto& entry = subscriber.Entry();
    // At the very beginning a threshold reached is enough; a link that was lost comes back only with
    // hysteresis.
    const double hysteresis = m_configuration.hysteresisDb;
    const bool mayReturn = m_frame == 0 || (subscriber.Downlink().MayReturn(m_receiverSnr, hysteresis) &&
                                            subscriber.Uplink().MayReturn(m_receiverSnr, hysteresis));
    if (!received && !entry.IsOut())
    {
        LoseLink(index);
    }
    else if (received && entry.IsOut() && mayReturn)
    {
        entry.FindSignal();
    }
    else if (entry.IsOperational())
    {
        AnnounceProfile(index, "downlink", down, subscriber.Downlink().Profile());
        AnnounceProfile(index, "uplink", up, subscriber.Uplink().Profile());
    }
}

void Cell::LoseLink(std::size_t index)
{
    const auto now = ns3::Simulator::Now();
    m_subscribers[index]->Entry().LoseSignal();
    m_subscribers[index]->Abandon(now);
    m_baseUplink.Abandon(index);
    m_baseDownlink.Abandon(index, now);
    m_bookingStale = true;
    // A station that never got as far as being up again was not announced as such.
    if (m_radios[index].announcedUp)
    {
        m_radios[index].announcedUp = false;
        m_announcements.Announce("link_down", m_subscribers[index]->Id(), {{"reason", ReasonOfLoss(index)}});
    }
}

const char* Cell::ReasonOfLoss(std::size_t index) const
{
    if (!Reaches(index))
    {
        return "beyond ttg";
    }
    const auto& subscriber = *m_subscribers[index];
    const double snr = std::min(subscriber.Downlink().SnrDb(), subscriber.Uplink().SnrDb());
    const bool faded = snr + m_radios[index].fadeDb >= m_receiverSnr.ThresholdDb(MOST_ROBUST);
    return faded ? "faded" : "out of range";
}

void Cell::AnnounceUp(std::size_t index)
{
    const auto& subscriber = *m_subscribers[index];
    m_bookingStale = true;
    m_radios[index].announcedUp = true;
    m_announcements.Announce("link_up",
                             subscriber.Id(),
                             {{"downlink_profile", NameOf(subscriber.Downlink().Profile())},
                              {"uplink_profile", NameOf(subscriber.Uplink().Profile())}});
}

void Cell::AnnounceProfile(std::size_t index,
                           std::string_view direction,
                           std::optional<ProfileId> from,
                           std::optional<ProfileId> to)
{
    if (from != to && m_frame > 0)
    {
        m_bookingStale = true;
        m_announcements.Announce("profile",
                                 m_subscribers[index]->Id(),
                                 {{"direction", direction}, {"from", NameOf(from)}, {"to", NameOf(to)}});
    }
}

void Cell::CheckBooking()
{
    m_bookingStale = false;
    const auto stations = static_cast<std::uint32_t>(m_subscribers.size());
    const std::array now{
        Booking{m_baseUplink.ReservedSymbols(), m_layout.UplinkSymbols() - m_layout.UplinkOverhead(false)},
        Booking{m_baseDownlink.ReservedSymbols(),
                m_layout.DownlinkSymbols() - m_layout.DownlinkOverhead(1, std::min(stations, m_layout.MostGrants()), false)}};
    for (std::size_t direction = 0; direction < now.size(); ++direction)
    {
        const bool before = std::exchange(m_booking[direction], now[direction]).overbooked;
        auto& booking = m_booking[direction];
        booking.overbooked = booking.symbols > booking.available;
        if (booking.overbooked != before)
        {
            m_announcements.Announce(booking.overbooked ? "overbooked" : "not_overbooked",
                                     m_configuration.base,
                                     {{"direction", direction == 0 ? "uplink" : "downlink"},
                                      {"reserved_symbols", booking.symbols},
                                      {"symbols", booking.available}});
        }
    }
}

} // namespace netboxit::wimax
