// SPDX-License-Identifier: GPL-2.0-or-later
#include "datagram_sink.h"

#include "ns3/simulator.h"

namespace netboxit
{

std::unique_ptr<Flow> MakeDatagramSink(const FlowPlace& place, Section& configuration)
{
    return std::make_unique<DatagramSink>(place, ReadPort(configuration, "port", 1));
}

DatagramSink::DatagramSink(const FlowPlace& place, std::uint16_t port) : m_place(place)
{
    Listen(false, port);
    if (place.host.HasIpv6())
    {
        Listen(true, port);
    }
}

DatagramSink::~DatagramSink()
{
    for (const auto& socket : m_sockets)
    {
        socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    }
}

void DatagramSink::Listen(bool isIpv6, std::uint16_t port)
{
    if (!m_place.host.ListenAt(isIpv6, port))
    {
        throw std::invalid_argument("flow " + m_place.name + ": another flow of host " + m_place.host.Name() +
                                    " has its port; choose another one");
    }
    const auto socket = m_place.host.UdpSocket(isIpv6, port);
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
