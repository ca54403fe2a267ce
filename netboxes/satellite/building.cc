// SPDX-License-Identifier: GPL-2.0-or-later
#include "satellite.h"

namespace netboxit
{

namespace
{

/// Random streams of a station: packets lost by chance, codewords lost by the signal, rain over it, its queue.
constexpr std::int64_t FIRST_STREAM = 2000;
constexpr std::int64_t FIRST_CODEWORD_STREAM = 3000;
constexpr std::int64_t FIRST_RAIN_STREAM = 4000;
constexpr std::int64_t FIRST_QUEUE_STREAM = 5000;

std::optional<double> Optional(const Json& parameters, const char* name)
{
    return parameters.contains(name) && !parameters.at(name).is_null() ? std::optional(parameters.at(name).get<double>()) : std::nullopt;
}

Method MethodOf(const std::string& name)
{
    const auto found = std::ranges::find(METHOD_NAMES, name);
    if (found == METHOD_NAMES.end())
    {
        throw std::invalid_argument("satellite: no capacity request method " + name);
    }
    return METHODS[static_cast<std::size_t>(found - METHOD_NAMES.begin())];
}

/// What `said` says of a request class, and where it is silent, `otherwise`.
RequestClass RequestClassOf(const Json& said, const Json& otherwise, double equalShare)
{
    const auto value = [&](const char* name)
    { return said.contains(name) && !said.at(name).is_null() ? said.at(name) : otherwise.at(name); };
    RequestClass result;
    for (const auto& method : value("capacity_request"))
    {
        result.methods.push_back(MethodOf(method));
    }
    const auto number = [&](const char* name, double unsaid) { return value(name).is_null() ? unsaid : value(name).get<double>(); };
    result.craRate = number("cra_rate", equalShare);
    result.rbdcMaximum = number("rbdc_max", otherwise.at("return_rate"));
    result.rbdcTimeout = number("rbdc_timeout", 0.0);
    result.vbdcMaximum = number("vbdc_max", 0.0);
    return result;
}

} // namespace

SatelliteSegment::SatelliteSegment(const SegmentSetup& setup)
    : m_fates(setup.fates), m_announcements(setup.announcements), m_mesh(setup.parameters.at("connectivity") == "mesh"),
      m_shared(setup.parameters.at("return_channel") == "shared"), m_packetErrorRate(setup.parameters.at("packet_error_rate")),
      m_reaction(setup.parameters.at("acm_reaction")), m_outage(setup.parameters.at("outage")), m_delay(setup.parameters),
      m_sky(setup.parameters), m_forwardProfiles(ProfileSetOf(setup.parameters.at("forward_profiles"))),
      m_returnProfiles(ProfileSetOf(setup.parameters.at("return_profiles"))),
      m_controlProfile(ProfileOf(setup.parameters.at("control_profile"))), m_names(setup.stations),
      m_classes(setup.classes)
{
    BuildStations(setup);
    BuildLinks(setup.parameters);
    if (m_shared)
    {
        BuildReturnChannel(setup);
    }
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        m_stations[id].sender = id == m_gateway ? MakeForward(setup) : MakeReturn(id, setup);
    }
    MeasureAll();
    UpdateLinks();
}

void SatelliteSegment::BuildStations(const SegmentSetup& setup)
{
    for (StationId id = 0; id < setup.stations.size(); ++id)
    {
        const auto& said = setup.parameters.at("stations").at(setup.stations[id]);
        if (said.at("role") == "gateway")
        {
            m_gateway = id;
        }
        else
        {
            m_terminals.push_back(id);
        }
        auto& station = m_stations.emplace_back();
        station.name = setup.stations[id];
        station.errors = ns3::CreateObject<ns3::UniformRandomVariable>();
        station.errors->SetStream(FIRST_STREAM + id);
        station.codewords = ns3::CreateObject<ns3::UniformRandomVariable>();
        station.codewords->SetStream(FIRST_CODEWORD_STREAM + id);
        station.sky = std::make_unique<Sky>(said, FIRST_RAIN_STREAM + id);
        station.heard.resize(setup.stations.size());
        station.outage = said.at("outage");
    }
}

