// SPDX-License-Identifier: GPL-2.0-or-later
#include "web_client.h"

#include "ns3/boolean.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/simulator.h"
#include "tcp_variants.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr double MOST_PARALLEL = 64;
constexpr double MOST_PAGES = 1e9;
constexpr unsigned FOUND = 200;
/// Who cannot get a page waits before he goes on: where nothing can be reached, nothing takes time.
constexpr std::int64_t PAUSE = 1'000'000'000;

Json OrNull(const std::optional<double>& value)
{
    return value ? Json(*value) : Json();
}

} // namespace

std::unique_ptr<Flow> MakeWebClient(const FlowPlace& place, Section& configuration)
{
    WebClient::Configuration read{
        .destination = ReadDestination(configuration, place.host),
        .port = ReadPort(configuration, "port", 1),
        .trafficClass = ReadTrafficClass(configuration),
        .start = ReadTime(configuration, "start_s", 0),
        .until = ReadTime(configuration, "until_s", 0),
        .pages = ReadPages(configuration),
        .count = std::nullopt,
        .parallel = static_cast<std::size_t>(configuration.NumberOr("parallel", 6, 1, MOST_PARALLEL)),
        .persistent = configuration.At("persistent").is_null() || configuration.Truth("persistent"),
        .tcp = ReadTcpOptions(configuration)};
    if (read.until <= read.start)
    {
        configuration.Refuse("until_s", "is not after start_s; write a later time");
    }
    if (!configuration.At("count").is_null())
    {
        read.count = static_cast<std::uint64_t>(configuration.NumberOr("count", 1, 1, MOST_PAGES));
    }
    return std::make_unique<WebClient>(place, std::move(read));
}

WebClient::WebClient(const FlowPlace& place, Configuration configuration)
    : m_place(place),
      m_configuration(std::move(configuration)),
      m_resolution(place.host, m_configuration.destination),
      m_authority(http::Authority(m_configuration.destination, m_configuration.port))
{
}

WebClient::~WebClient()
{
    m_start.Cancel();
    m_stop.Cancel();
    m_continuation.Cancel();
    for (const auto& connection : m_connections)
    {
        connection.socket->Silence();
    }
}

void WebClient::Prepare()
{
    m_resolution.Start();
}

void WebClient::Begin()
{
    m_resolution.Stop();
    m_start.Cancel();
    m_stop.Cancel();
    m_continuation.Cancel();
    Abort();
    m_isLoading = false;
    m_page = m_opened = 0;
    m_origin = ns3::Simulator::Now().GetNanoSeconds() + m_configuration.start;
    m_start = ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.start), &WebClient::Start, this);
    m_stop = ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.until), &WebClient::Stop, this);
}

void WebClient::Start()
{
    m_place.announcements.Announce("flow_started", std::nullopt, {{"flow", m_place.name}});
    LoadPage();
}

/// What is on its way then has no end.
void WebClient::Stop()
{
    m_continuation.Cancel();
    m_isLoading = false;
    while (!m_connections.empty())
    {
        const auto place = m_connections.begin();
        if (place->fetch)
        {
            Record(*place, std::nullopt, "the traffic ended");
        }
        Drop(place);
    }
}

void WebClient::LoadPage()
{
    if (m_configuration.count && m_page == *m_configuration.count)
    {
        Stop();
        m_place.announcements.Announce(
            "flow_completed", std::nullopt, {{"flow", m_place.name}, {"pages", m_page}, {"took_s", Now()}});
        return;
    }
    m_isLoading = true;
    m_next = 1;
    m_settled = 0;
    m_hasFailed = false;
    Request({.object = 0, .asked = Now(), .firstByte = {}, .isRetried = false});
}

