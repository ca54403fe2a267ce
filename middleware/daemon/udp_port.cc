// SPDX-License-Identifier: GPL-2.0-or-later
#include "udp_port.h"

#include "address_text.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace netboxit::middleware
{

namespace
{

/// RFC 2474, section 4.2.2.2, and RFC 4594, section 3.2, for network control.
constexpr int NETWORK_CONTROL = IPTOS_CLASS_CS6;
/// More than each message has, so that a longer datagram is recognised as none.
constexpr std::size_t LONGEST = 256;

void Set(const Descriptor& socket, int level, int option, int value, const char* tried)
{
    Checked(::setsockopt(socket.Get(), level, option, &value, sizeof value), tried);
}

union SocketAddress {
    sockaddr any;
    sockaddr_in ipv4;
    sockaddr_in6 ipv6;
};

/// Of an IPv4-mapped address.
in_addr Ipv4Of(const HostAddress& host)
{
    in_addr made{};
    std::memcpy(&made, host.data() + 12, sizeof made);
    return made;
}

SocketAddress SocketAddressOf(const Address& address, socklen_t& length)
{
    SocketAddress made{};
    if (IsIpv4(address.host))
    {
        made.ipv4.sin_family = AF_INET;
        made.ipv4.sin_port = htons(address.port);
        made.ipv4.sin_addr = Ipv4Of(address.host);
        length = sizeof made.ipv4;
        return made;
    }
    made.ipv6.sin6_family = AF_INET6;
    made.ipv6.sin6_port = htons(address.port);
    std::memcpy(&made.ipv6.sin6_addr, address.host.data(), 16);
    length = sizeof made.ipv6;
    return made;
}

HostAddress Mapped(const in_addr& host)
{
    return Ipv4Address(ntohl(host.s_addr), 0).host;
}

Address AddressOf(const SocketAddress& address)
{
    if (address.any.sa_family == AF_INET)
    {
        return {.host = Mapped(address.ipv4.sin_addr), .port = ntohs(address.ipv4.sin_port)};
    }
    Address made{.host = {}, .port = ntohs(address.ipv6.sin6_port)};
    std::memcpy(made.host.data(), &address.ipv6.sin6_addr, made.host.size());
    return made;
}

Descriptor Open(int family, std::uint16_t number)
{
    const auto tried = "UDP port " + std::to_string(number) + (family == AF_INET ? " of IPv4" : " of IPv6");
    Descriptor socket(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), tried);
    SocketAddress any{};
    socklen_t length = sizeof any.ipv4;
    if (family == AF_INET)
    {
        any.ipv4.sin_family = AF_INET;
        any.ipv4.sin_port = htons(number);
        Set(socket, IPPROTO_IP, IP_PKTINFO, 1, "asking at which address datagrams come");
        Set(socket, IPPROTO_IP, IP_TOS, NETWORK_CONTROL, "setting the DSCP");
    }
    else
    {
        any.ipv6.sin6_family = AF_INET6;
        any.ipv6.sin6_port = htons(number);
        length = sizeof any.ipv6;
        Set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1, "leaving IPv4 to the other socket");
        Set(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1, "asking at which address datagrams come");
        Set(socket, IPPROTO_IPV6, IPV6_TCLASS, NETWORK_CONTROL, "setting the DSCP");
    }
    Checked(::bind(socket.Get(), &any.any, length), tried);
    return socket;
}

/// Room for one control message, with the alignment that it needs.
struct Control
{
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> bytes{};
};

template <typename Information>
void Put(msghdr& message, int level, int type, const Information& information)
{
    auto* control = static_cast<cmsghdr*>(message.msg_control);
    control->cmsg_level = level;
    control->cmsg_type = type;
    control->cmsg_len = CMSG_LEN(sizeof information);
    std::memcpy(CMSG_DATA(control), &information, sizeof information);
    message.msg_controllen = CMSG_SPACE(sizeof information);
}

