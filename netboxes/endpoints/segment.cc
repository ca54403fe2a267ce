// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow.h"
#include "ospf_configuration.h"

#include "../engine/carrier.h"
#include "../engine/station_parameter.h"
#include "../engine/telemetry_frame.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace netboxit
{

namespace
{

/// Random streams: HOSTS of them, then those of the flows.
constexpr std::int64_t FIRST_STREAM = 4'000'000;
constexpr std::int64_t STREAMS_OF_HOST = 8;
constexpr std::int64_t FIRST_FLOW_STREAM = FIRST_STREAM + 65536 * STREAMS_OF_HOST;

constexpr double SMALLEST_MTU = 576;
constexpr double SMALLEST_MTU_OF_IPV6 = 1280;
constexpr double LARGEST_MTU = 9216;

ns3::Mac48Address ReadMac(Section& interface)
{
    const auto text = interface.Text("mac");
    ns3::Mac48Address mac;
    bool good = text.size() == 17;
    std::array<std::uint8_t, 6> bytes{};
    for (std::size_t at = 0; good && at < text.size(); ++at)
    {
        good = at % 3 == 2 ? text[at] == ':' : std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
    }
    for (std::size_t byte = 0; good && byte < bytes.size(); ++byte)
    {
        bytes[byte] = static_cast<std::uint8_t>(std::stoul(text.substr(3 * byte, 2), nullptr, 16));
    }
    if (!good || (bytes[0] & 1) != 0)
    {
        interface.Refuse("mac", "\"" + text + "\" is not the MAC address of an interface; write one like 02:00:00:00:00:01");
    }
    mac.CopyFrom(bytes.data());
    return mac;
}

void Refuse(const std::string& place, const std::string& cause)
{
    throw std::invalid_argument(place + ": " + cause);
}

/// Whole bit/s, as budgets are.
middleware::Rate ReadRate(double bitsPerSecond)
{
    return std::llround(bitsPerSecond);
}

InterfaceConfiguration ReadInterface(const Json& json, const std::string& path, const std::string& name, StationId station)
{
    Section section(json, path);
    InterfaceConfiguration interface{
        .name = name, .station = station, .mac = ReadMac(section), .mtu = 0, .addresses = {}, .access = {}};
    for (const auto& text : section.List("addresses"))
    {
        if (!text.is_string())
        {
            section.Refuse("addresses", "has " + text.dump() + "; write addresses like \"10.0.0.1/24\"");
        }
        interface.addresses.push_back(ReadPrefix(text, section.Path("addresses")));
    }
    const bool hasIpv6 = std::ranges::any_of(interface.addresses, [](const auto& own) { return own.address.isIpv6; });
    interface.mtu = static_cast<std::uint16_t>(
        section.NumberOr("mtu", 1500, hasIpv6 ? SMALLEST_MTU_OF_IPV6 : SMALLEST_MTU, LARGEST_MTU));
    if (!section.At("access_bps").is_null())
    {
        interface.access = ReadRate(section.NumberOr("access_bps", 0, 0, static_cast<double>(middleware::MOST_RATE)));
    }
    section.Finish();
    return interface;
}

std::vector<RouteConfiguration> ReadRoutes(const Json& list, const std::string& path)
{
    std::vector<RouteConfiguration> routes;
    for (const auto& json : list)
    {
        Section section(json, path + "[" + std::to_string(routes.size()) + "]");
        const auto gateway = ReadAddress(section.Text("gateway"), section.Path("gateway"));
        const auto destination = section.Text("destination");
        RouteConfiguration route{{.address = {.isIpv6 = gateway.isIpv6}}, gateway};
        if (destination != "default")
        {
            route.destination = ReadPrefix(destination, section.Path("destination"));
        }
        if (route.destination.address.isIpv6 != gateway.isIpv6)
        {
            section.Refuse("gateway", "destination and gateway are of two versions of IP; write both of one");
        }
        section.Finish();
        routes.push_back(route);
    }
    return routes;
}

/// The middleware's own keys, and whether a member is one only while its host sends.
std::vector<ManagementPart> ReadManagement(const Json& json, const std::string& path)
{
    if (json.is_null())
    {
        return {};
    }
    try
    {
        Json entries = json;
        std::vector<bool> whileSending;
        for (auto& entry : entries)
        {
            const bool isSaid = entry.is_object() && entry.contains("while_sending") && entry["while_sending"].is_boolean();
            whileSending.push_back(isSaid && entry["while_sending"].get<bool>());
            if (isSaid)
            {
                entry.erase("while_sending");
            }
        }
        std::vector<ManagementPart> parts;
        for (auto& part : middleware::ReadParts(entries))
        {
            parts.push_back({std::move(part), whileSending[parts.size()]});
        }
        return parts;
    }
    catch (const std::invalid_argument& error)
    {
        throw BadConfiguration(path + "." + error.what());
    }
}

HostConfiguration ReadHost(const std::string& name, const Json& json, const std::vector<std::string>& stations)
{
    Section section(json, "hosts." + name);
    HostConfiguration host{.name = name,
                           .interfaces = {},
                           .routes = ReadRoutes(section.List("routes"), section.Path("routes")),
                           .forwarding = !section.At("forwarding").is_null() && section.Truth("forwarding"),
                           .ospf = {},
                           .management = ReadManagement(section.At("management"), "hosts." + name)};
    const auto& interfaces = section.At("interfaces");
    if (!interfaces.is_object() || interfaces.empty())
    {
        section.Refuse("interfaces", "a host has at least one: {\"STATION\": {\"mac\", \"addresses\"}}");
    }
    for (const auto& [station, interface] : interfaces.items())
    {
        const auto path = section.Path("interfaces") + "." + station;
        const auto found = std::ranges::find(stations, station);
        if (found == stations.end())
        {
            Refuse(path, "the netbox has no such station; name one of its stations");
        }
        host.interfaces.push_back(ReadInterface(interface, path, station, static_cast<StationId>(found - stations.begin())));
    }
    if (const auto& ospf = section.At("ospf"); !ospf.is_null())
    {
        host.ospf = ReadOspf(ospf, section.Path("ospf"), host.interfaces);
    }
    section.Finish();
    return host;
}

} // namespace

/// Hosts: an end of the network with IP, UDP and TCP, and the traffic that they send and receive.
class EndpointsSegment : public Segment, public CarrierObserver
{
  public:
    explicit EndpointsSegment(const SegmentSetup& setup);
    ~EndpointsSegment() override;

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Prepare() override;
    void Begin() override;
    void Reset() override;
    bool Ready() const override;
    void SetCarrier(StationId station, bool carrier) override;

    bool IsEnd() const override
    {
        return true;
    }

  private:
    struct NamedFlow
    {
        Json description;
        std::unique_ptr<Flow> flow;
    };

    void MakeHosts(const Json& hosts, const SegmentSetup& setup);
    void MakeFlows(const Json& flows, const SegmentSetup& setup);
    void SetCapacity(const Json& value);

    std::vector<std::string> m_names;
    Frames& m_frames;
    std::deque<StationPort> m_ports; ///< by station
    std::deque<Host> m_hosts;
    std::vector<std::vector<Host*>> m_hostsAt; ///< by station
    std::vector<NamedFlow> m_flows;
};

EndpointsSegment::EndpointsSegment(const SegmentSetup& setup)
    : m_names(setup.stations), m_frames(setup.frames), m_hostsAt(setup.stations.size())
{
    for (StationId station = 0; station < m_names.size(); ++station)
    {
        m_ports.emplace_back(station, m_frames);
    }
    ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));
    try
    {
        MakeHosts(setup.parameters.at("hosts"), setup);
        const auto flows = setup.parameters.find("flows");
        MakeFlows(flows == setup.parameters.end() ? Json::array() : *flows, setup);
    }
    catch (const BadConfiguration& error)
    {
        throw std::invalid_argument(error.what());
    }
}