void SatelliteSegment::BuildLinks(const Json& parameters)
{
    const AdaptationRules rules{.margin = parameters.at("acm_margin"), .hysteresis = parameters.at("hysteresis")};
    m_links.resize(m_stations.size());
    for (const auto id : m_terminals)
    {
        const auto& said = parameters.at("stations").at(m_names[id]);
        const double forwardClear = Optional(said, "forward_es_n0").value_or(parameters.at("forward_es_n0"));
        const double returnClear = Optional(said, "return_es_n0").value_or(parameters.at("return_es_n0"));
        m_links[id].emplace(TerminalLink{.forward = AdaptiveCoding(m_forwardProfiles, rules, forwardClear),
                                         .back = AdaptiveCoding(m_returnProfiles, rules, returnClear),
                                         .forwardClearSky = forwardClear,
                                         .returnClearSky = returnClear,
                                         .delay = Optional(said, "delay"),
                                         .packetErrorRate = Optional(said, "packet_error_rate"),
                                         .place = std::nullopt});
        m_links[id]->place = static_cast<std::size_t>(std::ranges::find(m_terminals, id) - m_terminals.begin());
    }
}

void SatelliteSegment::BuildReturnChannel(const SegmentSetup& setup)
{
    const auto& said = setup.parameters;
    const auto& reference = m_returnProfiles.Reference();
    const double rate = said.at("return_rate");
    std::vector<NetworkControl::Terminal> terminals;
    for (const auto id : m_terminals)
    {
        const auto& station = said.at("stations").at(m_names[id]);
        auto& classes = terminals.emplace_back();
        RequestClass others = RequestClassOf(station, said, said.at("equal_cra_rate"));
        for (ClassId trafficClass = 0; trafficClass < m_classes.size(); ++trafficClass)
        {
            if (said.at("request_classes").contains(m_classes[trafficClass]))
            {
                classes.push_back(RequestClassOf(said.at("request_classes").at(m_classes[trafficClass]), said, 0.0));
                classes.back().classes = {trafficClass};
            }
            else
            {
                others.classes.push_back(trafficClass);
            }
        }
        classes.push_back(others);
    }
    const SuperframeLayout layout{.carriers = said.at("return_carriers"),
                                  .slotsPerCarrier = said.at("slots_per_carrier"),
                                  .slotBits = static_cast<double>(reference.bits),
                                  .rate = rate,
                                  .controlInterval = said.at("control_interval"),
                                  .controlPerSlot = reference.symbols / m_controlProfile.symbols,
                                  .leadTime = said.at("plan_lead")};
    m_returnChannel = std::make_unique<ReturnChannel>(
        layout,
        std::move(terminals),
        ReturnChannel::Surroundings{
            .payload = [this](std::size_t terminal)
            {
                const auto& link = Link(m_terminals[terminal]);
                return link.down ? 0.0 : link.back.UsedProfile().payload;
            },
            .delay = [this](std::size_t terminal) { return DelayBetween(m_terminals[terminal], m_gateway); },
            .requestArrives =
                [this](std::size_t terminal)
            {
                const auto errorRate = ReturnErrorRate(m_terminals[terminal], m_controlProfile);
                return m_stations[m_terminals[terminal]].codewords->GetValue() >= errorRate;
            },
        });
}

std::unique_ptr<Sender> SatelliteSegment::MakeForward(const SegmentSetup& setup)
{
    auto filler = std::make_unique<BurstFiller>(
        setup,
        FIRST_QUEUE_STREAM + m_gateway,
        GSE,
        m_forwardProfiles.profiles,
        [this](const Packet& packet) { return ForwardCoding(packet); },
        [this](const Packet& packet, ns3::Time sent) { Depart(m_gateway, packet, sent); },
        [this](const Packet& packet, Loss reason) { Lose(m_gateway, packet, reason); });
    return std::make_unique<Carrier>(std::move(filler), m_forwardProfiles.reference, setup.parameters.at("forward_rate"));
}

std::unique_ptr<Sender> SatelliteSegment::MakeReturn(StationId terminal, const SegmentSetup& setup)
{
    const auto& said = setup.parameters;
    auto filler = std::make_unique<BurstFiller>(
        setup,
        FIRST_QUEUE_STREAM + terminal,
        RLE,
        m_returnProfiles.profiles,
        [this, terminal](const Packet&) { return Link(terminal).back.Used(); },
        [this, terminal](const Packet& packet, ns3::Time sent) { Depart(terminal, packet, sent); },
        [this, terminal](const Packet& packet, Loss reason) { Lose(terminal, packet, reason); });
    if (m_shared)
    {
        return m_returnChannel->MakeSender(std::move(filler));
    }
    const double rate = Optional(said.at("stations").at(m_names[terminal]), "return_rate").value_or(said.at("return_rate"));
    return std::make_unique<Carrier>(std::move(filler), m_returnProfiles.reference, rate);
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<SatelliteSegment>(setup);
}

} // namespace netboxit
