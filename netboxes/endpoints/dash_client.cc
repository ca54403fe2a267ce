// SPDX-License-Identifier: GPL-2.0-or-later
#include "dash_client.h"

#include "http_message.h"
#include "tcp_variants.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr double LONGEST_MEDIA_S = 3600;
constexpr double HIGHEST_RATE = 1e9;
constexpr unsigned OK = 200;

using Representations = std::vector<DashClientConfiguration::Representation>;

std::string ReadPath(const Section& section, const std::string& key, const Json& value)
{
    if (!value.is_string() || !http::IsPath(value.get_ref<const std::string&>()))
    {
        section.Refuse(key, "is " + value.dump() + "; write a path like \"/1.m4s\"");
    }
    return value;
}

Representations ReadRepresentations(Section& configuration)
{
    Representations representations;
    for (const auto& json : configuration.List("representations"))
    {
        Section section(json, configuration.Path("representations[" + std::to_string(representations.size()) + "]"));
        DashClientConfiguration::Representation read{.rate = section.NumberOr("rate", 0, 1, HIGHEST_RATE),
                                                     .initialization = ReadPath(section, "initialization", section.At("initialization")),
                                                     .segments = {}};
        for (const auto& path : section.List("segments"))
        {
            read.segments.push_back(ReadPath(section, "segments", path));
        }
        section.Finish();
        if (read.rate <= (representations.empty() ? 0 : representations.back().rate))
        {
            section.Refuse("rate", "rates rise from one to the next");
        }
        if (read.segments.empty() || read.segments.size() != (representations.empty() ? read : representations.front()).segments.size())
        {
            section.Refuse("segments", "each has as many, at least one");
        }
        representations.push_back(std::move(read));
    }
    if (representations.empty())
    {
        configuration.Refuse("representations", "missing");
    }
    return representations;
}

double ReadSeconds(Section& configuration, const std::string& key, double least)
{
    const auto value = configuration.NumberOr(key, 0, least, LONGEST_MEDIA_S);
    if (value == 0)
    {
        configuration.Refuse(key, "missing");
    }
    return value;
}

RateAdaptation::Rule ReadRule(Section& configuration)
{
    const auto rule = configuration.Text("adaptation");
    if (rule != "throughput" && rule != "buffer")
    {
        configuration.Refuse("adaptation", "is \"" + rule + R"(", not "throughput" or "buffer")");
    }
    return rule == "throughput" ? RateAdaptation::Rule::Throughput : RateAdaptation::Rule::Buffer;
}

} // namespace

std::unique_ptr<Flow> MakeDashClient(const FlowPlace& place, Section& configuration)
{
    const auto server = ReadDestination(configuration, place.host);
    const auto port = ReadPort(configuration, "port", 1);
    DashClientConfiguration read{.server = server,
                                 .port = port,
                                 .authority = http::Authority(server, port),
                                 .trafficClass = ReadTrafficClass(configuration),
                                 .start = ReadTime(configuration, "start_s", 0),
                                 .until = ReadTime(configuration, "until_s", 0),
                                 .manifest = ReadPath(configuration, "manifest", configuration.At("manifest")),
                                 .representations = ReadRepresentations(configuration),
                                 .segment = ReadSeconds(configuration, "segment_s", 0.1),
                                 .longest = ReadSeconds(configuration, "buffer_s", 0.1),
                                 .first = ReadSeconds(configuration, "start_up_s", 0.1),
                                 .again = ReadSeconds(configuration, "rebuffer_s", 0.1),
                                 .backOffAbove = std::nullopt,
                                 .rule = ReadRule(configuration),
                                 .safety = configuration.NumberOr("safety", 1, 0.01, 1),
                                 .tcp = ReadTcpOptions(configuration)};
    if (!configuration.At("back_off_above_s").is_null())
    {
        read.backOffAbove = configuration.NumberOr("back_off_above_s", 0, 0, LONGEST_MEDIA_S);
    }
    if (read.until <= read.start)
    {
        configuration.Refuse("until_s", "is not after start_s; write a later time");
    }
    if (read.longest < std::max(read.first, read.again) + read.segment)
    {
        configuration.Refuse("buffer_s", "has no room for a segment besides what is needed to play; write a larger one");
    }
    return std::make_unique<DashClient>(place, std::move(read));
}

