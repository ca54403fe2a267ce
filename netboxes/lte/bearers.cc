// SPDX-License-Identifier: GPL-2.0-or-later
#include "bearers.h"

#include "carrier_packet.h"

#include "ns3/component-carrier-enb.h"
#include "ns3/epc-tft.h"
#include "ns3/eps-bearer.h"
#include "ns3/lte-enb-rrc.h"

#include <map>

namespace netboxit
{

namespace
{

/// The default bearer has the first logical channel of user data, 3, and the dedicated ones follow in their order.
constexpr std::size_t FIRST_DEDICATED_CHANNEL = 4;
constexpr int LOWEST_ARP = 15; ///< TS 23.203, 6.1.7.3

ns3::EpsBearer BearerOf(const BearerPlan& plan)
{
    ns3::GbrQosInformation rates;
    rates.gbrUl = static_cast<std::uint64_t>(plan.uplinkRate);
    rates.gbrDl = static_cast<std::uint64_t>(plan.downlinkRate);
    rates.mbrUl = static_cast<std::uint64_t>(plan.uplinkMaximum);
    rates.mbrDl = static_cast<std::uint64_t>(plan.downlinkMaximum);
    ns3::EpsBearer bearer(static_cast<ns3::EpsBearer::Qci>(plan.qci), rates);
    bearer.arp.priorityLevel = static_cast<std::uint8_t>(plan.arp);
    return bearer;
}

/// All packets of one class, in both directions.
ns3::Ptr<ns3::EpcTft> TemplateOf(ClassId trafficClass)
{
    ns3::EpcTft::PacketFilter filter;
    filter.typeOfService = CarrierPacket::TypeOfService(trafficClass);
    filter.typeOfServiceMask = 0xff;
    auto flowTemplate = ns3::Create<ns3::EpcTft>();
    flowTemplate->Add(filter);
    return flowTemplate;
}

} // namespace

void ActivateBearer(ns3::LteHelper& helper, const ns3::Ptr<ns3::LteUeNetDevice>& terminal, const BearerPlan& plan)
{
    helper.ActivateDedicatedEpsBearer(ns3::Ptr<ns3::NetDevice>(terminal), BearerOf(plan), TemplateOf(plan.trafficClass));
}

ns3::Ptr<GuaranteeingScheduler> SchedulerOf(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb)
{
    const auto carrier = ns3::DynamicCast<ns3::ComponentCarrierEnb>(enodeb->GetCcMap().at(0));
    return ns3::DynamicCast<GuaranteeingScheduler>(carrier->GetFfMacScheduler());
}

void TellPriorities(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb, const LteNetwork& network, const LtePlan& plan)
{
    std::map<std::uint64_t, std::vector<int>> byImsi;
    for (StationId id = 0; id < plan.stations.size(); ++id)
    {
        if (network.terminals[id])
        {
            auto& priorities = byImsi[network.terminals[id]->GetImsi()];
            for (const auto& bearer : plan.stations[id].bearers)
            {
                priorities.push_back(bearer.arp);
            }
        }
    }
    const auto rrc = enodeb->GetRrc();
    auto arp = [rrc = ns3::PeekPointer(rrc), byImsi](std::uint16_t rnti, std::uint8_t channel) {
        const auto found = byImsi.find(rrc->GetUeManager(rnti)->GetImsi());
        const auto index = static_cast<std::size_t>(channel) - FIRST_DEDICATED_CHANNEL;
        return found != byImsi.end() && index < found->second.size() ? found->second[index] : LOWEST_ARP;
    };
    SchedulerOf(enodeb)->SetArp(arp);
}

} // namespace netboxit
