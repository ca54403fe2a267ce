// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/station_parameter.h"

#include "direction.h"
#include "outages.h"

namespace netboxit::link
{

namespace
{

constexpr std::size_t ENDS = 2;
/// Behind those of the two directions.
constexpr std::int64_t OUTAGE_STREAMS = 2 * Direction::STREAMS;

/// Applied in this order; `rate` before `trace`, which has another in its place.
constexpr std::array PARAMETERS{"overhead", "rate",   "delay", "jitter",     "loss", "duplication", "reordering",
                                "corruption", "queue", "trace", "while_down", "outage", "up"};

} // namespace

/// A link between two stations. A parameter is of both directions, or, as a station's, of what it sends.
class LinkSegment : public Segment
{
  public:
    explicit LinkSegment(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Begin() override;
    void Reset() override;
    std::vector<Unlinked> WithoutLink() const override;
    std::optional<LinkState> StateOf(StationId station) const override;

  private:
    struct End
    {
        std::unique_ptr<Direction> outgoing;
        std::unique_ptr<Outages> outages; ///< of its own
        bool outage{false};               ///< one of its own
        bool up{true};                    ///< nobody has taken it down
        bool announcedDown{false};
    };

    void SetOne(StationId station, std::string_view parameter, const Json& value);
    void SetUp(StationId station, const Json& value);
    /// A reason why what this station sends does not arrive has come or gone.
    void Changed(StationId station);
    /// Why what the station `from` sends does not arrive.
    Json WhyDown(StationId from) const;

    std::vector<std::string> m_names;
    Announcements& m_announcements;
    std::array<End, ENDS> m_ends;
    bool m_commonOutage{false};
    Outages m_commonOutages;
    std::array<bool, ENDS> m_hasOwnOutages{};
};

LinkSegment::LinkSegment(const SegmentSetup& setup)
    : m_names(setup.stations), m_announcements(setup.announcements),
      m_commonOutages(OUTAGE_STREAMS,
                      [this](bool down)
                      {
                          m_commonOutage = down;
                          Changed(0);
                          Changed(1);
                      })
{
    for (StationId id = 0; id < ENDS; ++id)
    {
        auto& end = m_ends[id];
        end.outgoing = std::make_unique<Direction>(setup, id);
        end.outages = std::make_unique<Outages>(OUTAGE_STREAMS + 1 + id,
                                                [this, id](bool down)
                                                {
                                                    m_ends[id].outage = down;
                                                    Changed(id);
                                                });
    }
    const auto& said = setup.parameters;
    for (const std::string parameter : PARAMETERS)
    {
        if (parameter == "outage")
        {
            m_commonOutages.Set(said.at(parameter));
        }
        for (StationId id = 0; id < ENDS; ++id)
        {
            const auto own = said.at("stations").at(m_names[id]).value(parameter, Json());
            if (!own.is_null())
            {
                SetOne(id, parameter, own);
            }
            else if (parameter != "outage")
            {
                SetOne(id, parameter, said.at(parameter));
            }
        }
    }
}

void LinkSegment::Transmit(StationId from, Destination, const Frame& frame)
{
    m_ends[from].outgoing->Send(frame);
}

void LinkSegment::Set(std::string_view parameter, const Json& value)
{
    const auto target = TargetOf(parameter, m_names);
    if (target.station)
    {
        SetOne(*target.station, target.parameter, value);
        return;
    }
    if (target.parameter == "outage")
    {
        m_commonOutages.Set(value);
        for (StationId id = 0; id < ENDS; ++id)
        {
            m_hasOwnOutages[id] = false;
            m_ends[id].outages->Set(nullptr);
            Changed(id);
        }
        return;
    }
    for (StationId id = 0; id < ENDS; ++id)
    {
        SetOne(id, target.parameter, value); // a value that one end refuses the other does, too, and it comes first
    }
}

void LinkSegment::SetOne(StationId station, std::string_view parameter, const Json& value)
{
    if (parameter == "up")
    {
        SetUp(station, value);
    }
    else if (parameter == "outage")
    {
        m_ends[station].outages->Set(value);
        m_hasOwnOutages[station] = true;
        Changed(station);
    }
    else
    {
        m_ends[station].outgoing->Set(parameter, value);
    }
}

void LinkSegment::SetUp(StationId station, const Json& value)
{
    m_ends[station].up = value;
    Changed(station);
}

void LinkSegment::Changed(StationId station)
{
    auto& end = m_ends[station];
    const bool outage = m_hasOwnOutages[station] ? end.outage : m_commonOutage;
    const bool down = outage || !end.up;
    if (end.outgoing == nullptr || down == end.announcedDown)
    {
        return;
    }
    end.announcedDown = down;
    end.outgoing->SetDown(down);
    // The one that cannot be reached.
    const StationId other = 1 - station;
    if (down)
    {
        m_announcements.Announce("link_down", other, WhyDown(station));
    }
    else
    {
        m_announcements.Announce("link_up", other, {{"from", m_names[station]}});
    }
}

void LinkSegment::Begin()
{
    m_commonOutages.Begin();
    for (auto& end : m_ends)
    {
        end.outages->Begin();
        end.outgoing->Begin();
    }
}

void LinkSegment::Reset()
{
    for (auto& end : m_ends)
    {
        end.outgoing->Reset();
    }
}

std::vector<Unlinked> LinkSegment::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (StationId from = 0; from < ENDS; ++from)
    {
        const StationId other = 1 - from;
        if (m_ends[from].announcedDown)
        {
            found.push_back({other, WhyDown(from)});
        }
    }
    return found;
}

std::optional<LinkState> LinkSegment::StateOf(StationId station) const
{
    const auto& own = *m_ends.at(station).outgoing;
    return LinkState{.transmit = static_cast<std::uint64_t>(own.Rate()),
                     .receive = static_cast<std::uint64_t>(m_ends[1 - station].outgoing->Rate()),
                     .latency = own.Delay()};
}

Json LinkSegment::WhyDown(StationId from) const
{
    return {{"reason", m_ends[from].up ? "outage" : "taken down"}, {"from", m_names[from]}};
}

Json LinkSegment::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < ENDS; ++id)
    {
        stations[m_names[id]] = m_ends[id].outgoing->Read();
    }
    return {{"stations", stations}};
}

} // namespace netboxit::link

namespace netboxit
{

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<link::LinkSegment>(setup);
}

} // namespace netboxit
