// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <ns3/command-line.h>

#include <stdexcept>

namespace netboxit::stock
{

namespace
{

/// "10.0.0.1/24"; nothing for an end that has no address.
void ReadAddress(const std::string& text, Side& side)
{
    if (text.empty())
    {
        return;
    }
    const auto slash = text.find('/');
    if (slash == std::string::npos)
    {
        throw std::invalid_argument(text + ": write the address with its prefix length, like 10.0.0.1/24");
    }
    side.address = ns3::Ipv4Address(text.substr(0, slash).c_str());
    side.mask = ns3::Ipv4Mask(text.substr(slash).c_str());
}

} // namespace

Options ReadOptions(int argc, char** argv)
{
    Options options;
    std::string inside{"routers"};
    std::string leftAddress;
    std::string rightAddress;
    std::string nextHop;
    std::string nextMac;
    options.rate = "1Gbps";
    options.queue = "1000p";
    ns3::CommandLine line;
    line.Usage("ns-3's own emulation between two interfaces: FdNetDevice, RealtimeSimulatorImpl");
    line.AddValue("inside", "routers or bridges", inside);
    line.AddValue("routers", "how many IP routers in a row", options.routers);
    line.AddValue("left-address", "of the first router, like 10.0.0.1/24", leftAddress);
    line.AddValue("right-address", "of the last router", rightAddress);
    line.AddValue("next-hop", "address of the router's next hop on the right", nextHop);
    line.AddValue("next-mac", "MAC address of a next hop that answers no ARP", nextMac);
    line.AddValue("rate", "of each link inside", options.rate);
    line.AddValue("queue", "of each link inside", options.queue);
    line.AddValue("delay", "of each link inside", options.delay);
    line.AddNonOption("LEFT", "interface on the left", options.left.interface);
    line.AddNonOption("RIGHT", "interface on the right", options.right.interface);
    line.Parse(argc, argv);

    if (options.left.interface.empty() || options.right.interface.empty())
    {
        throw std::invalid_argument("name the interfaces on the left and on the right");
    }
    if (inside != "routers" && inside != "bridges")
    {
        throw std::invalid_argument("--inside is routers or bridges, not " + inside);
    }
    options.inside = inside == "routers" ? Inside::Routers : Inside::Bridges;
    ReadAddress(leftAddress, options.left);
    ReadAddress(rightAddress, options.right);
    if (options.inside == Inside::Routers && (leftAddress.empty() || rightAddress.empty() || nextHop.empty()))
    {
        throw std::invalid_argument("routers need --left-address, --right-address and --next-hop");
    }
    if (options.routers == 0)
    {
        throw std::invalid_argument("--routers is at least 1");
    }
    if (!nextHop.empty())
    {
        options.nextHop = ns3::Ipv4Address(nextHop.c_str());
    }
    if (!nextMac.empty())
    {
        options.nextMac = ns3::Mac48Address(nextMac.c_str());
    }
    return options;
}

} // namespace netboxit::stock
