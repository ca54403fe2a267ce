// SPDX-License-Identifier: GPL-2.0-or-later
#include "signalling_guard.h"

#include "ns3/lte-rrc-protocol-ideal.h"

#include <algorithm>

namespace netboxit
{

namespace
{

using ns3::UeManager;

/// In which an eNodeB has a UE's bearers.
constexpr std::initializer_list<UeManager::State> CONNECTED{
    UeManager::ATTACH_REQUEST,
    UeManager::CONNECTED_NORMALLY,
    UeManager::CONNECTION_RECONFIGURATION,
    UeManager::CONNECTION_REESTABLISHMENT,
    UeManager::HANDOVER_PREPARATION,
    UeManager::HANDOVER_PATH_SWITCH,
    UeManager::HANDOVER_LEAVING,
};

} // namespace

SignallingGuard::SignallingGuard(StationId terminal, const LteNetwork& network, std::function<void()> orphaned)
    : m_terminal(terminal), m_network(network), m_rrc(network.terminals[terminal]->GetRrc()),
      m_signalling(m_rrc->GetObject<ns3::LteUeRrcProtocolIdeal>()->GetLteUeRrcSapUser()), m_orphaned(std::move(orphaned))
{
    m_rrc->SetLteUeRrcSapUser(this);
}

SignallingGuard::~SignallingGuard()
{
    m_rrc->SetLteUeRrcSapUser(m_signalling);
}

bool SignallingGuard::Expects(std::uint16_t rnti, std::initializer_list<State> states) const
{
    const auto cell = m_network.IndexOf(m_rrc->GetCellId());
    if (!cell || !m_network.enodebs[*cell]->GetRrc()->HasUeManager(rnti))
    {
        return false;
    }
    const auto context = m_network.enodebs[*cell]->GetRrc()->GetUeManager(rnti);
    const bool isOurs = context->GetState() == UeManager::INITIAL_RANDOM_ACCESS ||
                        context->GetImsi() == m_network.terminals[m_terminal]->GetImsi();
    return isOurs && std::ranges::find(states, context->GetState()) != states.end();
}

void SignallingGuard::Setup(SetupParameters parameters)
{
    m_signalling->Setup(parameters);
}

void SignallingGuard::SendRrcConnectionRequest(RrcConnectionRequest message)
{
    // Without an answer the UE begins anew after T300 (TS 36.331, 5.3.3.6).
    if (Expects(m_rrc->GetRnti(), {UeManager::INITIAL_RANDOM_ACCESS}))
    {
        m_signalling->SendRrcConnectionRequest(message);
    }
}

void SignallingGuard::SendRrcConnectionSetupCompleted(RrcConnectionSetupCompleted message)
{
    if (Expects(m_rrc->GetRnti(), {UeManager::CONNECTION_SETUP}))
    {
        m_signalling->SendRrcConnectionSetupCompleted(message);
    }
    else
    {
        m_orphaned();
    }
}

void SignallingGuard::SendRrcConnectionReconfigurationCompleted(RrcConnectionReconfigurationCompleted message)
{
    if (Expects(m_rrc->GetRnti(),
                {UeManager::CONNECTION_RECONFIGURATION,
                 UeManager::CONNECTED_NORMALLY,
                 UeManager::HANDOVER_LEAVING,
                 UeManager::HANDOVER_JOINING}))
    {
        m_signalling->SendRrcConnectionReconfigurationCompleted(message);
    }
    else
    {
        m_orphaned();
    }
}

void SignallingGuard::SendRrcConnectionReestablishmentRequest(RrcConnectionReestablishmentRequest message)
{
    m_signalling->SendRrcConnectionReestablishmentRequest(message);
}

void SignallingGuard::SendRrcConnectionReestablishmentComplete(RrcConnectionReestablishmentComplete message)
{
    m_signalling->SendRrcConnectionReestablishmentComplete(message);
}

void SignallingGuard::SendMeasurementReport(MeasurementReport message)
{
    if (Expects(m_rrc->GetRnti(), CONNECTED) && !m_network.attenuation->IsOff(m_network.motions[m_terminal]) &&
        !m_network.attenuation->IsOff(m_network.sites[m_network.IndexOf(m_rrc->GetCellId()).value()]))
    {
        m_signalling->SendMeasurementReport(message);
    }
}

void SignallingGuard::SendIdealUeContextRemoveRequest(std::uint16_t rnti)
{
    const auto cell = m_network.IndexOf(m_rrc->GetCellId());
    if (cell && m_network.enodebs[*cell]->GetRrc()->HasUeManager(rnti))
    {
        m_signalling->SendIdealUeContextRemoveRequest(rnti);
    }
}

} // namespace netboxit
