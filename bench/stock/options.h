// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ns3/ipv4-address.h>
#include <ns3/mac48-address.h>
#include <ns3/nstime.h>

#include <cstdint>
#include <optional>
#include <string>

namespace netboxit::stock
{

/// How the stations at both ends of the process are joined inside it.
enum class Inside
{
    Routers, ///< IP routers, joined by point-to-point links: set-up A with two of them
    Bridges  ///< two learning bridges, joined by a CSMA link: the same link without ns-3's IP stack
};

/// One end of the process: the host's interface, and the address of the router on it.
struct Side
{
    std::string interface;
    ns3::Ipv4Address address;
    ns3::Ipv4Mask mask;
};

struct Options
{
    Inside inside{Inside::Routers};
    std::uint32_t routers{2};
    Side left;
    Side right;
    ns3::Ipv4Address nextHop;                   ///< everything goes there, on the right
    std::optional<ns3::Mac48Address> nextMac;   ///< of a next hop that answers no ARP
    std::string rate;                           ///< of each link inside, say "1Gbps"
    std::string queue;                          ///< of each link inside, say "1000p"
    ns3::Time delay;                            ///< of each link inside
};

/// Reads the command line; attributes of ns-3 (--ns3::FdNetDevice::RxQueueSize=…) are set on the way. Throws
/// std::invalid_argument.
Options ReadOptions(int argc, char** argv);

} // namespace netboxit::stock
