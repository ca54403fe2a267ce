// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_listener.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "tcp_variants.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// Half open ones too: a flood of SYN segments takes no more memory than that.
constexpr std::size_t MOST_CONNECTIONS = 1024;

} // namespace

TcpListener::TcpListener(
    const FlowPlace& place, std::uint16_t port, const TcpOptions& options, std::uint8_t trafficClass, Accept accept)
    : m_trafficClass(trafficClass), m_accept(std::move(accept))
{
    Listen(place, false, port, options);
    if (place.host.HasIpv6())
    {
        Listen(place, true, port, options);
    }
}

TcpListener::~TcpListener()
{
    for (const auto& listener : m_listeners)
    {
        listener->Silence();
    }
}

void TcpListener::Listen(const FlowPlace& place, bool isIpv6, std::uint16_t port, const TcpOptions& options)
{
    std::uint16_t mtu = UINT16_MAX;
    for (const auto& device : place.host.Devices())
    {
        mtu = std::min(mtu, device->GetMtu());
    }
    const auto listener = MakeTcpConnection(place.host, options, isIpv6, mtu, place.randomStream);
    const ns3::Address own = isIpv6 ? ns3::Address(ns3::Inet6SocketAddress(ns3::Ipv6Address::GetAny(), port))
                                    : ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port);
    if (listener->Bind(own) != 0)
    {
        throw std::invalid_argument("flow " + place.name + ": another flow of host " + place.host.Name() +
                                    " has port " + std::to_string(port) + "; choose another one");
    }
    SetTrafficClass(listener, isIpv6, m_trafficClass);
    listener->SetAcceptCallback(ns3::MakeCallback(&TcpListener::Admits, this), ns3::MakeCallback(&TcpListener::Take, this));
    listener->Listen();
    m_listeners.push_back(listener);
}

bool TcpListener::Admits(ns3::Ptr<ns3::Socket> listener, const ns3::Address&)
{
    const bool admits = ns3::DynamicCast<TcpConnection>(listener)->Accepted() < MOST_CONNECTIONS;
    m_turnedAway += !admits;
    return admits;
}

void TcpListener::Take(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from)
{
    SetTrafficClass(socket, ns3::Inet6SocketAddress::IsMatchingType(from), m_trafficClass);
    m_accept(ns3::DynamicCast<TcpConnection>(socket), from);
}

} // namespace netboxit
