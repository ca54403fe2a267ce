// SPDX-License-Identifier: GPL-2.0-or-later
#include "rate_reduction.h"

#include "ns3/tcp-socket-state.h"

#include <algorithm>

namespace netboxit
{

ns3::TypeId RateReduction::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::RateReduction").SetParent<ns3::TcpRecoveryOps>();
    return type;
}

std::string RateReduction::GetName() const
{
    return "RateReduction";
}

void RateReduction::EnterRecovery(ns3::Ptr<ns3::TcpSocketState> state,
                                  std::uint32_t duplicates,
                                  std::uint32_t unacknowledged,
                                  std::uint32_t delivered)
{
    const std::int64_t segment = state->m_segmentSize;
    // 6.1: without what had been acknowledged selectively before this acknowledgement, a segment for each earlier duplicate.
    const auto earlier = duplicates > 1 ? (duplicates - 1) * segment : 0;
    m_atLoss = std::max<std::int64_t>(unacknowledged - earlier, segment);
    m_delivered = m_sent = 0;
    DoRecovery(state, delivered, true);
}

void RateReduction::DoRecovery(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t delivered, bool isDuplicate)
{
    const std::int64_t segment = state->m_segmentSize;
    std::int64_t now = delivered;
    if (isDuplicate)
    {
        m_counted = state->m_lastAckedSeq;
        if (now == 0 && m_delivered < m_atLoss) // without selective acknowledgements, 6.2
        {
            now = segment;
        }
    }
    else if (m_counted == state->m_lastAckedSeq)
    {
        return;
    }
    if (now == 0)
    {
        return;
    }
    m_delivered += now;
    const std::int64_t inFlight = state->m_bytesInFlight;
    const std::int64_t threshold = state->m_ssThresh;
    std::int64_t send = 0;
    if (inFlight > threshold)
    {
        send = (m_delivered * threshold + m_atLoss - 1) / m_atLoss - m_sent;
    }
    else
    {
        send = std::max(m_delivered - m_sent, now);
        if (state->m_isRetransDataAcked) // SafeACK: what was sent again has arrived
        {
            send += segment;
        }
        send = std::min(send, threshold - inFlight);
    }
    send = std::max<std::int64_t>(send, m_sent > 0 ? 0 : segment); // the fast retransmission
    state->m_cWnd = static_cast<std::uint32_t>(inFlight + send);
    state->m_cWndInfl = state->m_cWnd;
}

/// ns-3 has set the window to the threshold.
void RateReduction::ExitRecovery(ns3::Ptr<ns3::TcpSocketState> state)
{
    state->m_cWndInfl = state->m_cWnd;
}

void RateReduction::UpdateBytesSent(std::uint32_t size)
{
    m_sent += size;
}

ns3::Ptr<ns3::TcpRecoveryOps> RateReduction::Fork()
{
    return ns3::CopyObject<RateReduction>(this);
}

} // namespace netboxit