DashClient::DashClient(const FlowPlace& place, DashClientConfiguration configuration)
    : m_place(place), m_announcements(place.announcements), m_configuration(std::move(configuration)),
      m_resolution(place.host, m_configuration.server), m_backOff(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_backOff->SetStream(place.randomStream + 1);
}

DashClient::~DashClient()
{
    m_start.Cancel();
    m_stop.Cancel();
    m_next.Cancel();
    if (m_connection)
    {
        m_connection->Silence();
    }
}

void DashClient::Prepare()
{
    m_resolution.Start();
}

void DashClient::Begin()
{
    m_resolution.Stop();
    m_start.Cancel();
    m_stop.Cancel();
    m_next.Cancel();
    if (m_connection)
    {
        m_connection->Abort();
        m_connection = nullptr;
    }
    m_start = ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.start), &DashClient::Start, this);
    m_stop = ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.until), &DashClient::Stop, this);
}

void DashClient::Start()
{
    const auto& asked = m_configuration;
    m_began = ns3::Simulator::Now().GetNanoSeconds();
    m_buffer.emplace(asked.first, asked.again, [this](const char* state, double at) {
        m_announcements.Record("playback", {{"flow", m_place.name}, {"state", state}, {"time_s", at}});
    });
    std::vector<double> rates;
    for (const auto& representation : asked.representations)
    {
        rates.push_back(representation.rate);
    }
    m_adaptation.emplace(asked.rule, std::move(rates), asked.safety, asked.longest);
    m_initialized.assign(asked.representations.size(), false);
    m_fetching = Fetching::Nothing;
    m_segments = m_received = 0;
    m_failure.clear();
    m_connection = MakeTcpConnection(
        m_place.host, asked.tcp, asked.server.isIpv6, m_place.host.MtuTowards(asked.server), m_place.randomStream);
    m_connection->SetConnectCallback(ns3::MakeCallback(&DashClient::Connected, this), ns3::MakeCallback(&DashClient::Failed, this));
    m_connection->SetCloseCallbacks(ns3::MakeCallback(&DashClient::Failed, this), ns3::MakeCallback(&DashClient::Failed, this));
    m_connection->SetRecvCallback(ns3::MakeCallback(&DashClient::Take, this));
    SetTrafficClass(m_connection, asked.server.isIpv6, asked.trafficClass);
    if (m_connection->Connect(asked.server.Socket(asked.port)) != 0)
    {
        Fail("no route");
    }
}

void DashClient::Stop()
{
    m_next.Cancel();
    if (m_buffer)
    {
        m_buffer->Advance(Now());
    }
    if (m_connection)
    {
        m_connection->Abort();
    }
    m_fetching = Fetching::Nothing;
}

void DashClient::Connected(ns3::Ptr<ns3::Socket>)
{
    Get(Fetching::Manifest, m_configuration.manifest);
}

void DashClient::Failed(ns3::Ptr<ns3::Socket>)
{
    Fail("connection lost");
}

void DashClient::Fail(const std::string& reason)
{
    if (!m_failure.empty())
    {
        return;
    }
    m_failure = reason;
    m_fetching = Fetching::Nothing;
    m_next.Cancel();
    m_announcements.Announce("flow_failed", std::nullopt, {{"flow", m_place.name}, {"connection", 0}, {"reason", reason}});
    // Not within its own handling of what came.
    ns3::Simulator::ScheduleNow(&TcpConnection::Abort, m_connection);
}

