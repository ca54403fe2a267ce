// SPDX-License-Identifier: GPL-2.0-or-later
#include "handover_guard.h"

#include "ns3/node.h"

#include <algorithm>
#include <initializer_list>

namespace netboxit
{

namespace
{

using ns3::UeManager;

bool Has(const ns3::Ptr<ns3::LteEnbRrc>& rrc, std::uint16_t rnti, std::initializer_list<UeManager::State> states)
{
    return rrc->HasUeManager(rnti) && std::ranges::find(states, rrc->GetUeManager(rnti)->GetState()) != states.end();
}

} // namespace

HandoverGuard::HandoverGuard(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb, const LteNetwork& network)
    : m_rrc(enodeb->GetRrc()), m_network(network)
{
    enodeb->GetNode()->GetObject<ns3::EpcX2>()->SetEpcX2SapUser(this);
    m_rrc->TraceConnectWithoutContext("NewUeContext", ns3::MakeCallback(&HandoverGuard::Created, this));
}

void HandoverGuard::Created(std::uint16_t, std::uint16_t rnti)
{
    m_latest = rnti;
}

void HandoverGuard::RecvHandoverRequest(HandoverRequestParams message)
{
    const auto source = m_network.enodebs[m_network.IndexOf(message.sourceCellId).value()]->GetRrc();
    if (!Has(source, message.oldEnbUeX2apId, {UeManager::HANDOVER_PREPARATION}))
    {
        return;
    }
    m_rrc->GetEpcX2SapUser()->RecvHandoverRequest(message);
    for (const auto& bearer : message.bearers)
    {
        m_rntis[bearer.gtpTeid] = m_latest;
    }
}

void HandoverGuard::RecvHandoverRequestAck(HandoverRequestAckParams message)
{
    // Unheard, the target gives the UE up in time.
    if (Has(m_rrc, message.oldEnbUeX2apId, {UeManager::HANDOVER_PREPARATION}))
    {
        m_rrc->GetEpcX2SapUser()->RecvHandoverRequestAck(message);
    }
}

void HandoverGuard::RecvHandoverPreparationFailure(HandoverPreparationFailureParams message)
{
    if (Has(m_rrc, message.oldEnbUeX2apId, {UeManager::HANDOVER_PREPARATION, UeManager::HANDOVER_LEAVING}))
    {
        m_rrc->GetEpcX2SapUser()->RecvHandoverPreparationFailure(message);
    }
}

void HandoverGuard::RecvSnStatusTransfer(SnStatusTransferParams message)
{
    m_rrc->GetEpcX2SapUser()->RecvSnStatusTransfer(message);
}

void HandoverGuard::RecvUeContextRelease(UeContextReleaseParams message)
{
    if (Has(m_rrc, message.oldEnbUeX2apId, {UeManager::HANDOVER_LEAVING}))
    {
        m_rrc->GetEpcX2SapUser()->RecvUeContextRelease(message);
    }
}

void HandoverGuard::RecvLoadInformation(LoadInformationParams message)
{
    m_rrc->GetEpcX2SapUser()->RecvLoadInformation(message);
}

void HandoverGuard::RecvResourceStatusUpdate(ResourceStatusUpdateParams message)
{
    m_rrc->GetEpcX2SapUser()->RecvResourceStatusUpdate(message);
}

void HandoverGuard::RecvUeData(UeDataParams message)
{
    const auto found = m_rntis.find(message.gtpTeid);
    if (found != m_rntis.end() && m_rrc->HasUeManager(found->second))
    {
        m_rrc->GetEpcX2SapUser()->RecvUeData(message);
    }
}

void HandoverGuard::RecvHandoverCancel(HandoverCancelParams)
{
    // The target's own timer ends what has begun; ns-3's answer to this message would leave it half there.
}

} // namespace netboxit
