// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "host.h"

#include "../engine/configuration_section.h"

#include "ns3/socket.h"

#include <memory>

namespace netboxit
{

/// Where a flow's end lives.
struct FlowPlace
{
    Host& host;
    Frames& frames;
    Announcements& announcements;
    std::string name;         ///< of the flow
    std::int64_t randomStream; ///< and RANDOM_STREAMS more
};

/// One end of a flow of traffic.
class Flow
{
  public:
    static constexpr std::int64_t RANDOM_STREAMS = 256;

    virtual ~Flow() = default;
    /// The network is ready, and its time begins within seconds.
    virtual void Prepare() {}
    /// The network's time begins now; may come again, and starts the flow anew then.
    virtual void Begin() = 0;
    virtual Json Read() const = 0;
    virtual void Reset() {}
};

/// Makes a flow's end of its configuration; throws std::invalid_argument or BadConfiguration, which name the key.
std::unique_ptr<Flow> MakeFlow(const FlowPlace& place, Section& configuration);

/// A UDP or TCP port.
std::uint16_t ReadPort(Section& configuration, const std::string& key, double least);
/// A differentiated services code point (RFC 2474) as an IP header's octet.
std::uint8_t ReadTrafficClass(Section& configuration);
/// Seconds as ns; `otherwise` when absent.
std::int64_t ReadTime(Section& configuration, const std::string& key, double otherwise);
/// The address that a sender sends to.
IpAddress ReadDestination(Section& configuration, const Host& host);

/// Makes a socket and its packets those of a traffic class.
void SetTrafficClass(const ns3::Ptr<ns3::Socket>& socket, bool isIpv6, std::uint8_t trafficClass);

} // namespace netboxit
