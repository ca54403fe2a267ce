// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow.h"

#include "bulk_sender.h"
#include "bulk_sink.h"
#include "dash_client.h"
#include "dash_server.h"
#include "datagram_sender.h"
#include "datagram_sink.h"
#include "web_client.h"
#include "web_server.h"

#include <cmath>
#include <iterator>
#include <map>

namespace netboxit
{

namespace
{

/// Their names: "a", "b" or "c".
template <typename Map> std::string OneOf(const Map& kinds)
{
    std::string text;
    for (auto kind = kinds.begin(); kind != kinds.end(); ++kind)
    {
        text += kind == kinds.begin() ? "" : std::next(kind) == kinds.end() ? " or " : ", ";
        text += "\"" + kind->first + "\"";
    }
    return text;
}

} // namespace

std::unique_ptr<Flow> MakeFlow(const FlowPlace& place, Section& configuration)
{
    using Make = std::unique_ptr<Flow> (*)(const FlowPlace&, Section&);
    static const std::map<std::string, std::map<std::string, Make>> kinds{
        {"datagrams", {{"sender", MakeDatagramSender}, {"receiver", MakeDatagramSink}}},
        {"bulk", {{"sender", MakeBulkSender}, {"receiver", MakeBulkSink}}},
        {"dash", {{"client", MakeDashClient}, {"server", MakeDashServer}}},
        {"web", {{"client", MakeWebClient}, {"server", MakeWebServer}}}};
    const auto application = configuration.Text("application");
    const auto kind = kinds.find(application);
    if (kind == kinds.end())
    {
        configuration.Refuse("application", "is \"" + application + R"(", not )" + OneOf(kinds));
    }
    const auto role = configuration.Text("role");
    const auto make = kind->second.find(role);
    if (make == kind->second.end())
    {
        configuration.Refuse("role", "is \"" + role + R"(", not )" + OneOf(kind->second));
    }
    return make->second(place, configuration);
}

std::uint16_t ReadPort(Section& configuration, const std::string& key, double least)
{
    constexpr double HIGHEST = 65535;
    const auto port = configuration.NumberOr(key, 0, least, HIGHEST);
    if (least > 0 && port == 0)
    {
        configuration.Refuse(key, "missing");
    }
    return static_cast<std::uint16_t>(port);
}

std::uint8_t ReadTrafficClass(Section& configuration)
{
    return static_cast<std::uint8_t>(static_cast<unsigned>(configuration.NumberOr("dscp", 0, 0, 63)) << 2);
}

std::int64_t ReadTime(Section& configuration, const std::string& key, double otherwise)
{
    return std::llround(configuration.NumberOr(key, otherwise, 0, LONGEST_S) * 1e9);
}

IpAddress ReadDestination(Section& configuration, const Host& host)
{
    const auto address = ReadAddress(configuration.Text("destination"), configuration.Path("destination"));
    if (address.isIpv6 && !host.HasIpv6())
    {
        configuration.Refuse("destination", "is an IPv6 address, but host " + host.Name() + " has none; give it one");
    }
    return address;
}

void SetTrafficClass(const ns3::Ptr<ns3::Socket>& socket, bool isIpv6, std::uint8_t trafficClass)
{
    if (isIpv6)
    {
        socket->SetIpv6Tclass(trafficClass);
    }
    else
    {
        socket->SetIpTos(trafficClass);
    }
}

} // namespace netboxit
