// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rack.h"

#include "ns3/tcp-rate-ops.h"

#include <memory>

namespace netboxit
{

/// Samples of the rate at which data arrives (draft-cheng-iccrg-delivery-rate-estimation, as Linux's tcp_rate.c), by which BBR
/// sends. One is of the segment sent last of those that an acknowledgement tells of. ns-3.44's keeps the times of an earlier
/// one where several segments were sent after the same acknowledgement, and the rate comes out too high.
class DeliveryRate : public ns3::TcpRateOps
{
  public:
    static ns3::TypeId GetTypeId();
    DeliveryRate() = default;
    /// Tells `rack` of each segment that arrives.
    explicit DeliveryRate(std::shared_ptr<Rack> rack);

    /// `bytes` were found lost; ns-3 takes what is sent again for lost, too.
    void CountLoss(std::uint32_t bytes);
    /// Samples of what is sent until now say less than the path permits.
    void LimitByApplication(std::uint32_t inFlight);

    void SkbSent(ns3::TcpTxItem* segment, bool isFirst) override;
    void SkbDelivered(ns3::TcpTxItem* segment) override;
    void CalculateAppLimited(std::uint32_t window,
                             std::uint32_t inFlight,
                             std::uint32_t segmentSize,
                             const ns3::SequenceNumber32& end,
                             const ns3::SequenceNumber32& next,
                             std::uint32_t lost,
                             std::uint32_t sentAgain) override;
    const TcpRateSample& GenerateSample(std::uint32_t acknowledged,
                                        std::uint32_t lost,
                                        bool isReneging,
                                        std::uint32_t inFlightBefore,
                                        const ns3::Time& leastRoundTrip) override;
    const TcpRateConnection& GetConnectionRate() override;

  private:
    std::shared_ptr<Rack> m_rack;
    std::uint32_t m_lost{0}; ///< since the last acknowledgement, bytes
    TcpRateConnection m_connection;
    TcpRateSample m_sample;
    ns3::Time m_sentLast;     ///< of the segments of this acknowledgement, the latest
    bool m_hasSegment{false}; ///< this acknowledgement tells of any
};

} // namespace netboxit
