// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_layer_segment.h"

#include "layer_json.h"

#include <algorithm>

namespace netboxit::link_layer
{

using multiservice::Accounting;
using multiservice::LayerJson;
using multiservice::SchemeChooser;

namespace
{

/// Below which a fragment has no room for a part of a packet beside its header, bytes.
constexpr std::uint32_t SHORTEST_FRAME = 16;

/// Of settings that parameters in a file never are. Throws OutOfRange.
const Json& Checked(const Json& settings)
{
    if (settings.at("frame") < SHORTEST_FRAME || settings.at("rate") <= 0 || settings.at("delay") < 0)
    {
        throw OutOfRange("link_layer: a frame has 16 bytes or more, a rate is above 0, and a delay is not below 0");
    }
    return settings;
}

/// For a frame, half of the time for which timers wait for its acknowledgement, unless a service says others; ns.
std::int64_t LongestWay(const Json& settings)
{
    return std::llround(settings.at("defaults").at("sr-m2").at("timer").get<double>() / 2 * 1e9);
}

} // namespace

LinkLayerSegment::LinkLayerSegment(const SegmentSetup& setup, SegmentMaker makeTechnology, const Json& settings)
    : m_names(setup.stations), m_classes(setup.classes), m_said(Checked(settings)),
      m_ofClasses(multiservice::ServicesOfClasses(m_said.at("services"), m_classes)),
      m_accounting(Accounting::Kind::Real, m_said.at("frame")), m_underWay(setup),
      m_pool([this](std::uint64_t item, bool isDelivered, multiservice::Drop reason) { m_underWay.Settled(item, isDelivered, reason); }),
      m_frames(setup,
               LongestWay(m_said),
               [this](const LayerFrames::Carried& carried, bool hasArrived)
               { EndOf(carried.to, carried.from).Take(carried.frame, hasArrived); }),
      m_technology(makeTechnology(
          {setup.stations, setup.classes, setup.parameters, m_frames, m_frames, setup.announcements}))
{
    if (m_technology->IsEnd() || m_names.size() < 2)
    {
        throw OutOfRange("a link layer is between stations, and this netbox has only ends of the network");
    }
    for (std::size_t station = 0; station < m_names.size(); ++station)
    {
        m_transmitters.push_back(std::make_unique<Transmitter>(m_timebase, m_said.at("rate")));
    }
    try
    {
        PairOf(0, 1); // at once: settings that are not permitted are refused before frames come
    }
    catch (const std::invalid_argument& error)
    {
        throw OutOfRange(error.what());
    }
}

LinkLayerSegment::~LinkLayerSegment()
{
    m_underWay.End();
}

void LinkLayerSegment::Transmit(StationId from, Destination to, const Frame& frame)
{
    constexpr std::size_t BOTH = 2;
    // The one other station of two is the peer of all frames.
    const auto peer = m_names.size() == BOTH ? std::optional<StationId>(1 - from) : to.station;
    if (!peer)
    {
        m_technology->Transmit(from, to, frame);
        return;
    }
    PairOf(from, *peer);
    EndOf(from, *peer).Send(m_ofClasses[frame.trafficClass], frame);
}

LinkLayerSegment::Pair& LinkLayerSegment::PairOf(StationId one, StationId other)
{
    const Stations stations = std::minmax(one, other);
    auto found = m_pairs.find(stations);
    if (found == m_pairs.end())
    {
        found = m_pairs.emplace(stations, MakePair(stations.first, stations.second)).first;
    }
    return found->second;
}

LinkLayerSegment::Pair LinkLayerSegment::MakePair(StationId first, StationId second)
{
    const LayerParts parts{m_timebase, m_pool, m_underWay, m_accounting, m_frames, *m_technology};
    Pair pair{std::make_unique<LayerEnd>(parts, first, second, *m_transmitters[first]),
              std::make_unique<LayerEnd>(parts, second, first, *m_transmitters[second]),
              nullptr};
    const auto& services = m_said.at("services");
    const auto settings = LayerJson(m_said, SchemeChooser::WithChoice(services, 0));
    const LinkFacts facts{.rate = m_said.at("rate"),
                          .delay = std::llround(m_said.at("delay").get<double>() * 1e9),
                          .framePayload = m_said.at("frame")};
    // The first of the file of two that are both no base.
    const bool isSecondBase = m_names[second] == m_said.at("base");
    pair.first->Open(settings, facts, isSecondBase ? LinkEnd::Mobile : LinkEnd::Base, *pair.second);
    pair.second->Open(settings, facts, isSecondBase ? LinkEnd::Base : LinkEnd::Mobile, *pair.first);
    multiservice::CheckChoices(pair.first->Layer(), services, pair.second->Layer(), services, m_said);
    pair.chooser = std::make_unique<SchemeChooser>(
        m_timebase, pair.first->Layer(), pair.second->Layer(), [this, first, second] { ChangeSchemes(PairOf(first, second)); });
    pair.chooser->Set(services, m_said.at("measure_interval"));
    return pair;
}

void LinkLayerSegment::ChangeSchemes(const Pair& pair) const
{
    const auto settings = LayerJson(m_said, pair.chooser->Chosen(m_said.at("services")));
    MultiServiceLink::ChangeSchemes(pair.first->Layer(), settings, pair.second->Layer(), settings);
}

LayerEnd& LinkLayerSegment::EndOf(StationId station, StationId peer)
{
    return m_pairs.at(std::minmax(station, peer)).Of(station < peer);
}

void LinkLayerSegment::Set(std::string_view parameter, const Json& value)
{
    if (parameter == "services")
    {
        SetServices(value);
    }
    else
    {
        m_technology->Set(parameter, value);
    }
}

void LinkLayerSegment::SetServices(const Json& services)
{
    auto ofClasses = multiservice::ServicesOfClasses(services, m_classes);
    // A change that one pair refuses all do.
    auto& checked = m_pairs.begin()->second;
    multiservice::CheckChoices(checked.first->Layer(), services, checked.second->Layer(), services, m_said);
    m_said["services"] = services;
    m_ofClasses = std::move(ofClasses);
    for (auto& [stations, pair] : m_pairs)
    {
        pair.chooser->Set(services, m_said.at("measure_interval"));
        ChangeSchemes(pair);
    }
}

Json LinkLayerSegment::Read() const
{
    auto read = m_technology->Read();
    for (StationId station = 0; station < m_names.size(); ++station)
    {
        auto& own = read["stations"][m_names[station]];
        own["services"] = ReadServices(station);
        own["link_layer"] = ReadFrames(station);
    }
    return read;
}

Json LinkLayerSegment::ReadServices(StationId station) const
{
    auto read = Json::object();
    const auto names = multiservice::NamesOfServices(m_said.at("services"));
    for (const auto& [stations, pair] : m_pairs)
    {
        const auto [first, second] = stations;
        if (station != first && station != second)
        {
            continue;
        }
        const auto& peer = m_names[station == first ? second : first];
        const auto services = pair.Of(station == first).Layer().Read(&pair.Of(station != first).Layer());
        for (std::size_t service = 0; service < names.size(); ++service)
        {
            read[m_names.size() == 2 ? names[service] : names[service] + " to " + peer] = services.at(service);
        }
    }
    return read;
}

Json LinkLayerSegment::ReadFrames(StationId station) const
{
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t waiting = 0;
    for (const auto& [stations, pair] : m_pairs)
    {
        if (station == stations.first || station == stations.second)
        {
            auto& end = pair.Of(station == stations.first);
            frames += end.FramesSent();
            bytes += end.BytesSent();
            waiting += end.Layer().QueuedBytes();
        }
    }
    const auto& arrivals = m_frames.ArrivalsOf(station);
    return {{"frames_sent", frames},
            {"sent_bytes", bytes},
            {"waiting_bytes", waiting},
            {"frames_arrived", arrivals.all},
            {"frames_late", arrivals.late},
            {"frames_lost", m_frames.LossesOf(station).ReadOccurred()}};
}

void LinkLayerSegment::Prepare()
{
    m_technology->Prepare();
}

void LinkLayerSegment::Begin()
{
    m_technology->Begin();
}

void LinkLayerSegment::Reset()
{
    m_technology->Reset();
    m_frames.ResetStatistics();
    for (auto& [stations, pair] : m_pairs)
    {
        pair.first->ResetStatistics();
        pair.second->ResetStatistics();
    }
}

std::int64_t LinkLayerSegment::Lead() const
{
    return m_technology->Lead();
}

bool LinkLayerSegment::ProxiesNeighbours() const
{
    return m_technology->ProxiesNeighbours();
}

bool LinkLayerSegment::Connects(StationId from, StationId to) const
{
    return m_technology->Connects(from, to);
}

std::vector<Unlinked> LinkLayerSegment::WithoutLink() const
{
    return m_technology->WithoutLink();
}

std::optional<LinkState> LinkLayerSegment::StateOf(StationId station) const
{
    return m_technology->StateOf(station);
}

bool LinkLayerSegment::Ready() const
{
    return m_technology->Ready();
}

} // namespace netboxit::link_layer