EndpointsSegment::~EndpointsSegment()
{
    std::ranges::for_each(m_hosts, &Host::EndManagement);
    m_flows.clear();
}

void EndpointsSegment::MakeHosts(const Json& hosts, const SegmentSetup& setup)
{
    for (const auto& [name, json] : hosts.items())
    {
        const auto configuration = ReadHost(name, json, m_names);
        auto& host = m_hosts.emplace_back(
            configuration, m_ports, setup.announcements, FIRST_STREAM + STREAMS_OF_HOST * static_cast<std::int64_t>(m_hosts.size()));
        for (const auto& interface : configuration.interfaces)
        {
            m_hostsAt[interface.station].push_back(&host);
        }
    }
    const auto without = std::ranges::find_if(m_hostsAt, &std::vector<Host*>::empty);
    if (without != m_hostsAt.end())
    {
        Refuse("hosts", "station " + m_names[static_cast<std::size_t>(without - m_hostsAt.begin())] +
                            " is no host's; make it an interface of one");
    }
}

void EndpointsSegment::MakeFlows(const Json& flows, const SegmentSetup& setup)
{
    for (const auto& json : flows)
    {
        const auto number = m_flows.size();
        Section section(json, "flows[" + std::to_string(number) + "]");
        const auto name = section.Text("name");
        const auto host = section.Text("host");
        const auto found = std::ranges::find(m_hosts, host, &Host::Name);
        if (found == m_hosts.end())
        {
            section.Refuse("host", "there is no host \"" + host + "\"; name one of hosts");
        }
        const FlowPlace place{*found,
                              m_frames,
                              setup.announcements,
                              name,
                              FIRST_FLOW_STREAM + Flow::RANDOM_STREAMS * static_cast<std::int64_t>(number)};
        auto flow = MakeFlow(place, section);
        section.Finish();
        m_flows.push_back({{{"name", name},
                            {"host", host},
                            {"application", json.at("application")},
                            {"role", json.at("role")}},
                           std::move(flow)});
    }
}

