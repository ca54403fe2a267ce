// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "host.h"

#include "ns3/event-id.h"

namespace netboxit
{

/// Has all of a path resolve addresses by empty datagrams to port 9, before the network's time: packets that waited for that would
/// arrive late, and in one burst. Who gets them answers by port unreachable, so the way back is resolved, too.
class AddressResolution
{
  public:
    AddressResolution(Host& host, const IpAddress& destination);
    ~AddressResolution();
    AddressResolution(const AddressResolution&) = delete;
    AddressResolution& operator=(const AddressResolution&) = delete;

    void Start();
    void Stop();

  private:
    void Ask();

    Host& m_host;
    IpAddress m_destination;
    unsigned m_questions{0};
    ns3::EventId m_next;
};

} // namespace netboxit
