// SPDX-License-Identifier: GPL-2.0-or-later
#include "bearer_watch.h"

#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-radio-bearer-info.h"
#include "ns3/lte-rlc.h"
#include "ns3/lte-ue-rrc.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// ns-3 gives data radio bearer n the logical channel n + 2, and tells the one at a UE and the other at an eNodeB.
constexpr int FIRST_CHANNEL = 2;

} // namespace

BearerWatch::BearerWatch(const std::vector<ns3::Ptr<ns3::LteUeNetDevice>>& terminals,
                         const std::vector<ns3::Ptr<ns3::LteEnbNetDevice>>& enodebs,
                         Refused refused)
    : m_terminals(terminals), m_enodebs(enodebs), m_refused(std::move(refused))
{
    for (const auto& terminal : terminals)
    {
        if (terminal)
        {
            terminal->GetRrc()->TraceConnectWithoutContext("DrbCreated",
                                                           ns3::MakeCallback(&BearerWatch::BearerOfTerminal, this));
        }
    }
    for (const auto& enodeb : enodebs)
    {
        enodeb->GetRrc()->TraceConnectWithoutContext("NewUeContext",
                                                     ns3::MakeCallback(&BearerWatch::TerminalInCell, this));
    }
}

void BearerWatch::BearerOfTerminal(std::uint64_t imsi, std::uint16_t, std::uint16_t, std::uint8_t identity)
{
    const auto found = std::ranges::find_if(
        m_terminals, [imsi](const auto& device) { return device && device->GetImsi() == imsi; });
    ns3::ObjectMapValue bearers;
    (*found)->GetRrc()->GetAttribute("DataRadioBearerMap", bearers);
    Watch(bearers, identity, ns3::MakeCallback(&BearerWatch::RefusedUp, this));
}

void BearerWatch::TerminalInCell(std::uint16_t cell, std::uint16_t rnti)
{
    m_enodebs.at(cell - 1)->GetRrc()->GetUeManager(rnti)->TraceConnectWithoutContext(
        "DrbCreated", ns3::MakeCallback(&BearerWatch::BearerInCell, this));
}

void BearerWatch::BearerInCell(std::uint64_t, std::uint16_t cell, std::uint16_t rnti, std::uint8_t channel)
{
    ns3::ObjectMapValue bearers;
    m_enodebs.at(cell - 1)->GetRrc()->GetUeManager(rnti)->GetAttribute("DataRadioBearerMap", bearers);
    Watch(bearers, channel - FIRST_CHANNEL, ns3::MakeCallback(&BearerWatch::RefusedDown, this));
}

void BearerWatch::Watch(const ns3::ObjectMapValue& bearers,
                        int identity,
                        const ns3::Callback<void, ns3::Ptr<const ns3::Packet>>& refused)
{
    for (auto each = bearers.Begin(); each != bearers.End(); ++each)
    {
        const auto bearer = ns3::DynamicCast<ns3::LteDataRadioBearerInfo>(each->second);
        if (bearer && bearer->m_drbIdentity == identity)
        {
            bearer->m_rlc->TraceConnectWithoutContext("TxDrop", refused);
        }
    }
}

void BearerWatch::RefusedUp(ns3::Ptr<const ns3::Packet> pdu)
{
    Tell(pdu, true);
}

void BearerWatch::RefusedDown(ns3::Ptr<const ns3::Packet> pdu)
{
    Tell(pdu, false);
}

void BearerWatch::Tell(const ns3::Ptr<const ns3::Packet>& pdu, bool uplink) const
{
    if (const auto carried = CarrierPacket::Read(pdu, PDCP_HEADER))
    {
        m_refused(*carried, uplink);
    }
}

} // namespace netboxit
