// SPDX-License-Identifier: GPL-2.0-or-later
#include "multi_service_link.h"

#include "make_service.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace netboxit::multiservice
{

MultiServiceLink::MultiServiceLink(const Json& settings, const LinkFacts& facts, LinkEnd end, Timebase& timebase, LinkHost& host)
    : m_facts(facts),
      m_end(end),
      m_timebase(timebase),
      m_host(host),
      m_settings(LayerSettings::Of(settings)),
      m_opening(timebase, [this] { m_host.Opened(); }),
      m_measuring(timebase, [this] { Measure(); })
{
    const LayerParts parts{m_scheduler, m_timebase, m_host, m_facts, [this] { Pump(); }};
    for (ServiceId service = 0; service < MOST_SERVICES; ++service)
    {
        m_places[service] = std::make_unique<ServicePlace>(service, parts);
    }
    auto services = MakeServices(m_settings);
    for (std::size_t service = 0; service < services.size(); ++service)
    {
        m_places[service]->Replace(std::move(services[service]));
    }
    Apply(m_settings);
}

MultiServiceLink::~MultiServiceLink() = default;

bool MultiServiceLink::IsOpen() const
{
    return m_pacer.IsOpen(m_timebase.Now());
}

void MultiServiceLink::Send(ServiceId service, const Packet& packet)
{
    const auto now = m_timebase.Now();
    m_pacer.Take(now, m_facts.TimeOf(packet.Bytes() + m_settings.overhead));
    if (!m_pacer.IsOpen(now))
    {
        m_opening.StartAt(m_pacer.Opens());
    }
    if (m_settings.isMeasured)
    {
        m_meter.Count(service, packet.Bytes());
    }
    PlaceOf(service).Send(packet);
}

void MultiServiceLink::TransmitComplete()
{
    // The transmitter stays taken meanwhile: what the service sends now waits for its turn with all others.
    m_places[m_onAir.service]->Departed(m_onAir);
    m_onAir.payload = {};
    m_isTransmitting = false;
    Pump();
}

void MultiServiceLink::Receive(const AirFrame& frame)
{
    m_places[frame.service]->Receive(frame);
}

void MultiServiceLink::Damaged(const AirFrame& frame)
{
    if (auto* service = m_places[frame.service]->Occupant())
    {
        service->Damaged(frame);
    }
}

void MultiServiceLink::PeerGaveUp(ServiceId service, std::uint16_t sequence)
{
    if (auto* occupant = m_places[service]->Occupant())
    {
        occupant->PeerGaveUp(sequence);
    }
}

void MultiServiceLink::Set(const Json& settings)
{
    auto read = LayerSettings::Of(settings);
    if (!read.HasServicesLike(m_settings))
    {
        throw std::invalid_argument("multiservice: the number of services, schemes, sequence_bits, block and repeats_first change at both "
                                    "ends of a link at once");
    }
    MakeServices(read); // throws before anything changes
    for (std::size_t service = 0; service < read.places.size(); ++service)
    {
        m_places[service]->Occupant()->Set(read.places[service].scheme);
    }
    Apply(read);
    for (std::size_t service = 0; service < read.places.size(); ++service)
    {
        m_places[service]->Feed();
    }
}

void MultiServiceLink::SetFacts(const LinkFacts& facts)
{
    m_facts = facts;
}

void MultiServiceLink::Check(MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther)
{
    NewEnds(one, ofOne, other, ofOther);
}

std::array<MultiServiceLink::NewEnd, 2> MultiServiceLink::NewEnds(
    MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther)
{
    std::array<NewEnd, 2> ends{NewEnd{one, LayerSettings::Of(ofOne), {}}, NewEnd{other, LayerSettings::Of(ofOther), {}}};
    if (!ends[0].settings.HasServicesLike(ends[1].settings))
    {
        throw std::invalid_argument("multiservice: the two ends of a link differ in their services; give both the same number, "
                                    "schemes, sequence_bits, block and repeats_first");
    }
    for (auto& end : ends)
    {
        end.services = end.link.MakeServices(end.settings);
    }
    return ends;
}

void MultiServiceLink::ChangeSchemes(MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther)
{
    auto ends = NewEnds(one, ofOne, other, ofOther);
    const auto& before = one.m_settings.places;
    const auto& after = ends[0].settings.places;
    for (std::size_t service = 0; service < std::max(before.size(), after.size()); ++service)
    {
        const bool stays = service < before.size() && service < after.size() && before[service].IsLike(after[service]);
        if (stays)
        {
            for (auto& end : ends)
            {
                end.link.m_places[service]->Occupant()->Set(end.settings.places[service].scheme);
            }
            continue;
        }
        for (std::size_t number = 0; number < ends.size() && service < before.size(); ++number)
        {
            const auto& peer = *ends[1 - number].link.m_places[service]->Occupant();
            auto& left = ends[number].left[service];
            auto& place = *ends[number].link.m_places[service];
            place.Occupant()->HandOver(peer, [&](const Packet& packet) { left.push_back(packet); });
            std::ranges::move(place.TakeAdopted(), std::back_inserter(left));
        }
        for (auto& end : ends)
        {
            auto& place = *end.link.m_places[service];
            place.Replace(service < after.size() ? std::move(end.services[service]) : nullptr);
        }
    }
    for (auto& end : ends)
    {
        end.link.Apply(end.settings);
        for (std::size_t service = 0; service < MOST_SERVICES; ++service)
        {
            auto& place = end.link.PlaceOf(static_cast<ServiceId>(service));
            for (const auto& packet : end.left[service])
            {
                place.Adopt(packet);
            }
            place.Feed();
        }
    }
}

void MultiServiceLink::ResetStatistics()
{
    for (std::size_t service = 0; service < m_settings.places.size(); ++service)
    {
        m_places[service]->Occupant()->Continue({});
        m_places[service]->Metrics().Restart({});
    }
}

const HeaderFormat& MultiServiceLink::FormatOf(ServiceId service) const
{
    return m_places[service]->Occupant()->Format();
}

const ServiceStatistics& MultiServiceLink::StatisticsOf(ServiceId service) const
{
    return m_places[service]->Occupant()->Statistics();
}

const ServiceMetrics& MultiServiceLink::MetricsOf(ServiceId service) const
{
    return m_places[service]->Metrics();
}

Json MultiServiceLink::Read(const MultiServiceLink* other) const
{
    const auto orNull = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    auto services = Json::array();
    for (std::size_t number = 0; number < m_settings.places.size(); ++number)
    {
        const auto& place = *m_places[number];
        const auto& metrics = place.Metrics();
        auto read = place.Occupant()->Statistics().Read();
        read.update(place.Occupant()->Read());
        read["scheme"] = m_settings.places[number].scheme.at("scheme");
        read["share"] = m_sharesNow[number];
        read["timer_factor"] = place.Occupant()->TimerFactor();
        read["waiting_frames"] = m_scheduler.Frames(static_cast<ServiceId>(number));
        read["goodput"] = orNull(metrics.Goodput());
        read["loss"] = orNull(metrics.Loss());
        read["delay"] = orNull(metrics.Delay());
        if (other != nullptr)
        {
            read["effective_goodput"] = orNull(ServiceMetrics::EffectiveGoodput(metrics, other->m_places[number]->Metrics()));
        }
        services.push_back(std::move(read));
    }
    return services;
}

MultiServiceLink::NewServices MultiServiceLink::MakeServices(const LayerSettings& settings)
{
    NewServices services;
    for (std::size_t service = 0; service < settings.places.size(); ++service)
    {
        services.push_back(MakeService(settings.places[service].scheme, m_end, *m_places[service]));
    }
    return services;
}

void MultiServiceLink::Apply(const LayerSettings& settings)
{
    const bool wasMeasured = m_settings.isMeasured;
    m_settings = settings;
    m_pacer.SetBatch(settings.batch);
    for (std::size_t service = 0; service < settings.places.size(); ++service)
    {
        m_places[service]->SetRoom(settings.places[service].queue);
        m_places[service]->Metrics().SetSmoothing(settings.smoothing);
        const bool hasMeasured = wasMeasured && m_sharesNow[service] > 0;
        if (!settings.isMeasured || !hasMeasured)
        {
            SetShare(static_cast<ServiceId>(service), settings.places[service].share);
        }
    }
    std::fill(m_sharesNow.begin() + static_cast<std::ptrdiff_t>(settings.places.size()), m_sharesNow.end(), 0.0);
    SetTimerFactors();
    m_measuring.Start(settings.interval);
    if (m_opening.IsRunning() && IsOpen())
    {
        m_opening.StartAt(m_timebase.Now());
    }
}

void MultiServiceLink::SetShare(ServiceId service, double share)
{
    m_sharesNow[service] = share;
    m_scheduler.SetShare(service, share);
}

void MultiServiceLink::SetTimerFactors()
{
    const auto services = m_settings.places.size();
    const auto sum = std::accumulate(m_sharesNow.begin(), m_sharesNow.begin() + static_cast<std::ptrdiff_t>(services), 0.0);
    for (std::size_t service = 0; service < services; ++service)
    {
        const auto factor = m_settings.factor == LayerSettings::Factor::Services ? static_cast<double>(services)
                            : m_settings.factor == LayerSettings::Factor::Share  ? sum / m_sharesNow[service]
                                                                                 : m_settings.fixedFactor;
        m_places[service]->Occupant()->SetTimerFactor(factor);
    }
}

void MultiServiceLink::Measure()
{
    const auto services = m_settings.places.size();
    for (std::size_t service = 0; service < services; ++service)
    {
        m_places[service]->Metrics().Measure(m_places[service]->Occupant()->Statistics());
    }
    if (const auto shares = m_settings.isMeasured ? m_meter.End(services) : std::nullopt)
    {
        for (std::size_t service = 0; service < services; ++service)
        {
            SetShare(static_cast<ServiceId>(service), (*shares)[service]);
        }
        SetTimerFactors();
    }
    m_measuring.Start(m_settings.interval);
}

void MultiServiceLink::Pump()
{
    if (m_isTransmitting || m_scheduler.IsEmpty())
    {
        return;
    }
    m_isTransmitting = true;
    m_onAir = m_scheduler.Dequeue();
    m_places[m_onAir.service]->Departs(m_onAir);
    m_host.Transmit(m_onAir);
}

ServicePlace& MultiServiceLink::PlaceOf(ServiceId service)
{
    return *m_places[service < m_settings.places.size() ? service : 0];
}

} // namespace netboxit::multiservice
