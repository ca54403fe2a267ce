// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/histogram.h"
#include "../engine/segment.h"
#include "../generator/payload.h"

#include "announcement.h"
#include "flow_table.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::size_t FCS = 4;
constexpr std::size_t UDP_HEADER = 8;
constexpr std::uint8_t UDP_PROTOCOL = 17;

double Microseconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e3;
}

} // namespace

/// Where frames end. Those of a generator are accounted for by flow, sequence number and stamp.
class SinkSegment : public Segment
{
  public:
    explicit SinkSegment(const SegmentSetup& setup)
        : m_names(setup.stations), m_frames(setup.frames), m_stations(setup.stations.size())
    {
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Reset() override;

    bool IsEnd() const override
    {
        return true;
    }

  private:
    struct StationCounters
    {
        std::uint64_t received{};
        std::uint64_t bytes{};   ///< with FCS
        std::uint64_t foreign{}; ///< no generator's
        std::uint64_t announced{}; ///< flows
    };

    /// Of all flows together.
    struct Totals
    {
        std::uint64_t arrivals{};
        std::uint64_t unlisted{}; ///< of flows for which the table had no room
        std::int64_t first{};     ///< arrival, ns since 1970
        std::int64_t last{};
        std::int64_t delays{}; ///< their sum, ns
        std::int64_t shortest{INT64_MAX};
    };

    /// True when the frame is a generator's.
    bool Account(StationId station, Bytes frame, std::int64_t arrival);
    Json ReadDelays() const;

    std::vector<std::string> m_names;
    Frames& m_frames;
    std::vector<StationCounters> m_stations;
    FlowTable m_flows;
    Totals m_totals;
    Histogram m_delays;
};

void SinkSegment::Transmit(StationId from, Destination, const Frame& frame)
{
    const auto bytes = m_frames.Read(frame.slot);
    auto& station = m_stations[from];
    ++station.received;
    station.bytes += bytes.size() + FCS;
    station.foreign += !Account(from, bytes, m_frames.ArrivedAt(frame.slot));
    m_frames.Absorb(frame.slot);
}

bool SinkSegment::Account(StationId station, Bytes frame, std::int64_t arrival)
{
    const auto headers = ReadHeaders(frame);
    if (!headers.ip || headers.ip->version != 4 || headers.ip->protocol != UDP_PROTOCOL || !headers.ip->hasPorts)
    {
        return false;
    }
    const auto& ip = *headers.ip;
    if (ip.payload.size() < UDP_HEADER + payload::LENGTH || BigEndian16(ip.payload, UDP_HEADER) != payload::MAGIC)
    {
        return false;
    }
    const auto* const written = ip.payload.data() + UDP_HEADER;
    FlowKey key;
    std::copy_n(ip.source.data(), 8, key.begin()); // the destination's address follows the source's, the ports are first in UDP
    std::copy_n(ip.payload.data(), 4, key.begin() + 8);
    if (auto* flow = m_flows.Find(key); flow != nullptr)
    {
        const auto announcement = flow->Received() == 0 ? AnnouncementOf(frame, headers) : std::nullopt;
        if (announcement && m_frames.Emit(station, *announcement))
        {
            ++m_stations[station].announced;
        }
        flow->Arrived(payload::Read64(written + payload::SEQUENCE_AT));
    }
    else
    {
        ++m_totals.unlisted;
    }
    const auto delay = arrival - static_cast<std::int64_t>(payload::Read64(written + payload::STAMP_AT));
    m_delays.Record(delay);
    m_totals.delays += delay;
    m_totals.shortest = std::min(m_totals.shortest, delay);
    m_totals.first = m_totals.arrivals == 0 ? arrival : m_totals.first;
    m_totals.last = arrival;
    ++m_totals.arrivals;
    return true;
}

void SinkSegment::Set(std::string_view parameter, const Json&)
{
    throw UnknownParameter("sink: no live parameter '" + std::string(parameter) + "'; there is none");
}

Json SinkSegment::Read() const
{
    Json stations = Json::object();
    std::uint64_t foreign = 0;
    for (StationId id = 0; id < m_names.size(); ++id)
    {
        const auto& counted = m_stations[id];
        stations[m_names[id]] = {
            {"received", counted.received}, {"bytes", counted.bytes}, {"foreign", counted.foreign},
            {"announced", counted.announced}};
        foreign += counted.foreign;
    }
    auto flows = Json::array();
    std::uint64_t received = 0;
    std::uint64_t lost = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t reordered = 0;
    for (const auto& [key, account] : m_flows.Flows())
    {
        flows.push_back({{"source", SourceOf(key)},
                         {"destination", DestinationOf(key)},
                         {"received", account.Received()},
                         {"lost", account.Lost()},
                         {"duplicates", account.Duplicates()},
                         {"reordered", account.Reordered()},
                         {"unplaced", account.Unplaced()},
                         {"lowest_sequence", account.Lowest()},
                         {"next_sequence", account.Next()}});
        received += account.Received();
        lost += account.Lost();
        duplicates += account.Duplicates();
        reordered += account.Reordered();
    }
    const auto seconds = static_cast<double>(m_totals.last - m_totals.first) / 1e9;
    return {{"stations", stations},
            {"flows", flows},
            {"received", received},
            {"lost", lost},
            {"duplicates", duplicates},
            {"reordered", reordered},
            {"foreign", foreign},
            {"unlisted", m_totals.unlisted},
            {"delay_us", ReadDelays()},
            {"first_ns", m_totals.first},
            {"last_ns", m_totals.last},
            {"rate", seconds > 0 ? static_cast<double>(m_totals.arrivals - 1) / seconds : 0.0}};
}

Json SinkSegment::ReadDelays() const
{
    if (m_totals.arrivals == 0)
    {
        return {{"count", 0}};
    }
    return {{"count", m_totals.arrivals},
            {"mean", Microseconds(m_totals.delays) / static_cast<double>(m_totals.arrivals)},
            {"min", Microseconds(m_totals.shortest)},
            {"p50", Microseconds(m_delays.Percentile(0.5))},
            {"p90", Microseconds(m_delays.Percentile(0.9))},
            {"p99", Microseconds(m_delays.Percentile(0.99))},
            {"p99_9", Microseconds(m_delays.Percentile(0.999))},
            {"max", Microseconds(m_delays.Maximum())}};
}

void SinkSegment::Reset()
{
    m_stations.assign(m_stations.size(), {});
    m_flows.Clear();
    m_totals = {};
    m_delays.Reset();
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<SinkSegment>(setup);
}

} // namespace netboxit
