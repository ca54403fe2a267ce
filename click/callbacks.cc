// SPDX-License-Identifier: GPL-2.0-or-later
// What Click asks of its host.

#include "click_router.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace netboxit
{

namespace
{

/// The variable that holds an interface's Ethernet address (README.md): IAN_ETH for `ian`.
std::string AddressVariable(std::string name)
{
    std::ranges::transform(name,
                           name.begin(),
                           [](unsigned char letter)
                           { return letter == '-' ? '_' : static_cast<char>(std::toupper(letter)); });
    return name + "_ETH";
}

} // namespace

/// A name like `ian:eth` in a configuration. Click also asks for words that are no interfaces, to learn just
/// that: no waiting here. With --check there are no interfaces; then any word that could be one has an
/// address. An end of a memory wire is none of the kernel's: its address is that of its variable.
int ClickRouter::HardwareAddress(const std::string& name, std::span<char> text) const
{
    if (m_options.memory.contains(name))
    {
        const auto address = m_options.defines.find(AddressVariable(name));
        if (address == m_options.defines.end() || address->second.size() >= text.size())
        {
            return -1;
        }
        std::ranges::copy(address->second + '\0', text.begin());
        return 0;
    }
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    if (m_options.check)
    {
        if (name.size() >= IFNAMSIZ || std::isalpha(static_cast<unsigned char>(name[0])) == 0)
        {
            return -1;
        }
    }
    else
    {
        const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                                "a socket to ask for interface addresses");
        if (::ioctl(socket.Get(), SIOCGIFHWADDR, &request) < 0)
        {
            return -1;
        }
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(request.ifr_hwaddr.sa_data);
    std::snprintf(text.data(),
                  text.size(),
                  "%02x:%02x:%02x:%02x:%02x:%02x",
                  bytes[0],
                  bytes[1],
                  bytes[2],
                  bytes[3],
                  bytes[4],
                  bytes[5]);
    return 0;
}

} // namespace netboxit

using netboxit::SimCommand;

int simclick_sim_send(simclick_node_t* node,
                      int interface,
                      int packetType,
                      const unsigned char* bytes,
                      int length,
                      simclick_simpacketinfo* info)
{
    const auto devices = static_cast<netboxit::Engine::Node*>(node)->router->Devices();
    if (interface < 0 || static_cast<std::size_t>(interface) >= devices.size() || length <= 0)
    {
        return -1;
    }
    devices[static_cast<std::size_t>(interface)]->Send({bytes, static_cast<std::size_t>(length)});
    return 0;
}

int simclick_sim_command(simclick_node_t* node, int command, ...)
{
    // Click asks what is supported before it has a node.
    auto* engine = static_cast<netboxit::Engine::Node*>(node);
    auto* router = node != nullptr ? engine->router : nullptr;
    std::va_list arguments;
    va_start(arguments, command);
    int result = -1;
    switch (static_cast<SimCommand>(command))
    {
    case SimCommand::Version:
    case SimCommand::Trace:
    case SimCommand::NodeId:
    case SimCommand::Promiscuous: // every interface is
        result = 0;
        break;
    case SimCommand::Supports:
        switch (static_cast<SimCommand>(va_arg(arguments, int)))
        {
        case SimCommand::Version:
        case SimCommand::Supports:
        case SimCommand::InterfaceByName:
        case SimCommand::HardwareAddressByName:
        case SimCommand::Schedule:
        case SimCommand::InterfaceReady:
        case SimCommand::Promiscuous:
        case SimCommand::Defines:
            result = 1;
            break;
        default:
            result = 0;
        }
        break;
    case SimCommand::InterfaceByName:
        result = router->InterfaceNumber(va_arg(arguments, const char*));
        break;
    case SimCommand::HardwareAddressByName:
    {
        const char* name = va_arg(arguments, const char*);
        char* text = va_arg(arguments, char*);
        result = router->HardwareAddress(name, {text, static_cast<std::size_t>(va_arg(arguments, int))});
        break;
    }
    case SimCommand::Schedule:
    {
        const auto* when = va_arg(arguments, const timeval*);
        // Always the latest word: Click remembers what it asked for and does not ask for an earlier time
        // again.
        engine->wake = std::chrono::seconds(when->tv_sec) + std::chrono::microseconds(when->tv_usec);
        result = 0;
        break;
    }
    case SimCommand::InterfaceReady:
        result = 1;
        break;
    case SimCommand::Defines:
    {
        char* pairs = va_arg(arguments, char*);
        result = router->Defines(pairs, va_arg(arguments, std::size_t*));
        break;
    }
    default:
        break;
    }
    va_end(arguments);
    return result;
}
