// SPDX-License-Identifier: GPL-2.0-or-later
#include "host_surroundings.h"

#include "descriptor.h"
#include "memory_device.h"
#include "packet_device.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <ctime>

namespace netboxit::click
{

namespace
{

using std::chrono::nanoseconds;

nanoseconds Read(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

} // namespace

HostSurroundings::HostSurroundings(const Options& options, const sigset_t& signals)
    : m_options(options), m_signals(signals), m_epoch(Read(CLOCK_REALTIME) - Read(CLOCK_MONOTONIC)),
      m_journal(options.check ? "" : options.journal.value_or(""), Now())
{
}

nanoseconds HostSurroundings::Now() const
{
    return Read(CLOCK_MONOTONIC) + m_epoch;
}

std::unique_ptr<Device> HostSurroundings::OpenDevice(const std::string& name, std::chrono::milliseconds wait)
{
    if (const auto wire = m_options.memory.find(name); wire != m_options.memory.end())
    {
        return std::make_unique<MemoryDevice>(name, wire->second.folder, wire->second.end);
    }
    return std::make_unique<PacketDevice>(name, wait, m_signals);
}

void HostSurroundings::Announce(const std::string& interface, std::string_view event, const nlohmann::json& details)
{
    m_journal.Add(interface, event, details, Now());
}

void HostSurroundings::Sample(const nlohmann::json& statistics)
{
    m_journal.Sample(statistics, Now());
}

std::optional<std::string> HostSurroundings::HardwareAddress(const std::string& name) const
{
    if (m_options.memory.contains(name))
    {
        return DefinedAddress(m_options.defines, name);
    }
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    if (m_options.check)
    {
        if (name.size() >= IFNAMSIZ || std::isalpha(static_cast<unsigned char>(name[0])) == 0)
        {
            return std::nullopt;
        }
    }
    else
    {
        const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                                "a socket to ask for interface addresses");
        if (::ioctl(socket.Get(), SIOCGIFHWADDR, &request) < 0)
        {
            return std::nullopt;
        }
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(request.ifr_hwaddr.sa_data);
    std::array<char, sizeof "02:00:00:00:00:01"> text{};
    std::snprintf(text.data(),
                  text.size(),
                  "%02x:%02x:%02x:%02x:%02x:%02x",
                  bytes[0],
                  bytes[1],
                  bytes[2],
                  bytes[3],
                  bytes[4],
                  bytes[5]);
    return text.data();
}

} // namespace netboxit::click
