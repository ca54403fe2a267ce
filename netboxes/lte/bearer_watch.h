// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "carrier_packet.h"

#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-ue-net-device.h"
#include "ns3/object-map.h"

#include <functional>
#include <vector>

namespace netboxit
{

/// Hears what RLC entities refuse because their queues are full. They are made anew with each connection and handover.
class BearerWatch
{
  public:
    using Refused = std::function<void(const CarrierPacket& packet, bool uplink)>;

    BearerWatch(const std::vector<ns3::Ptr<ns3::LteUeNetDevice>>& terminals,
                const std::vector<ns3::Ptr<ns3::LteEnbNetDevice>>& enodebs,
                Refused refused);
    BearerWatch(const BearerWatch&) = delete;
    BearerWatch& operator=(const BearerWatch&) = delete;

  private:
    void BearerOfTerminal(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti, std::uint8_t identity);
    void TerminalInCell(std::uint16_t cell, std::uint16_t rnti);
    void BearerInCell(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti, std::uint8_t channel);
    static void Watch(const ns3::ObjectMapValue& bearers,
                      int identity,
                      const ns3::Callback<void, ns3::Ptr<const ns3::Packet>>& refused);
    void RefusedUp(ns3::Ptr<const ns3::Packet> pdu);
    void RefusedDown(ns3::Ptr<const ns3::Packet> pdu);
    void Tell(const ns3::Ptr<const ns3::Packet>& pdu, bool uplink) const;

    const std::vector<ns3::Ptr<ns3::LteUeNetDevice>>& m_terminals;
    const std::vector<ns3::Ptr<ns3::LteEnbNetDevice>>& m_enodebs;
    Refused m_refused;
};

} // namespace netboxit
