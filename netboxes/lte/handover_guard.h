// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "network.h"

#include "ns3/epc-x2.h"
#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-enb-rrc.h"

#include <map>

namespace netboxit
{

/// Stands between X2 and the RRC of an eNodeB, and keeps from it messages about UEs that it no longer has: a UE may lose its link while a
/// handover is being prepared or executed, the longer X2 takes the sooner, and ns-3 would abort on what comes after.
class HandoverGuard : public ns3::EpcX2SapUser
{
  public:
    /// The network outlives this object.
    HandoverGuard(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb, const LteNetwork& network);
    HandoverGuard(const HandoverGuard&) = delete;
    HandoverGuard& operator=(const HandoverGuard&) = delete;

    void RecvHandoverRequest(HandoverRequestParams message) override;
    void RecvHandoverRequestAck(HandoverRequestAckParams message) override;
    void RecvHandoverPreparationFailure(HandoverPreparationFailureParams message) override;
    void RecvSnStatusTransfer(SnStatusTransferParams message) override;
    void RecvUeContextRelease(UeContextReleaseParams message) override;
    void RecvLoadInformation(LoadInformationParams message) override;
    void RecvResourceStatusUpdate(ResourceStatusUpdateParams message) override;
    void RecvUeData(UeDataParams message) override;
    void RecvHandoverCancel(HandoverCancelParams message) override;

  private:
    void Created(std::uint16_t cell, std::uint16_t rnti);

    ns3::Ptr<ns3::LteEnbRrc> m_rrc;
    const LteNetwork& m_network;
    std::uint16_t m_latest{};                       ///< RNTI of the latest UE here
    std::map<std::uint32_t, std::uint16_t> m_rntis; ///< of UEs that came by handover, by their bearers' tunnels
};

} // namespace netboxit
