// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/station_parameter.h"

#include "air_end.h"
#include "../link_layer/layer_json.h"
#include "../link_layer/scheme_chooser.h"
#include "../link_layer/simulator_timebase.h"

#include <cmath>

namespace netboxit::multiservice
{

namespace
{

constexpr std::size_t ENDS = 2;

/// Parameters of both ends' link layers, which change together.
constexpr std::array OF_LAYERS{"services", "shares", "measure_interval", "timer_factor", "pacing", "pacing_batch"};

} // namespace

/// A link between two stations with a multi-service link layer. A parameter is of both ends, or, as a station's, of what it
/// sends.
class MultiServiceSegment : public Segment
{
  public:
    explicit MultiServiceSegment(const SegmentSetup& setup);
    ~MultiServiceSegment() override;

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Begin() override;
    void Reset() override;
    std::vector<Unlinked> WithoutLink() const override;
    std::optional<LinkState> StateOf(StationId station) const override;

  private:
    /// What is said of an end, or else of the link.
    const Json& Of(const Json& said, StationId station, const std::string& parameter) const;
    void SetEnd(StationId station, const std::string& parameter, const Json& value, const Json& said);
    void SetErrors(StationId station, const Json& value);
    void SetUp(StationId station, bool isUp);
    void SetLayers(const Json& said);
    /// Puts the choices of now into force.
    void ChangeSchemes(const Json& said);
    LinkFacts FactsOf(const Json& said, StationId station) const;
    Json WhyDown(StationId from) const;