void DashClient::Get(Fetching what, const std::string& path)
{
    m_fetching = what;
    m_reply = {};
    m_requested = Now();
    const auto text = http::WriteRequest(path, m_configuration.authority, false, 0);
    const auto data =
        ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(text.data()), static_cast<std::uint32_t>(text.size()));
    if (m_connection->Send(data, 0) < 0)
    {
        Fail("request not sent");
    }
}

void DashClient::Take(ns3::Ptr<ns3::Socket> socket)
{
    while (m_failure.empty())
    {
        const auto data = socket->Recv();
        if (!data || data->GetSize() == 0)
        {
            return;
        }
        if (m_fetching == Fetching::Nothing)
        {
            Fail("a reply that nobody asked for");
            return;
        }
        const auto before = m_reply.Received();
        if (!m_reply.Take(*data))
        {
            Fail(m_reply.Failure());
            return;
        }
        m_received += m_reply.Received() - before;
        if (m_reply.Head() && m_reply.Head()->status != OK)
        {
            Fail("the server answers " + std::to_string(m_reply.Head()->status));
        }
        else if (m_reply.IsWhole())
        {
            Complete();
        }
    }
}

void DashClient::Complete()
{
    const auto fetched = std::exchange(m_fetching, Fetching::Nothing);
    switch (fetched)
    {
    case Fetching::Nothing:
        break;
    case Fetching::Manifest:
        Next();
        break;
    case Fetching::Initialization:
        m_initialized[m_chosen] = true;
        GetSegment();
        break;
    case Fetching::Segment:
        Have();
        Wait();
        break;
    }
}

void DashClient::Have()
{
    const double now = Now();
    m_buffer->Fill(now, m_configuration.segment);
    m_announcements.Record("segment",
                           {{"flow", m_place.name},
                            {"segment", m_segments},
                            {"representation", m_chosen},
                            {"bytes", m_reply.Received()},
                            {"requested_s", m_requested},
                            {"completed_s", now},
                            {"decided_at_s", m_level},
                            {"estimate_bit_per_s", m_estimate ? Json(*m_estimate) : Json()},
                            {"buffer_s", m_buffer->Level()}});
    ++m_segments;
    if (now > m_requested && m_reply.Received() > 0)
    {
        m_adaptation->Add(static_cast<double>(m_reply.Received()) * 8 / (now - m_requested));
    }
}

void DashClient::Wait()
{
    double wait = std::max(0.0, m_buffer->Level() + m_configuration.segment - m_configuration.longest);
    if (m_configuration.backOffAbove && m_buffer->Level() > *m_configuration.backOffAbove)
    {
        wait += m_backOff->GetValue(0, 1);
    }
    m_next = ns3::Simulator::Schedule(ns3::NanoSeconds(std::llround(wait * 1e9)), &DashClient::Next, this);
}

void DashClient::Next()
{
    m_buffer->Advance(Now());
    m_level = m_buffer->Level();
    m_estimate = m_adaptation->Estimate();
    m_chosen = m_adaptation->Choose(m_level);
    if (m_initialized[m_chosen])
    {
        GetSegment();
    }
    else
    {
        Get(Fetching::Initialization, m_configuration.representations[m_chosen].initialization);
    }
}

void DashClient::GetSegment()
{
    const auto& segments = m_configuration.representations[m_chosen].segments;
    Get(Fetching::Segment, segments[m_segments % segments.size()]);
}

double DashClient::Now() const
{
    return static_cast<double>(ns3::Simulator::Now().GetNanoSeconds() - m_began) / 1e9;
}

Json DashClient::Read() const
{
    Json values = m_connection ? m_connection->Read() : Json::object();
    values.update({{"received", m_received},
                   {"segments", m_segments},
                   {"buffer_s", m_buffer ? m_buffer->Level() : 0},
                   {"failure", m_failure.empty() ? Json() : Json(m_failure)}});
    return values;
}

} // namespace netboxit
