// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/no-op-component-carrier-manager.h"
#include "ns3/simple-ue-component-carrier-manager.h"

#include <utility>

namespace netboxit
{

/// An eNodeB's component carrier manager, by which its MAC finds the RLC entities of data radio bearers; it can be given something
/// else in the place of an RLC entity. Signalling bearers are as ns-3 has them.
class EnodebCarrierManager : public ns3::NoOpComponentCarrierManager
{
  public:
    static ns3::TypeId GetTypeId();

    /// MAC calls `user` in the place of the RLC entity of the data radio bearer that is set up next.
    void Substitute(ns3::LteMacSapUser& user)
    {
        m_substitute = &user;
    }

  private:
    std::vector<ns3::LteCcmRrcSapProvider::LcsConfig> DoSetupDataRadioBearer(ns3::EpsBearer bearer,
                                                                             std::uint8_t bearerId,
                                                                             std::uint16_t rnti,
                                                                             std::uint8_t channel,
                                                                             std::uint8_t group,
                                                                             ns3::LteMacSapUser* rlc) override;

    ns3::LteMacSapUser* m_substitute{};
};

/// The same of a UE.
class TerminalCarrierManager : public ns3::SimpleUeComponentCarrierManager
{
  public:
    static ns3::TypeId GetTypeId();

    void Substitute(ns3::LteMacSapUser& user)
    {
        m_substitute = &user;
    }

  private:
    std::vector<ns3::LteUeCcmRrcSapProvider::LcsConfig> DoAddLc(std::uint8_t channel,
                                                                ns3::LteUeCmacSapProvider::LogicalChannelConfig configuration,
                                                                ns3::LteMacSapUser* rlc) override;

    ns3::LteMacSapUser* m_substitute{};
};

} // namespace netboxit
