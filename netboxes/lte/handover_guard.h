// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/epc-x2.h"
#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-enb-rrc.h"

#include <map>
#include <vector>

namespace netboxit
{

/// Stands between X2 and the RRC of an eNodeB, and keeps from it messages about UEs that it no longer has: a UE may lose its link while a
/// handover is being prepared or executed, the longer X2 takes the sooner, and ns-3 would abort on what comes after.
class HandoverGuard : public ns3::EpcX2SapUser
{
  public:
    /// `enodebs` are all of the network, the cell's number is the index plus 1; they outlive this object.
    HandoverGuard(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb,
                  const std::vector<ns3::Ptr<ns3::LteEnbNetDevice>>& enodebs);
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
    const std::vector<ns3::Ptr<ns3::LteEnbNetDevice>>& m_enodebs;
    std::uint16_t m_latest{};                       ///< RNTI of the latest UE here
    std::map<std::uint32_t, std::uint16_t> m_rntis; ///< of UEs that came by handover, by their bearers' tunnels
};

} // namespace netboxit
