// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/tcp-linux-reno.h"

namespace netboxit
{

/// Reno as Linux has it (tcp_cong.c). ns-3.44's LinuxReno carries the count of acknowledged segments over a loss, where the
/// window is the half and the count may be that of two segments.
class LinuxReno : public ns3::TcpLinuxReno
{
  public:
    static ns3::TypeId GetTypeId();

    std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t inFlight) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  protected:
    void CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments) override;

  private:
    std::uint32_t m_counted{0}; ///< segments that were acknowledged since the window grew
};

} // namespace netboxit
