// SPDX-License-Identifier: GPL-2.0-or-later
#include "network_interface.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdexcept>

namespace netboxit
{

namespace
{

ifreq Request(const std::string& interface)
{
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    return request;
}

} // namespace

NetworkInterface::NetworkInterface(std::string subject, std::string name)
    : m_subject(std::move(subject)), m_name(std::move(name)),
      m_socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), m_subject + ": cannot ask for interfaces")
{
    if (m_name.empty() || m_name.size() >= IFNAMSIZ)
    {
        throw std::runtime_error(m_subject + ": \"" + m_name + "\" is no name of an interface");
    }
}

NetworkInterface::State NetworkInterface::CurrentState() const
{
    auto request = Request(m_name);
    if (::ioctl(m_socket.Get(), SIOCGIFFLAGS, &request) != 0)
    {
        return State::Absent;
    }
    return (request.ifr_flags & IFF_UP) != 0 ? State::Up : State::Down;
}

unsigned NetworkInterface::Index() const
{
    auto request = Request(m_name);
    Checked(::ioctl(m_socket.Get(), SIOCGIFINDEX, &request),
            m_subject + ": cannot ask for the index of " + m_name);
    return static_cast<unsigned>(request.ifr_ifindex);
}

std::uint32_t NetworkInterface::Mtu() const
{
    auto request = Request(m_name);
    Checked(::ioctl(m_socket.Get(), SIOCGIFMTU, &request), m_subject + ": cannot ask for the MTU of " + m_name);
    return static_cast<std::uint32_t>(request.ifr_mtu);
}

unsigned NetworkInterface::ReceiveQueues() const
{
    auto request = Request(m_name);
    ethtool_channels channels{};
    channels.cmd = ETHTOOL_GCHANNELS;
    request.ifr_data = reinterpret_cast<char*>(&channels);
    if (::ioctl(m_socket.Get(), SIOCETHTOOL, &request) != 0 && errno == EOPNOTSUPP)
    {
        return 1; // a driver that has no queues to tell of
    }
    return std::max(1U, channels.rx_count + channels.combined_count);
}

std::string NetworkInterface::Driver() const
{
    auto request = Request(m_name);
    ethtool_drvinfo told{};
    told.cmd = ETHTOOL_GDRVINFO;
    request.ifr_data = reinterpret_cast<char*>(&told);
    if (const int done = ::ioctl(m_socket.Get(), SIOCETHTOOL, &request); done < 0 && errno != EOPNOTSUPP)
    {
        Checked(done, m_subject + ": cannot ask for the driver of " + m_name);
    }
    return std::string(told.driver, ::strnlen(told.driver, sizeof told.driver));
}

} // namespace netboxit
