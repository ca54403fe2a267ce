// SPDX-License-Identifier: GPL-2.0-or-later
// What Click asks of its host.

#include "click_router.h"

#include <cstdarg>
#include <cstring>

using netboxit::click::SimCommand;

int simclick_sim_send(simclick_node_t* node,
                      int interface,
                      int packetType,
                      const unsigned char* bytes,
                      int length,
                      simclick_simpacketinfo* info)
{
    const auto devices = static_cast<netboxit::click::Engine::Node*>(node)->router->Devices();
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
    auto* engine = static_cast<netboxit::click::Engine::Node*>(node);
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
        const auto size = static_cast<std::size_t>(va_arg(arguments, int));
        if (const auto address = router->Around().HardwareAddress(name); address && address->size() < size)
        {
            std::memcpy(text, address->c_str(), address->size() + 1);
            result = 0;
        }
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
