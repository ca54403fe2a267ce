// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include "raw_socket.h"

#include <ns3/arp-cache.h>
#include <ns3/boolean.h>
#include <ns3/bridge-helper.h>
#include <ns3/csma-helper.h>
#include <ns3/fd-net-device-helper.h>
#include <ns3/fd-net-device.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-interface.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/string.h>

namespace netboxit::stock
{

using namespace ns3;

namespace
{

/// A device of the node on the host's interface, with the interface's own address.
Ptr<NetDevice> Attach(const Ptr<Node>& node, const std::string& interface)
{
    const auto raw = OpenRawSocket(interface);
    auto device = FdNetDeviceHelper().Install(node).Get(0)->GetObject<FdNetDevice>();
    device->SetFileDescriptor(raw.descriptor);
    device->SetAddress(raw.address);
    device->SetMtu(raw.mtu);
    device->SetIsBroadcast(true);
    device->SetIsMulticast(true);
    return device;
}

/// By hand, and not by Ipv4AddressHelper: that one would put a queueing discipline (FqCoDel) on each device, which takes time.
std::uint32_t Address(const Ptr<NetDevice>& device, Ipv4Address address, Ipv4Mask mask)
{
    auto ip = device->GetNode()->GetObject<Ipv4>();
    const auto interface = ip->AddInterface(device);
    ip->AddAddress(interface, Ipv4InterfaceAddress(address, mask));
    ip->SetUp(interface);
    return interface;
}

void RouteEverything(const Ptr<Node>& node, Ipv4Address nextHop, std::uint32_t interface)
{
    Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(nextHop, interface);
}

/// From when the link is up: that empties the cache.
void Know(const Ptr<NetDevice>& device, std::uint32_t interface, Ipv4Address address, Mac48Address mac)
{
    auto cache = device->GetNode()->GetObject<Ipv4L3Protocol>()->GetInterface(interface)->GetArpCache();
    device->AddLinkChangeCallback(Callback<void>([cache, address, mac]() {
        auto* entry = cache->Add(address);
        entry->SetMacAddress(mac);
        entry->MarkPermanent();
    }));
}

} // namespace

void BuildRouters(const Options& options)
{
    NodeContainer routers;
    routers.Create(options.routers);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(routers);

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(options.rate));
    link.SetChannelAttribute("Delay", TimeValue(options.delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(options.queue));
    link.DisableFlowControl();

    Address(Attach(routers.Get(0), options.left.interface), options.left.address, options.left.mask);
    // Networks inside the process: nobody outside sees them.
    std::uint32_t network = Ipv4Address("192.168.0.0").Get();
    for (std::uint32_t number = 0; number + 1 < options.routers; ++number, network += 4)
    {
        const auto ends = link.Install(routers.Get(number), routers.Get(number + 1));
        const auto near = Address(ends.Get(0), Ipv4Address(network + 1), Ipv4Mask("/30"));
        Address(ends.Get(1), Ipv4Address(network + 2), Ipv4Mask("/30"));
        RouteEverything(routers.Get(number), Ipv4Address(network + 2), near);
    }
    const auto last = routers.Get(options.routers - 1);
    const auto device = Attach(last, options.right.interface);
    const auto out = Address(device, options.right.address, options.right.mask);
    RouteEverything(last, options.nextHop, out);
    if (options.nextMac)
    {
        Know(device, out, options.nextHop, *options.nextMac);
    }
}

void BuildBridges(const Options& options)
{
    NodeContainer bridges;
    bridges.Create(2);
    CsmaHelper link;
    link.SetChannelAttribute("DataRate", StringValue(options.rate));
    link.SetChannelAttribute("Delay", TimeValue(options.delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(options.queue));
    const auto ends = link.Install(bridges);
    const std::string* interfaces[]{&options.left.interface, &options.right.interface};
    for (std::uint32_t side = 0; side < 2; ++side)
    {
        NetDeviceContainer ports;
        ports.Add(Attach(bridges.Get(side), *interfaces[side]));
        ports.Add(ends.Get(side));
        BridgeHelper().Install(bridges.Get(side), ports);
    }
}

} // namespace netboxit::stock
