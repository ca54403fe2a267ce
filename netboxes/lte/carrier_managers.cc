// SPDX-License-Identifier: GPL-2.0-or-later
#include "carrier_managers.h"

namespace netboxit
{

namespace
{

ns3::LteMacSapUser* Taken(ns3::LteMacSapUser*& substitute, ns3::LteMacSapUser* rlc)
{
    auto* const taken = std::exchange(substitute, nullptr);
    return taken ? taken : rlc;
}

} // namespace

ns3::TypeId EnodebCarrierManager::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::EnodebCarrierManager")
                               .SetParent<ns3::NoOpComponentCarrierManager>()
                               .AddConstructor<EnodebCarrierManager>();
    return id;
}

std::vector<ns3::LteCcmRrcSapProvider::LcsConfig>
EnodebCarrierManager::DoSetupDataRadioBearer(ns3::EpsBearer bearer,
                                             std::uint8_t bearerId,
                                             std::uint16_t rnti,
                                             std::uint8_t channel,
                                             std::uint8_t group,
                                             ns3::LteMacSapUser* rlc)
{
    return ns3::NoOpComponentCarrierManager::DoSetupDataRadioBearer(
        bearer, bearerId, rnti, channel, group, Taken(m_substitute, rlc));
}

ns3::TypeId TerminalCarrierManager::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::TerminalCarrierManager")
                               .SetParent<ns3::SimpleUeComponentCarrierManager>()
                               .AddConstructor<TerminalCarrierManager>();
    return id;
}

std::vector<ns3::LteUeCcmRrcSapProvider::LcsConfig>
TerminalCarrierManager::DoAddLc(std::uint8_t channel,
                                ns3::LteUeCmacSapProvider::LogicalChannelConfig configuration,
                                ns3::LteMacSapUser* rlc)
{
    return ns3::SimpleUeComponentCarrierManager::DoAddLc(channel, configuration, Taken(m_substitute, rlc));
}

} // namespace netboxit