    std::vector<std::string> m_names;
    std::vector<std::string> m_classes;
    Announcements& m_announcements;
    Json m_said; ///< the parameters now
    Accounting m_accounting;
    PacketsUnderWay m_underWay;
    PacketPool m_pool;
    SimulatorTimebase m_timebase;
    std::array<std::unique_ptr<AirEnd>, ENDS> m_ends;
    std::optional<SchemeChooser> m_chooser;
};

MultiServiceSegment::MultiServiceSegment(const SegmentSetup& setup)
    : m_names(setup.stations), m_classes(setup.classes), m_announcements(setup.announcements), m_said(setup.parameters),
      m_accounting(m_said.at("accounting") == "payload" ? Accounting::Kind::Payload : Accounting::Kind::Real, m_said.at("frame")),
      m_underWay(setup),
      m_pool([this](std::uint64_t item, bool isDelivered, Drop reason) { m_underWay.Settled(item, isDelivered, reason); })
{
    const auto overhead = static_cast<std::uint32_t>(m_said.at("overhead").get<double>());
    const AirParts parts{m_timebase, m_pool, m_underWay, m_accounting, overhead};
    for (StationId id = 0; id < ENDS; ++id)
    {
        m_ends[id] = std::make_unique<AirEnd>(setup, id, parts, Of(m_said, id, "queue"));
    }
    for (StationId id = 0; id < ENDS; ++id)
    {
        const auto& services = Of(m_said, id, "services");
        m_ends[id]->SetServices(ServicesOfClasses(services, m_classes));
        SetErrors(id, Of(m_said, id, "errors"));
        m_ends[id]->Begin(LayerJson(m_said, SchemeChooser::WithChoice(services, 0)),
                          FactsOf(m_said, id),
                          m_names[id] == m_said.at("base") ? LinkEnd::Base : LinkEnd::Mobile,
                          *m_ends[1 - id]);
        m_ends[id]->SetUp(Of(m_said, id, "up"));
    }
    m_chooser.emplace(m_timebase, m_ends[0]->Layer(), m_ends[1]->Layer(), [this] { ChangeSchemes(m_said); });
    CheckChoices(m_ends[0]->Layer(), Of(m_said, 0, "services"), m_ends[1]->Layer(), Of(m_said, 1, "services"), m_said);
    m_chooser->Set(Of(m_said, 0, "services"), m_said.at("measure_interval"));
}

MultiServiceSegment::~MultiServiceSegment()
{
    m_underWay.End();
}

const Json& MultiServiceSegment::Of(const Json& said, StationId station, const std::string& parameter) const
{
    const auto& own = said.at("stations").at(m_names[station]);
    const auto found = own.find(parameter);
    return found != own.end() && !found->is_null() ? *found : said.at(parameter);
}

LinkFacts MultiServiceSegment::FactsOf(const Json& said, StationId station) const
{
    return {.rate = Of(said, station, "rate"),
            .delay = std::llround(said.at("delay").get<double>() * 1e9),
            .framePayload = said.at("frame")};
}

void MultiServiceSegment::Transmit(StationId from, Destination, const Frame& frame)
{
    m_ends[from]->Send(frame);
}

void MultiServiceSegment::Set(std::string_view parameter, const Json& value)
{
    const auto target = TargetOf(parameter, m_names);
    const std::string name(target.parameter);
    auto said = m_said;
    if (target.station)
    {
        said["stations"][m_names[*target.station]][name] = value;
    }
    else
    {
        said[name] = value;
        for (const auto& station : m_names)
        {
            said["stations"][station].erase(name);
        }
    }
    if (std::ranges::find(OF_LAYERS, name) != OF_LAYERS.end())
    {
        SetLayers(said);
    }
    else
    {
        for (StationId id = 0; id < ENDS; ++id)
        {
            if (!target.station || target.station == id)
            {
                SetEnd(id, name, value, said); // a value that one end refuses the other does, too, and it comes first
            }
        }
    }
    m_said = std::move(said);
}

void MultiServiceSegment::SetEnd(StationId station, const std::string& parameter, const Json& value, const Json& said)
{
    if (parameter == "rate" || parameter == "delay")
    {
        m_ends[station]->SetFacts(FactsOf(said, station));
    }
    else if (parameter == "errors")
    {
        SetErrors(station, value);
    }
    else if (parameter == "queue")
    {
        m_ends[station]->SetQueue(value);
    }
    else // up
    {
        SetUp(station, value);
    }
}

void MultiServiceSegment::SetErrors(StationId station, const Json& value)
{
    if (value.at("model") != "level")
    {
        m_ends[station]->SetErrors(value);
        return;
    }
    const auto& levels = m_said.at("levels");
    if (levels.empty())
    {
        throw OutOfRange("errors: a level is of a profile, and this link has none; say another model of errors");
    }
    m_ends[station]->SetErrors(levels.at(value.at("level").get<std::size_t>() - 1));
}

void MultiServiceSegment::SetUp(StationId station, bool isUp)
{
    auto& end = *m_ends[station];
    if (isUp == end.IsUp())
    {
        return;
    }
    end.SetUp(isUp);
    // The one that cannot be reached.
    const StationId other = 1 - station;
    if (isUp)
    {
        m_announcements.Announce("link_up", other, {{"from", m_names[station]}});
    }
    else
    {
        m_announcements.Announce("link_down", other, WhyDown(station));
    }
}

void MultiServiceSegment::SetLayers(const Json& said)
{
    const auto& ofOne = Of(said, 0, "services");
    const auto& ofOther = Of(said, 1, "services");
    if (NamesOfServices(ofOne) != NamesOfServices(ofOther))
    {
        throw OutOfRange("services: the ends differ; both need the same schemes for the same classes, in the same order");
    }
    const auto ofClasses = ServicesOfClasses(ofOne, m_classes);
    CheckChoices(m_ends[0]->Layer(), ofOne, m_ends[1]->Layer(), ofOther, said);
    m_chooser->Set(ofOne, said.at("measure_interval"));
    ChangeSchemes(said);
    for (auto& end : m_ends)
    {
        end->SetServices(ofClasses);
    }
}

void MultiServiceSegment::ChangeSchemes(const Json& said)
{
    MultiServiceLink::ChangeSchemes(m_ends[0]->Layer(),
                                    LayerJson(said, m_chooser->Chosen(Of(said, 0, "services"))),
                                    m_ends[1]->Layer(),
                                    LayerJson(said, m_chooser->Chosen(Of(said, 1, "services"))));
}

Json MultiServiceSegment::WhyDown(StationId from) const
{
    return {{"reason", "taken down"}, {"from", m_names[from]}};
}

void MultiServiceSegment::Begin()
{
    for (auto& end : m_ends)
    {
        end->BeginTime();
    }
}

void MultiServiceSegment::Reset()
{
    for (auto& end : m_ends)
    {
        end->Reset();
    }
}

std::vector<Unlinked> MultiServiceSegment::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (StationId from = 0; from < ENDS; ++from)
    {
        if (!m_ends[from]->IsUp())
        {
            found.push_back({static_cast<StationId>(1 - from), WhyDown(from)});
        }
    }
    return found;
}

std::optional<LinkState> MultiServiceSegment::StateOf(StationId station) const
{
    const auto rate = [this](StationId id)
    { return m_ends[id]->IsUp() ? static_cast<std::uint64_t>(m_ends[id]->Facts().rate) : 0; };
    return LinkState{.transmit = rate(station), .receive = rate(1 - station), .latency = m_ends.at(station)->Facts().delay};
}

Json MultiServiceSegment::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < ENDS; ++id)
    {
        auto read = m_ends[id]->Read();
        const auto names = NamesOfServices(Of(m_said, id, "services"));
        const auto services = m_ends[id]->Layer().Read(&m_ends[1 - id]->Layer());
        for (std::size_t service = 0; service < names.size(); ++service)
        {
            read["services"][names[service]] = services.at(service);
        }
        stations[m_names[id]] = std::move(read);
    }
    return {{"stations", stations}};
}

} // namespace netboxit::multiservice

namespace netboxit
{

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<multiservice::MultiServiceSegment>(setup);
}

} // namespace netboxit