HostAddress LocalAddressOf(msghdr& message)
{
    HostAddress at{};
    for (auto* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control))
    {
        if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_PKTINFO)
        {
            in_pktinfo information;
            std::memcpy(&information, CMSG_DATA(control), sizeof information);
            // Of a broadcast the interface's own address.
            at = Mapped(information.ipi_spec_dst);
        }
        else if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_PKTINFO)
        {
            in6_pktinfo information;
            std::memcpy(&information, CMSG_DATA(control), sizeof information);
            std::memcpy(at.data(), &information.ipi6_addr, at.size());
        }
    }
    return at;
}

} // namespace

UdpPort::UdpPort(std::uint16_t number) : m_buffer(LONGEST)
{
    for (const int family : {AF_INET, AF_INET6})
    {
        try
        {
            m_sockets.push_back({.family = family, .descriptor = Open(family, number)});
        }
        catch (const std::system_error& error)
        {
            if (error.code().value() != EAFNOSUPPORT)
            {
                throw;
            }
        }
    }
    if (m_sockets.empty())
    {
        throw std::system_error(EAFNOSUPPORT, std::generic_category(), "UDP port " + std::to_string(number));
    }
}

void UdpPort::AddTo(std::vector<pollfd>& polled) const
{
    for (const auto& socket : m_sockets)
    {
        polled.push_back({socket.descriptor.Get(), POLLIN, 0});
    }
}

std::string UdpPort::Join(const HostAddress& group, const HostAddress& source)
{
    const auto socket = std::ranges::find(m_sockets, AF_INET, &Socket::family);
    if (socket == m_sockets.end())
    {
        return std::strerror(EAFNOSUPPORT);
    }
    // A socket that is connected has the address that its packets leave with. It sends none.
    const Descriptor probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "a socket for a route");
    socklen_t length = 0;
    auto address = SocketAddressOf({.host = source, .port = 1}, length);
    if (::connect(probe.Get(), &address.any, length) < 0 || ::getsockname(probe.Get(), &address.any, &length) < 0)
    {
        return std::strerror(errno);
    }
    ip_mreqn request{};
    request.imr_multiaddr = Ipv4Of(group);
    request.imr_address = address.ipv4.sin_addr;
    const auto answer = ::setsockopt(socket->descriptor.Get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
    return answer < 0 && errno != EADDRINUSE ? std::strerror(errno) : "";
}

bool UdpPort::ReadFrom(const Socket& socket)
{
    SocketAddress from{};
    Control control;
    iovec buffer{m_buffer.data(), m_buffer.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &buffer;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const auto count = ::recvmsg(socket.descriptor.Get(), &message, 0);
    if (count < 0)
    {
        return false;
    }
    m_arrival = {.bytes = {m_buffer.data(), static_cast<std::size_t>(count)},
                 .from = AddressOf(from),
                 .at = LocalAddressOf(message)};
    return true;
}

std::string UdpPort::Send(const Datagram& datagram, const Address& to)
{
    const int family = IsIpv4(to.host) ? AF_INET : AF_INET6;
    for (const auto& socket : m_sockets)
    {
        if (socket.family != family)
        {
            continue;
        }
        socklen_t length = 0;
        auto address = SocketAddressOf(to, length);
        Control control;
        iovec buffer{const_cast<std::uint8_t*>(datagram.bytes.data()), datagram.bytes.size()};
        msghdr message{};
        message.msg_name = &address;
        message.msg_namelen = length;
        message.msg_iov = &buffer;
        message.msg_iovlen = 1;
        if (datagram.from != HostAddress{})
        {
            message.msg_control = control.bytes.data();
            if (family == AF_INET)
            {
                in_pktinfo information{};
                // Of a group the kernel takes the interface with this address.
                information.ipi_spec_dst = Ipv4Of(datagram.from);
                Put(message, IPPROTO_IP, IP_PKTINFO, information);
            }
            else
            {
                in6_pktinfo information{};
                std::memcpy(&information.ipi6_addr, datagram.from.data(), 16);
                Put(message, IPPROTO_IPV6, IPV6_PKTINFO, information);
            }
        }
        return ::sendmsg(socket.descriptor.Get(), &message, MSG_NOSIGNAL) < 0 ? std::strerror(errno) : "";
    }
    return std::strerror(EAFNOSUPPORT);
}

} // namespace netboxit::middleware