void EndpointsSegment::Transmit(StationId from, Destination, const Frame& frame)
{
    const auto bytes = m_frames.Read(frame.slot);
    const bool mayTell = frame.etherType == ether_type::EXPERIMENT;
    if (const auto link = mayTell ? ReadTelemetryFrame(bytes) : std::nullopt)
    {
        for (auto* const host : m_hostsAt[from])
        {
            host->TakeTelemetry(from, *link);
        }
    }
    else
    {
        m_ports[from].Receive(bytes);
    }
    m_frames.Absorb(frame.slot);
}

void EndpointsSegment::Set(std::string_view parameter, const Json& value)
{
    const auto target = TargetOf(parameter, m_names);
    if (target.station && target.parameter == "access")
    {
        for (auto* const host : m_hostsAt[*target.station])
        {
            host->SetAccess(*target.station, ReadRate(value.get<double>()));
        }
    }
    else if (!target.station && target.parameter == "capacity")
    {
        SetCapacity(value);
    }
    else
    {
        throw UnknownParameter("endpoints: no live parameter '" + std::string(parameter) +
                               "'; there are capacity, and access of each station");
    }
}

void EndpointsSegment::SetCapacity(const Json& value)
{
    bool isAllocator = false;
    for (auto& host : m_hosts)
    {
        isAllocator |= host.SetCapacity(ReadRate(value.get<double>()));
    }
    if (!isAllocator)
    {
        throw OutOfRange("capacity is of the link that a host is the allocator of, unless a netbox tells it, and no host of this "
                         "netbox is one; set it where the allocator is");
    }
}

Json EndpointsSegment::Read() const
{
    Json stations = Json::object();
    for (StationId station = 0; station < m_ports.size(); ++station)
    {
        const auto& counters = m_ports[station].Count();
        stations[m_names[station]] = {{"received", counters.received},
                                      {"received_bytes", counters.receivedBytes},
                                      {"sent", counters.sent},
                                      {"sent_bytes", counters.sentBytes},
                                      {"send_drops", counters.sendDrops},
                                      {"other_host", counters.otherHost},
                                      {"malformed", counters.malformed},
                                      {"unsupported", counters.unsupported},
                                      {"over_limit", counters.overLimit}};
    }
    Json hosts = Json::object();
    for (const auto& host : m_hosts)
    {
        hosts[host.Name()] = host.Read();
    }
    auto flows = Json::array();
    for (const auto& [description, flow] : m_flows)
    {
        auto values = flow->Read();
        values.update(description);
        flows.push_back(std::move(values));
    }
    // A run asks each second, and frames wait meanwhile: nothing of a thousand connections is copied, and members are
    // assigned, which takes less than lists of pairs do.
    return {{"stations", std::move(stations)}, {"hosts", std::move(hosts)}, {"flows", std::move(flows)}};
}

void EndpointsSegment::Prepare()
{
    for (const auto& [description, flow] : m_flows)
    {
        flow->Prepare();
    }
}

void EndpointsSegment::Begin()
{
    std::ranges::for_each(m_hosts, &Host::Begin);
    for (const auto& [description, flow] : m_flows)
    {
        flow->Begin();
    }
}

void EndpointsSegment::Reset()
{
    for (auto& port : m_ports)
    {
        port.Reset();
    }
    for (auto& host : m_hosts)
    {
        host.Reset();
    }
    for (const auto& [description, flow] : m_flows)
    {
        flow->Reset();
    }
}

bool EndpointsSegment::Ready() const
{
    return std::ranges::all_of(m_hosts, &Host::Ready);
}

void EndpointsSegment::SetCarrier(StationId station, bool carrier)
{
    for (auto* const host : m_hostsAt[station])
    {
        host->SetCarrier(station, carrier);
    }
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<EndpointsSegment>(setup);
}

} // namespace netboxit