/// As many requests at once as there may be connections.
void WebClient::Pump()
{
    const auto isBusy = [](const auto& connection) { return connection.fetch.has_value(); };
    while (m_isLoading && m_next < Page().objects.size() &&
           static_cast<std::size_t>(std::ranges::count_if(m_connections, isBusy)) < m_configuration.parallel)
    {
        Request({.object = m_next++, .asked = Now(), .firstByte = {}, .isRetried = false});
    }
}

void WebClient::Request(const Fetch& fetch)
{
    const auto idle = std::ranges::find_if(
        m_connections, [](const auto& connection) { return connection.isConnected && !connection.fetch; });
    if (idle == m_connections.end() || fetch.isRetried)
    {
        Open(fetch);
        return;
    }
    idle->isUsed = true;
    idle->fetch = fetch;
    Ask(*idle);
}

void WebClient::Open(const Fetch& fetch)
{
    const auto& [destination, port, trafficClass, start, until, pages, count, parallel, persistent, tcp] = m_configuration;
    const auto socket = MakeTcpConnection(m_place.host,
                                          tcp,
                                          destination.isIpv6,
                                          m_place.host.MtuTowards(destination),
                                          m_place.randomStream + static_cast<std::int64_t>(m_opened % RANDOM_STREAMS));
    m_connections.push_back({.socket = socket,
                             .number = m_opened++,
                             .isConnected = false,
                             .isUsed = false,
                             .fetch = fetch,
                             .reply = {}});
    const auto place = std::prev(m_connections.end());
    socket->SetAttribute("TcpNoDelay", ns3::BooleanValue(true)); // as libcurl
    socket->SetConnectCallback(ns3::MakeCallback(&WebClient::Connected, this), ns3::MakeCallback(&WebClient::Lost, this));
    socket->SetCloseCallbacks(ns3::MakeCallback(&WebClient::Lost, this), ns3::MakeCallback(&WebClient::Lost, this));
    socket->SetRecvCallback(ns3::MakeCallback(&WebClient::Take, this));
    const ns3::Address own = destination.isIpv6 ? ns3::Address(ns3::Inet6SocketAddress(ns3::Ipv6Address::GetAny(), 0))
                                                : ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), 0);
    const bool isBound = socket->Bind(own) == 0;
    SetTrafficClass(socket, destination.isIpv6, trafficClass);
    if (!isBound || socket->Connect(destination.Socket(port)) != 0)
    {
        Settle(place, true, isBound ? "no route" : "no free port");
    }
}

void WebClient::Ask(Connection& connection)
{
    const auto page = m_page % m_configuration.pages.size();
    const auto object = connection.fetch->object;
    const auto text = http::WriteRequest(
        TargetOf(page, object), m_authority, !m_configuration.persistent, Page().objects[object].request);
    connection.reply = {};
    connection.socket->Send(ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(text.data()),
                                                     static_cast<std::uint32_t>(text.size())),
                            0);
}

WebClient::Place WebClient::Find(const ns3::Ptr<ns3::Socket>& socket)
{
    return std::ranges::find_if(m_connections,
                                [&](const auto& own) { return ns3::Ptr<ns3::Socket>(own.socket) == socket; });
}

void WebClient::Connected(ns3::Ptr<ns3::Socket> socket)
{
    const auto place = Find(socket);
    if (place != m_connections.end())
    {
        place->isConnected = true;
        Ask(*place);
    }
}

void WebClient::Take(ns3::Ptr<ns3::Socket> socket)
{
    const auto place = Find(socket);
    if (place == m_connections.end())
    {
        return;
    }
    while (const auto data = socket->Recv())
    {
        if (data->GetSize() == 0 || !Consume(place, data))
        {
            return;
        }
    }
}

