// SPDX-License-Identifier: GPL-2.0-or-later
#include "route.h"

#include "address_text.h"
#include "command.h"

#include <stdexcept>

namespace netboxit::middleware
{

std::string InterfaceTo(const HostAddress& host)
{
    return InterfaceOf(nlohmann::json::parse(Answer({IP, "-json", "route", "get", TextOf(host)})));
}

std::string InterfaceOf(const nlohmann::json& routes)
{
    const auto& route = routes.at(0);
    if (route.value("type", "") == "local")
    {
        throw std::runtime_error("the allocator is on this host: name the interface that leads to the link (`interface`)");
    }
    return route.at("dev");
}

} // namespace netboxit::middleware
