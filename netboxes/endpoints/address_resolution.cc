// SPDX-License-Identifier: GPL-2.0-or-later
#include "address_resolution.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// RFC 863: nobody answers there, or all do by ICMP.
constexpr std::uint16_t DISCARD_PORT = 9;
/// More than one, because media lose frames.
constexpr unsigned QUESTIONS = 3;
const auto BETWEEN_QUESTIONS = ns3::Seconds(1);

} // namespace

AddressResolution::AddressResolution(Host& host, const IpAddress& destination) : m_host(host), m_destination(destination)
{
}

AddressResolution::~AddressResolution()
{
    Stop();
}

void AddressResolution::Start()
{
    m_questions = 0;
    Ask();
}

void AddressResolution::Stop()
{
    m_next.Cancel();
}

void AddressResolution::Ask()
{
    const auto socket = m_host.UdpSocket(m_destination.isIpv6, 0);
    socket->SendTo(ns3::Create<ns3::Packet>(), 0, m_destination.Socket(DISCARD_PORT));
    socket->Close();
    if (++m_questions < QUESTIONS)
    {
        m_next = ns3::Simulator::Schedule(BETWEEN_QUESTIONS, &AddressResolution::Ask, this);
    }
}

} // namespace netboxit
