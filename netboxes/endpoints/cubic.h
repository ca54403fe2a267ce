// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-congestion-ops.h"

namespace netboxit
{

/// CUBIC (RFC 9438) with the hybrid slow start of S. Ha and I. Rhee (Computer Networks 55(9), 2011), both as Linux has them
/// (tcp_cubic.c). ns-3.44's leaves slow start when round trips have doubled, not when they are an eighth longer, takes smoothed
/// ones for them, and counts on over a loss.
class Cubic : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId();

    /// Trains of acknowledgements are twice as long when the connection paces.
    void SetPaces(bool paces);

    std::string GetName() const override;
    void PktsAcked(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments, const ns3::Time& roundTrip) override;
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments) override;
    std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t inFlight) override;
    void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state, ns3::TcpSocketState::TcpCongState_t next) override;
    void CwndEvent(ns3::Ptr<ns3::TcpSocketState> state, ns3::TcpSocketState::TcpCAEvent_t event) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    struct Epoch
    {
        ns3::Time began;
        double k{0};             ///< s until the window is `origin`
        std::uint32_t origin{0}; ///< segments
        std::uint32_t reno{0};   ///< the window that Reno would have, segments
        std::uint32_t renoCount{0};
    };

    /// Segments that are acknowledged for one more in the window.
    std::uint32_t Step(std::uint32_t window, std::uint32_t segments);
    void LeaveSlowStart(ns3::Ptr<ns3::TcpSocketState> state, const ns3::Time& roundTrip);

    bool m_paces{false};
    std::uint32_t m_counted{0}; ///< segments
    std::uint32_t m_most{0};    ///< W_max, segments
    bool m_hasEpoch{false};
    Epoch m_epoch;
    ns3::Time m_leastRoundTrip{ns3::Time::Max()};
    ns3::Time m_lastArrival;

    // The round trip of slow start that is under way.
    bool m_left{false}; ///< slow start
    ns3::SequenceNumber32 m_roundEnds;
    ns3::Time m_roundBegan;
    ns3::Time m_train; ///< the last acknowledgement of the train that began with the round trip
    ns3::Time m_leastOfRound{ns3::Time::Max()};
    unsigned m_samples{0};
};

} // namespace netboxit
