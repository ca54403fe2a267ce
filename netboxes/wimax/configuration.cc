// SPDX-License-Identifier: GPL-2.0-or-later
#include "configuration.h"

#include "scheduler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace netboxit::wimax
{

namespace
{

/// Class of everything that no other class matches; it has no flow of its own unless one is declared.
constexpr const char* IMPLICIT = "implicit";

std::optional<double> Optional(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->get<double>());
}

std::optional<Timeline> Series(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found == object.end() || found->is_null()
               ? std::nullopt
               : std::optional(Timeline(*found, Timeline::Between::Line));
}

bool Flag(const Json& object, const char* key, bool otherwise)
{
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? otherwise : found->get<bool>();
}

template <std::size_t N>
std::size_t IndexOf(const std::array<std::string_view, N>& names,
                    const std::string& name,
                    const std::string& what)
{
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
    {
        std::string known;
        for (const auto candidate : names)
        {
            known += (known.empty() ? "" : ", ") + std::string(candidate);
        }
        throw std::invalid_argument("wimax: " + what + " '" + name + "' is not one of " + known);
    }
    return static_cast<std::size_t>(found - names.begin());
}

double GuardRatio(const std::string& text)
{
    static constexpr std::array NAMES{
        std::string_view("1/4"), std::string_view("1/8"), std::string_view("1/16"), std::string_view("1/32")};
    return std::ldexp(0.25, -static_cast<int>(IndexOf(NAMES, text, "guard")));
}

std::string Join(const std::vector<std::string>& names)
{
    std::string text;
    for (const auto& name : names)
    {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

} // namespace

Configuration::Configuration(const SegmentSetup& setup) : classes(setup.classes)
{
    const Json& parameters = setup.parameters;
    // Not said only when every subscriber has a place of its own.
    distanceM = Optional(parameters, "distance").value_or(0.0);
    fadeDb = parameters.at("fade").get<double>();
    fadeSeries = Series(parameters, "fade_series");
    shadowingDb = parameters.at("shadowing").get<double>();
    shadowingCorrelationM = parameters.at("shadowing_distance").get<double>();
    txPowerDbm = parameters.at("tx_power").get<double>();
    radio = {parameters.at("frequency").get<double>(),
             parameters.at("noise_figure").get<double>(),
             parameters.at("implementation_loss").get<double>(),
             parameters.at("propagation").get<std::string>(),
             parameters.at("path_loss_exponent").get<double>(),
             parameters.at("base_height").get<double>(),
             parameters.at("subscriber_height").get<double>()};
    numerology = MakeNumerology(parameters.at("bandwidth").get<double>(),
                                GuardRatio(parameters.at("guard").get<std::string>()));
    frame.frameS = parameters.at("frame").get<double>();
    frame.downlinkShare = parameters.at("downlink_share").get<double>();
    frame.ttgS = parameters.at("ttg").get<double>();
    frame.rtgS = parameters.at("rtg").get<double>();
    frame.requestOpportunities = parameters.at("request_opportunities").get<std::uint32_t>();
    frame.rangingEveryFrames = static_cast<std::uint32_t>(
        std::max(1.0, std::round(parameters.at("ranging_interval").get<double>() / frame.frameS)));
    static constexpr std::array RELEVANCES{std::string_view("same-frame"), std::string_view("next-frame")};
    mapRelevance = static_cast<MapRelevance>(
        IndexOf(RELEVANCES, parameters.at("uplink_map").get<std::string>(), "uplink_map"));
    contention = {parameters.at("backoff_start").get<std::uint32_t>(),
                  parameters.at("backoff_end").get<std::uint32_t>(),
                  ns3::Seconds(parameters.at("request_timeout").get<double>())};
    receiverSnrDb = parameters.at("receiver_snr_thresholds").get<SnrThresholds>();
    if (const auto profile = parameters.at("burst_profile").get<std::string>(); profile != "adaptive")
    {
        std::array<std::string_view, PROFILES.size()> names;
        std::ranges::transform(PROFILES, names.begin(), &BurstProfile::name);
        fixedProfile = IndexOf(names, profile, "burst_profile");
    }
    hysteresisDb = parameters.at("hysteresis").get<double>();
    queue = parameters.at("queue");
    carriage = {parameters.at("fragmentation").get<bool>(),
                parameters.at("packing").get<bool>(),
                parameters.at("crc").get<bool>()};
    static constexpr std::array GRANTS{std::string_view("station"), std::string_view("connection")};
    perConnection = IndexOf(GRANTS, parameters.at("grants").get<std::string>(), "grants") == 1;
    scheduler = IndexOf(SCHEDULER_NAMES, parameters.at("scheduler").get<std::string>(), "scheduler");
    ReadStations(setup);
    ReadFlows(parameters.at("service_flows"));
}

void Configuration::ReadStations(const SegmentSetup& setup)
{
    const Json& described = setup.parameters.at("stations");
    const double cellGainDbi = setup.parameters.at("antenna_gain").get<double>();
    int bases = 0;
    for (const auto& name : setup.stations)
    {
        const Json& parameters = described.at(name);
        StationConfiguration station;
        station.name = name;
        station.base = parameters.at("role").get<std::string>() == "base";
        station.antennaGainDbi = Optional(parameters, "antenna_gain").value_or(cellGainDbi);
        station.distanceM = Optional(parameters, "distance");
        station.txPowerDbm = Optional(parameters, "tx_power");
        station.fadeDb = Optional(parameters, "fade").value_or(0.0);
        station.fadeSeries = Series(parameters, "fade_series");
        if (station.base)
        {
            base = static_cast<StationId>(stations.size());
            ++bases;
        }
        stations.push_back(station);
    }
    if (bases != 1)
    {
        throw std::invalid_argument("wimax: a cell has exactly one station of role base, this one has " +
                                    std::to_string(bases) + " (stations: " + Join(setup.stations) + ")");
    }
}

void Configuration::ReadFlows(const Json& flows)
{
    for (const auto& flow : flows)
    {
        m_declared.push_back(ReadFlow(flow));
    }
    RefuseDuplicates();
}

Configuration::DeclaredFlow Configuration::ReadFlow(const Json& flow) const
{
    static constexpr std::array DIRECTIONS{std::string_view("uplink"), std::string_view("downlink")};
    DeclaredFlow declared;
    ServiceFlow& read = declared.flow;
    read.name = flow.at("class").get<std::string>();
    if (std::find(classes.begin(), classes.end(), read.name) == classes.end())
    {
        throw std::invalid_argument("wimax: a service flow is for class '" + read.name +
                                    "', which the netbox does not declare; its classes are " + Join(classes));
    }
    read.direction =
        static_cast<Direction>(IndexOf(DIRECTIONS, flow.at("direction").get<std::string>(), "direction"));
    read.scheduling = static_cast<Scheduling>(
        IndexOf(SCHEDULING_NAMES, flow.at("scheduling").get<std::string>(), "scheduling"));
    read.reservedRate = Optional(flow, "reserved_rate").value_or(0.0);
    // UGS has one rate (6.3.5.2.1): nothing beyond what is reserved. ertPS: not unless it is said.
    const bool unsolicited = IsUnsolicited(read.scheduling);
    const double unlimited = unsolicited ? read.reservedRate : std::numeric_limits<double>::infinity();
    read.maximumRate = Optional(flow, "maximum_rate").value_or(unlimited);
    const char* intervalKey = unsolicited ? "grant_interval" : "polling_interval";
    // 6.3.5.2.3: an nrtPS flow is polled on the order of one second or less.
    const double usual = read.scheduling == Scheduling::NrtPs ? 1.0 : frame.frameS;
    read.interval = ns3::Seconds(Optional(flow, intervalKey).value_or(usual));
    if (const auto latency = Optional(flow, "maximum_latency"))
    {
        read.maximumLatency = ns3::Seconds(*latency);
    }
    read.packetBytes = static_cast<std::uint32_t>(Optional(flow, "packet_size").value_or(0.0));
    const auto own = flow.value("queue", Json());
    read.hasOwnQueue = !own.is_null();
    read.queue = read.hasOwnQueue ? own : queue;
    read.weight = flow.at("weight").get<double>();
    read.carriage = {Flag(flow, "fragmentation", carriage.fragmentation),
                     Flag(flow, "packing", carriage.packing),
                     Flag(flow, "crc", carriage.crc)};
    if (const auto station = flow.find("station"); station != flow.end() && !station->is_null())
    {
        declared.station = station->get<std::string>();
        const auto known = std::find_if(stations.begin(),
                                        stations.end(),
                                        [&](const StationConfiguration& candidate)
                                        { return candidate.name == *declared.station && !candidate.base; });
        if (known == stations.end())
        {
            throw std::invalid_argument("wimax: the service flow of class '" + read.name +
                                        "' is for station '" + *declared.station +
                                        "', which is not a subscriber of this cell");
        }
    }
    return declared;
}

void Configuration::RefuseDuplicates() const
{
    for (auto one = m_declared.begin(); one != m_declared.end(); ++one)
    {
        for (auto other = one + 1; other != m_declared.end(); ++other)
        {
            if (one->flow.name == other->flow.name && one->flow.direction == other->flow.direction &&
                one->station == other->station)
            {
                throw std::invalid_argument(
                    "wimax: two service flows for class '" + one->flow.name + "', " +
                    (one->flow.direction == Direction::Uplink ? "uplink" : "downlink") + ", " +
                    (one->station ? "station '" + *one->station + "'" : "all subscribers") +
                    ": a class has one flow a direction and station; remove one");
            }
        }
    }
}

FlowTable Configuration::FlowsOf(const std::string& station, Direction direction) const
{
    FlowTable table;
    for (const auto& className : classes)
    {
        const DeclaredFlow* chosen = nullptr;
        for (const auto& declared : m_declared)
        {
            const bool fits = declared.flow.name == className && declared.flow.direction == direction &&
                              (!declared.station || *declared.station == station);
            // What is said of one station goes before what is said of all.
            if (fits && (chosen == nullptr || declared.station))
            {
                chosen = &declared;
            }
        }
        table.byClass.push_back(table.flows.size());
        if (chosen != nullptr)
        {
            table.flows.push_back(chosen->flow);
        }
        else
        {
            table.byClass.back() = std::string::npos;
        }
    }
    ServiceFlow implicit;
    implicit.name = IMPLICIT;
    implicit.direction = direction;
    implicit.interval = ns3::Seconds(frame.frameS);
    implicit.queue = queue;
    implicit.carriage = carriage;
    std::replace(
        table.byClass.begin(), table.byClass.end(), std::size_t{std::string::npos}, table.flows.size());
    table.flows.push_back(implicit);
    return table;
}

} // namespace netboxit::wimax
