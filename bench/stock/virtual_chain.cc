// SPDX-License-Identifier: GPL-2.0-or-later
// stock-virtual SECONDS LINKS FLOWS: ns-3 as its users have it in simulated time, in one process: nodes in a row, point-to-point links
// of 100 Mbit/s and 2 ms between them, and TCP (CUBIC) from the first node to the last one. Prints how many packets links have carried.

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-cubic.h"
#include "ns3/uinteger.h"

#include <cstdlib>
#include <iostream>

namespace
{

std::uint64_t g_carried = 0;

void Carried(ns3::Ptr<const ns3::Packet>)
{
    ++g_carried;
}

/// As endpoints have it.
void SetTcp()
{
    using ns3::Config::SetDefault;
    ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));
    SetDefault("ns3::TcpL4Protocol::SocketType", ns3::TypeIdValue(ns3::TcpCubic::GetTypeId()));
    SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(1448));
    SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(4 << 20));
    SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(6 << 20));
    SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(2));
    SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(10));
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4)
    {
        std::cerr << "usage: stock-virtual SECONDS LINKS FLOWS" << std::endl;
        return 2;
    }
    const double seconds = std::atof(argv[1]);
    const auto links = static_cast<std::uint32_t>(std::atoi(argv[2]));
    const auto flows = static_cast<std::uint16_t>(std::atoi(argv[3]));
    SetTcp();
    ns3::NodeContainer nodes;
    nodes.Create(links + 1);
    ns3::InternetStackHelper().Install(nodes);
    ns3::PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", ns3::StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", ns3::StringValue("2ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("1000p"));
    link.DisableFlowControl(); // and no queueing discipline with it
    ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    ns3::Ipv4Address last;
    for (std::uint32_t number = 0; number < links; ++number)
    {
        const auto ends = link.Install(nodes.Get(number), nodes.Get(number + 1));
        last = addresses.Assign(ends).GetAddress(1);
        addresses.NewNetwork();

        ends.Get(0)->TraceConnectWithoutContext("PhyRxEnd", ns3::MakeCallback(&Carried));
        ends.Get(1)->TraceConnectWithoutContext("PhyRxEnd", ns3::MakeCallback(&Carried));
    }
    ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (std::uint16_t flow = 0; flow < flows; ++flow)
    {
        const std::uint16_t port = 5000 + flow;
        ns3::BulkSendHelper sender("ns3::TcpSocketFactory", ns3::InetSocketAddress(last, port));
        sender.SetAttribute("SendSize", ns3::UintegerValue(64 << 10));
        sender.Install(nodes.Get(0)).Start(ns3::Seconds(0.1 * flow));
        ns3::PacketSinkHelper("ns3::TcpSocketFactory", ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port))
            .Install(nodes.Get(links));
    }
    ns3::Simulator::Stop(ns3::Seconds(seconds));
    ns3::Simulator::Run();
    std::cout << g_carried << std::endl;
    ns3::Simulator::Destroy();
    return 0;
}
