// SPDX-License-Identifier: GPL-2.0-or-later
#include "datagram_sender.h"

#include "datagram_periods.h"
#include "rtp_media.h"
#include "udp_recording.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr std::size_t NUMBER_AND_STAMP = 16;
constexpr std::size_t IPV6_AND_UDP = 48;
constexpr double LONGEST_PAYLOAD = 65507; ///< of IPv4
constexpr double HIGHEST_RATE = 1e7;

void Write64(std::uint8_t* at, std::uint64_t value)
{
    for (int byte = 0; byte < 8; ++byte)
    {
        at[byte] = static_cast<std::uint8_t>(value >> (56 - 8 * byte));
    }
}

std::vector<DatagramPeriods::Period> ReadPeriods(Section& configuration)
{
    std::vector<DatagramPeriods::Period> periods;
    std::int64_t after = 0;
    for (const auto& period : configuration.List("periods"))
    {
        const bool isPair = period.is_array() && period.size() == 2 && period[0].is_number() && period[1].is_number();
        const double from = isPair ? period[0].get<double>() : -1;
        const double until = isPair ? period[1].get<double>() : -1;
        if (from < 0 || until < from || until > LONGEST_S || std::llround(from * 1e9) < after)
        {
            configuration.Refuse("periods",
                                 "has " + period.dump() + "; a period is [from_s, until_s], and begins after the one before it");
        }
        after = std::llround(until * 1e9);
        periods.push_back({std::llround(from * 1e9), after});
    }
    return periods;
}

std::function<std::unique_ptr<DatagramSource>()> ReadSource(Section& configuration, std::int64_t randomStream)
{
    const auto recording = configuration.TextOr("recording", "");
    const auto periods = ReadPeriods(configuration);
    const auto& media = configuration.At("media");
    if (!recording.empty() + !periods.empty() + !media.is_null() != 1)
    {
        configuration.Refuse("periods", "a sender of datagrams has either periods or a recording or media; write one of them");
    }
    if (!media.is_null())
    {
        const auto read = RtpMedia::Read(Section(media, configuration.Path("media")));
        return [read] { return std::make_unique<RtpMedia>(read); };
    }
    const auto rate = configuration.NumberOr("per_s", 0, 1e-6, HIGHEST_RATE);
    const auto payload = configuration.NumberOr("payload", 0, NUMBER_AND_STAMP, LONGEST_PAYLOAD);
    ns3::Ptr<ns3::UniformRandomVariable> gaps;
    if (!configuration.At("poisson").is_null() && configuration.Truth("poisson"))
    {
        gaps = ns3::CreateObject<ns3::UniformRandomVariable>();
        gaps->SetStream(randomStream);
    }
    if (!recording.empty())
    {
        return [recording] { return std::make_unique<UdpRecording>(recording); };
    }
    if (rate == 0 || payload == 0)
    {
        configuration.Refuse(rate == 0 ? "per_s" : "payload", "missing");
    }
    return [=] { return std::make_unique<DatagramPeriods>(periods, rate, static_cast<std::size_t>(payload), gaps); };
}

} // namespace

std::unique_ptr<Flow> MakeDatagramSender(const FlowPlace& place, Section& configuration)
{
    DatagramSenderConfiguration read{.destination = ReadDestination(configuration, place.host),
                                     .port = ReadPort(configuration, "port", 1),
                                     .sourcePort = ReadPort(configuration, "source_port", 0),
                                     .trafficClass = ReadTrafficClass(configuration),
                                     .start = ReadTime(configuration, "start_s", 0),
                                     .resolves = !configuration.At("resolve").is_null() && configuration.Truth("resolve"),
                                     .source = ReadSource(configuration, place.randomStream)};
    if (!read.source()->Next())
    {
        configuration.Refuse("recording", "has no UDP datagram; name a capture that has some");
    }
    return std::make_unique<DatagramSender>(place, std::move(read));
}

DatagramSender::DatagramSender(const FlowPlace& place, DatagramSenderConfiguration configuration)
    : m_place(place), m_configuration(std::move(configuration)),
      m_resolution(place.host, m_configuration.destination),
      m_socket(place.host.UdpSocket(m_configuration.destination.isIpv6, m_configuration.sourcePort))
{
}

DatagramSender::~DatagramSender()
{
    m_departure.Cancel();
}

void DatagramSender::Prepare()
{
    if (m_configuration.resolves)
    {
        m_resolution.Start();
    }
}

void DatagramSender::Begin()
{
    m_resolution.Stop();
    m_departure.Cancel();
    m_source = m_configuration.source();
    m_began = ns3::Simulator::Now().GetNanoSeconds();
    m_number = 0;
    m_next = m_source->Next();
    Expect();
}

void DatagramSender::Expect()
{
    if (!m_next)
    {
        return;
    }
    const auto due = m_began + m_configuration.start + m_next->offset;
    // A capture may be out of order.
    const auto delay = std::max<std::int64_t>(due - ns3::Simulator::Now().GetNanoSeconds(), 0);
    m_departure = ns3::Simulator::Schedule(ns3::NanoSeconds(delay), &DatagramSender::SendNext, this);
}

void DatagramSender::SendNext()
{
    const std::size_t mtu =
        m_configuration.destination.isIpv6 ? m_place.host.MtuTowards(m_configuration.destination) : 0;
    // A host sends no fragments of IPv6.
    const bool tooLong = mtu > 0 && m_next->length + IPV6_AND_UDP > mtu;
    // Other flows may send from this port, too.
    SetTrafficClass(m_socket, m_configuration.destination.isIpv6, m_configuration.trafficClass);
    if (tooLong || m_socket->SendTo(Payload(), 0, m_configuration.destination.Socket(m_configuration.port)) < 0)
    {
        ++m_refused;
    }
    else
    {
        ++m_sent;
        m_bytes += m_next->length;
    }
    ++m_number;
    m_next = m_source->Next();
    Expect();
}

ns3::Ptr<ns3::Packet> DatagramSender::Payload()
{
    std::array<std::uint8_t, NUMBER_AND_STAMP> beginning;
    auto content = m_next->content;
    if (m_source->IsNumbered())
    {
        Write64(beginning.data(), m_number);
        Write64(beginning.data() + 8,
                static_cast<std::uint64_t>(m_place.frames.StampOf(ns3::Simulator::Now().GetNanoSeconds())));
        content = beginning;
    }
    // ns-3's own padding is whatever was in memory.
    m_payload.assign(m_next->length, 0);
    std::ranges::copy(content, m_payload.begin());
    return ns3::Create<ns3::Packet>(m_payload.data(), static_cast<std::uint32_t>(m_payload.size()));
}

Json DatagramSender::Read() const
{
    return {{"sent", m_sent}, {"bytes", m_bytes}, {"refused", m_refused}, {"finished", m_source && !m_next}};
}

void DatagramSender::Reset()
{
    m_sent = m_bytes = m_refused = 0;
}

} // namespace netboxit
