// SPDX-License-Identifier: GPL-2.0-or-later
#include "delivery_rate.h"

#include "ns3/simulator.h"
#include "ns3/tcp-tx-item.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

ns3::TypeId DeliveryRate::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::DeliveryRate").SetParent<ns3::TcpRateOps>();
    return type;
}

DeliveryRate::DeliveryRate(std::shared_ptr<Rack> rack) : m_rack(std::move(rack))
{
}

void DeliveryRate::CountLoss(std::uint32_t bytes)
{
    m_lost += bytes;
}

void DeliveryRate::SkbSent(ns3::TcpTxItem* segment, bool isFirst)
{
    if (isFirst) // nothing is on its way: what arrives from now on was sent from now on
    {
        m_connection.m_firstSentTime = m_connection.m_deliveredTime = ns3::Simulator::Now();
    }
    auto& sent = segment->GetRateInformation();
    sent.m_firstSent = m_connection.m_firstSentTime;
    sent.m_deliveredTime = m_connection.m_deliveredTime;
    sent.m_delivered = m_connection.m_delivered;
    sent.m_isAppLimited = m_connection.m_appLimited != 0;
}

void DeliveryRate::SkbDelivered(ns3::TcpTxItem* segment)
{
    auto& sent = segment->GetRateInformation();
    if (sent.m_deliveredTime == ns3::Time::Max())
    {
        return; // it was acknowledged selectively before
    }
    if (m_rack)
    {
        m_rack->Arrived(*segment);
    }
    m_connection.m_delivered += segment->GetSeqSize();
    m_connection.m_deliveredTime = ns3::Simulator::Now();
    if (!m_hasSegment || segment->GetLastSent() >= m_sentLast)
    {
        m_hasSegment = true;
        m_sentLast = segment->GetLastSent();
        m_sample.m_priorDelivered = sent.m_delivered;
        m_sample.m_priorTime = sent.m_deliveredTime;
        m_sample.m_isAppLimited = sent.m_isAppLimited;
        m_sample.m_sendElapsed = m_sentLast - sent.m_firstSent;
        m_sample.m_ackElapsed = ns3::Simulator::Now() - sent.m_deliveredTime;
        m_connection.m_firstSentTime = m_sentLast;
    }
    m_connection.m_txItemDelivered = sent.m_delivered;
    sent.m_deliveredTime = ns3::Time::Max();
}

void DeliveryRate::CalculateAppLimited(std::uint32_t window,
                                       std::uint32_t inFlight,
                                       std::uint32_t segmentSize,
                                       const ns3::SequenceNumber32& end,
                                       const ns3::SequenceNumber32& next,
                                       std::uint32_t lost,
                                       std::uint32_t sentAgain)
{
    if (end - next < static_cast<std::int32_t>(segmentSize) && inFlight < window && lost <= sentAgain)
    {
        LimitByApplication(inFlight);
    }
}

void DeliveryRate::LimitByApplication(std::uint32_t inFlight)
{
    m_connection.m_appLimited =
        std::max<std::uint32_t>(static_cast<std::uint32_t>(m_connection.m_delivered) + inFlight, 1);
}

const ns3::TcpRateOps::TcpRateSample& DeliveryRate::GenerateSample(std::uint32_t acknowledged,
                                                                   std::uint32_t,
                                                                   bool isReneging,
                                                                   std::uint32_t inFlightBefore,
                                                                   const ns3::Time& leastRoundTrip)
{
    if (m_connection.m_appLimited != 0 && m_connection.m_delivered > m_connection.m_appLimited)
    {
        m_connection.m_appLimited = 0;
    }
    m_sample.m_ackedSacked = acknowledged;
    m_sample.m_bytesLoss = std::exchange(m_lost, 0);
    m_sample.m_priorInFlight = inFlightBefore;
    m_sample.m_delivered = -1;
    m_sample.m_interval = {};
    if (m_hasSegment && !isReneging)
    {
        m_sample.m_delivered = static_cast<std::int32_t>(m_connection.m_delivered - m_sample.m_priorDelivered);
        const auto interval = std::max(m_sample.m_sendElapsed, m_sample.m_ackElapsed);
        if (interval >= leastRoundTrip && interval.IsStrictlyPositive()) // else a segment sent again was not needed
        {
            m_sample.m_interval = interval;
            m_sample.m_deliveryRate = ns3::DataRate(
                static_cast<std::uint64_t>(m_sample.m_delivered * 8.0 / interval.GetSeconds()));
            m_connection.m_rateDelivered = m_sample.m_delivered;
            m_connection.m_rateInterval = interval;
            m_connection.m_rateAppLimited = m_sample.m_isAppLimited;
        }
    }
    m_hasSegment = false; // the next acknowledgement begins anew
    return m_sample;
}

const ns3::TcpRateOps::TcpRateConnection& DeliveryRate::GetConnectionRate()
{
    return m_connection;
}

} // namespace netboxit
