// SPDX-License-Identifier: GPL-2.0-or-later
#include "linux_reno.h"

#include "ns3/tcp-socket-state.h"

#include <algorithm>

namespace netboxit
{

NS_OBJECT_ENSURE_REGISTERED(LinuxReno);

ns3::TypeId LinuxReno::GetTypeId()
{
    static const auto type =
        ns3::TypeId("netboxit::LinuxReno").SetParent<ns3::TcpLinuxReno>().AddConstructor<LinuxReno>();
    return type;
}

/// Half of the window, in whole segments (tcp_reno_ssthresh). Each reduction begins to count anew (tcp_init_cwnd_reduction).
std::uint32_t LinuxReno::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t)
{
    m_counted = 0;
    return std::max(state->GetCwndInSegments() / 2, 2U) * state->m_segmentSize;
}

ns3::Ptr<ns3::TcpCongestionOps> LinuxReno::Fork()
{
    return ns3::CopyObject<LinuxReno>(this);
}

/// A segment for each window of them (tcp_cong_avoid_ai).
void LinuxReno::CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments)
{
    if (!state->m_isCwndLimited)
    {
        return;
    }
    const auto window = std::max(state->GetCwndInSegments(), 1U);
    if (m_counted >= window)
    {
        m_counted = 0;
        state->m_cWnd += state->m_segmentSize;
    }
    m_counted += segments;
    state->m_cWnd += m_counted / window * state->m_segmentSize;
    m_counted %= window;
}

} // namespace netboxit
