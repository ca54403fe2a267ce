// SPDX-License-Identifier: GPL-2.0-or-later
#include "bulk_sender.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

constexpr double LARGEST_SIZE = 1e15;
constexpr double MOST_PARALLEL = Flow::RANDOM_STREAMS;

} // namespace

std::unique_ptr<Flow> MakeBulkSender(const FlowPlace& place, Section& configuration)
{
    BulkSenderConfiguration read{.destination = ReadDestination(configuration, place.host),
                                 .port = ReadPort(configuration, "port", 1),
                                 .sourcePort = ReadPort(configuration, "source_port", 0),
                                 .trafficClass = ReadTrafficClass(configuration),
                                 .start = ReadTime(configuration, "start_s", 0),
                                 .size = std::nullopt,
                                 .until = std::nullopt,
                                 .parallel = static_cast<unsigned>(configuration.NumberOr("parallel", 1, 1, MOST_PARALLEL)),
                                 .tcp = ReadTcpOptions(configuration)};
    const bool hasSize = !configuration.At("size").is_null();
    if (hasSize == !configuration.At("until_s").is_null())
    {
        configuration.Refuse("size", "a bulk sender has either a size or until_s; write one of them");
    }
    if (hasSize)
    {
        read.size = static_cast<std::uint64_t>(configuration.NumberOr("size", 0, 1, LARGEST_SIZE));
    }
    else
    {
        read.until = ReadTime(configuration, "until_s", 0);
        if (*read.until <= read.start)
        {
            configuration.Refuse("until_s", "is not after start_s; write a later time");
        }
    }
    if (read.sourcePort > 0 && read.sourcePort + read.parallel - 1 > UINT16_MAX)
    {
        configuration.Refuse("source_port", "leaves no ports for all parallel connections; write a smaller one");
    }
    return std::make_unique<BulkSender>(place, std::move(read));
}

BulkSender::BulkSender(const FlowPlace& place, BulkSenderConfiguration configuration)
    : m_configuration(std::move(configuration))
{
    for (unsigned number = 0; number < m_configuration.parallel; ++number)
    {
        m_transfers.emplace_back(place, m_configuration, number);
    }
}

BulkSender::~BulkSender()
{
    m_start.Cancel();
    m_stop.Cancel();
}

void BulkSender::Begin()
{
    m_start.Cancel();
    m_stop.Cancel();
    for (auto& transfer : m_transfers)
    {
        transfer.Abort();
    }
    m_began = ns3::Simulator::Now().GetNanoSeconds();
    m_start = ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.start), &BulkSender::Start, this);
    if (m_configuration.until)
    {
        m_stop = ns3::Simulator::Schedule(ns3::NanoSeconds(*m_configuration.until), &BulkSender::Stop, this);
    }
}

void BulkSender::Start()
{
    for (auto& transfer : m_transfers)
    {
        transfer.Start(m_began);
    }
}

void BulkSender::Stop()
{
    for (auto& transfer : m_transfers)
    {
        transfer.Stop();
    }
}

Json BulkSender::Read() const
{
    auto connections = Json::array();
    std::uint64_t acknowledged = 0;
    std::uint64_t retransmissions = 0;
    for (const auto& transfer : m_transfers)
    {
        connections.push_back(transfer.Read());
        acknowledged += connections.back().at("acknowledged").get<std::uint64_t>();
        retransmissions += connections.back().value("retransmissions", std::uint64_t{0});
    }
    Json values;
    values["acknowledged"] = acknowledged;
    values["retransmissions"] = retransmissions;
    values["connections"] = std::move(connections);
    return values;
}

} // namespace netboxit