/// The far end closed the connection, or it came to nothing.
void WebClient::Lost(ns3::Ptr<ns3::Socket> socket)
{
    Take(socket);
    const auto place = Find(socket);
    if (place == m_connections.end())
    {
        return;
    }
    if (place->fetch && place->isUsed && !place->fetch->firstByte && !place->fetch->isRetried)
    {
        // The server closed an idle connection as the request was on its way (RFC 9110, 9.2.2: a GET may be repeated).
        auto fetch = *place->fetch;
        fetch.isRetried = true;
        Drop(place);
        Open(fetch);
    }
    else if (place->fetch)
    {
        Settle(place, true, place->isConnected ? "connection lost" : "not connected");
    }
    else
    {
        Drop(place);
    }
}

bool WebClient::Consume(Place place, const ns3::Ptr<ns3::Packet>& data)
{
    if (!place->fetch)
    {
        Drop(place); // nobody asked
        return false;
    }
    place->fetch->firstByte = place->fetch->firstByte.value_or(Now());
    if (!place->reply.Take(*data))
    {
        Settle(place, true, place->reply.Failure());
        return false;
    }
    if (place->reply.IsWhole())
    {
        Complete(place);
        return false;
    }
    return true;
}

void WebClient::Complete(Place place)
{
    const auto reply = *place->reply.Head();
    Settle(place,
           !m_configuration.persistent || reply.closes,
           reply.status == FOUND ? "" : "status " + std::to_string(reply.status));
}

void WebClient::Settle(Place place, bool close, const std::string& failure)
{
    const auto object = place->fetch->object;
    Record(*place, Now(), failure);
    ++m_objects;
    ++m_settled;
    m_bytes += place->reply.Received();
    m_hasFailed |= !failure.empty();
    place->fetch.reset();
    if (close)
    {
        Drop(place);
    }
    if (m_settled < Page().objects.size() && (object > 0 || failure.empty()))
    {
        // Not within a connection's own callback, from which it may have gone.
        const auto parsing = object == 0 ? Page().parsing : 0;
        m_continuation = ns3::Simulator::Schedule(ns3::NanoSeconds(parsing), &WebClient::Pump, this);
        return;
    }
    (m_hasFailed ? m_failed : m_loaded) += 1;
    const auto thinking = std::max(Page().thinking, m_hasFailed ? PAUSE : 0);
    m_isLoading = false;
    ++m_page;
    m_continuation = ns3::Simulator::Schedule(ns3::NanoSeconds(thinking), &WebClient::LoadPage, this);
}

void WebClient::Drop(Place place)
{
    const auto socket = place->socket;
    m_connections.erase(place);
    socket->Close();
    // Not within a call of its own.
    ns3::Simulator::ScheduleNow(&TcpConnection::Silence, socket);
}

void WebClient::Abort()
{
    for (const auto& connection : m_connections)
    {
        connection.socket->Abort();
    }
    m_connections.clear();
}

void WebClient::Record(const Connection& connection, std::optional<double> ended, const std::string& failure) const
{
    const auto& fetch = *connection.fetch;
    m_place.announcements.Record("object",
                                 {{"flow", m_place.name},
                                  {"page", m_page},
                                  {"object", fetch.object},
                                  {"asked_s", fetch.asked},
                                  {"first_byte_s", OrNull(fetch.firstByte)},
                                  {"ended_s", OrNull(ended)},
                                  {"bytes", connection.reply.Received()},
                                  {"connection", connection.number},
                                  {"reused", connection.isUsed},
                                  {"failure", failure.empty() ? Json() : Json(failure)}});
}

const WebPage& WebClient::Page() const
{
    return m_configuration.pages[m_page % m_configuration.pages.size()];
}

double WebClient::Now() const
{
    return static_cast<double>(ns3::Simulator::Now().GetNanoSeconds() - m_origin) / 1e9;
}

Json WebClient::Read() const
{
    return {{"loaded", m_loaded},
            {"failed", m_failed},
            {"objects", m_objects},
            {"bytes", m_bytes},
            {"opened", m_opened},
            {"open", m_connections.size()}};
}

void WebClient::Reset()
{
    m_loaded = m_failed = m_objects = m_bytes = 0;
}

} // namespace netboxit
