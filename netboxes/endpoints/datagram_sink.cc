// SPDX-License-Identifier: GPL-2.0-or-later
#include "datagram_sink.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/simulator.h"
#include "ns3/udp-socket-factory.h"

namespace netboxit
{

std::unique_ptr<Flow> MakeDatagramSink(const FlowPlace& place, Section& configuration)
{
    return std::make_unique<DatagramSink>(place, ReadPort(configuration, "port", 1));
}

DatagramSink::DatagramSink(const FlowPlace& place, std::uint16_t port) : m_place(place)
{
    Listen(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    if (place.host.HasIpv6())
    {
        Listen(ns3::Inet6SocketAddress(ns3::Ipv6Address::GetAny(), port));
    }
}

DatagramSink::~DatagramSink()
{
    for (const auto& socket : m_sockets)
    {
        socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
        socket->Close();
    }
}

void DatagramSink::Listen(const ns3::Address& local)
{
    const auto socket = ns3::Socket::CreateSocket(m_place.host.Node(), ns3::UdpSocketFactory::GetTypeId());
    if (socket->Bind(local) != 0)
    {
        throw std::invalid_argument("flow " + m_place.name + ": another flow of host " + m_place.host.Name() +
                                    " has its port; choose another one");
    }
    socket->SetRecvCallback(ns3::MakeCallback(&DatagramSink::Take, this));
    m_sockets.push_back(socket);
}

void DatagramSink::Begin()
{
    // Listens from the start: a lab's hosts are up before its time begins.
}

void DatagramSink::Take(ns3::Ptr<ns3::Socket> socket)
{
    while (const auto datagram = socket->Recv())
    {
        const auto now = m_place.frames.StampOf(ns3::Simulator::Now().GetNanoSeconds());
        m_first = m_received == 0 ? now : m_first;
        m_last = now;
        ++m_received;
        m_bytes += datagram->GetSize();
    }
}

Json DatagramSink::Read() const
{
    return {{"received", m_received}, {"bytes", m_bytes}, {"first_ns", m_first}, {"last_ns", m_last}};
}

void DatagramSink::Reset()
{
    m_received = m_bytes = 0;
    m_first = m_last = 0;
}

} // namespace netboxit
