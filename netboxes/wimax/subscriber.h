// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "link.h"
#include "network_entry.h"
#include "receiver_channels.h"
#include "unsolicited.h"
#include "uplink.h"

#include <deque>
#include <optional>

namespace netboxit::wimax
{

/// A subscriber station: its uplink queues, its requests for bandwidth, and how it spends what it is granted.
class Subscriber
{
  public:
    /// `names` are those of all stations, by StationId, and outlive it.
    Subscriber(StationId id,
               const FlowTable& flows,
               const Configuration& configuration,
               const std::vector<std::string>& names,
               Accounts& accounts);

    StationId Id() const
    {
        return m_id;
    }
    NetworkEntry& Entry()
    {
        return m_entry;
    }
    const NetworkEntry& Entry() const
    {
        return m_entry;
    }
    Link& Downlink()
    {
        return m_downlink;
    }
    const Link& Downlink() const
    {
        return m_downlink;
    }
    Link& Uplink()
    {
        return m_uplink;
    }
    const Link& Uplink() const
    {
        return m_uplink;
    }

    /// `frame`: the SDU's bytes.
    void Enqueue(const std::shared_ptr<Sdu>& sdu, Bytes frame, const FrameLayout& layout);
    /// Gives the connections that have none of their own another queue; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue, const FrameLayout& layout, ns3::Time now);
    /// A map promises so much.
    void HearGrant(const UplinkGrant& grant, ns3::Time now);
    /// At the start of each contention region: the request opportunity and the request, when the station
    /// transmits one.
    std::optional<std::pair<std::uint32_t, BandwidthRequest>> Contend(std::uint32_t opportunities,
                                                                      ns3::Time now);
    /// Without fragmentation: discards what no burst can hold.
    void DropOversize(std::uint32_t largestBurst, ns3::Time now);
    /// Fills its burst: by class in strict order, or first as the base station's scheduler divided it.
    /// With grants to connections each takes its own part, and no more.
    UplinkBurst Transmit(const UplinkGrant& grant, ns3::Time now);
    /// The link is lost, and with it what is queued.
    void Abandon(ns3::Time now);

    Json ReadFlows(ns3::Time now) const;
    std::uint32_t QueuedBytes() const;
    /// Requests of all kinds, and of them repetitions in contention; and unicast polls that were heard.
    std::uint64_t Requests() const;
    std::uint64_t Retries() const
    {
        return m_retries;
    }
    std::uint64_t Polls() const
    {
        return m_polls;
    }
    /// Those, and the statistics of its queues, count from now on.
    void ResetStatistics(ns3::Time now);

  private:
    /// What its uplink connections send with now.
    double RateBps(const FrameLayout& layout) const
    {
        return layout.UplinkRateBps(m_uplink.Profile().value_or(MOST_ROBUST));
    }

    /// An uplink connection and what its station believes that the base station knows of it.
    struct Flow
    {
        Connection connection;
        std::uint32_t requested{}; ///< asked for and not yet granted
        std::uint32_t promised{};  ///< granted by a map whose subframe has not come
        ns3::Time answerBy;        ///< T16 of the last request
        bool contended{};          ///< that request went through contention
        std::uint64_t requests{};
        GrantSize grantSize;                  ///< ertPS
        std::optional<std::uint32_t> newSize; ///< to be asked for in this burst

        bool IsUnsolicited() const
        {
            return wimax::IsUnsolicited(connection.Flow().scheduling);
        }
        std::uint32_t Unrequested() const;
    };

    /// Takes up a request that was given up for lost; may discard an SDU after too many.
    void CheckTimeouts(ns3::Time now);
    BandwidthRequest Ask(std::size_t flow, RequestKind kind, ns3::Time now);
    /// Takes PDUs of one connection, at most `most` bytes of the `room`; returns the bytes.
    std::uint32_t SpendOnData(UplinkBurst& burst, std::size_t flow, std::uint32_t most, bool mayAsk, ns3::Time now);
    /// What is left of a burst, and of it what is kept for polls, goes to requests.
    void SpendOnRequests(UplinkBurst& burst, std::uint32_t room, const std::vector<bool>& polled, ns3::Time now);
    /// Whether the first PDU of a flow, which gets at most `room` bytes, shall carry a request.
    static bool WantsPiggyback(const Flow& flow, std::uint32_t room);

    StationId m_id;
    std::vector<std::size_t> m_byClass; ///< flow, by ClassId
    ContentionParameters m_contention;
    bool m_perConnection; ///< spends what a grant has for a connection on no other
    bool m_byShare;       ///< spends a grant as it was divided, before all else
    NetworkEntry m_entry;
    Link m_downlink;
    Link m_uplink;
    ReceiverChannels m_channel; ///< to the base station
    std::deque<Flow> m_flows;
    std::vector<std::size_t> m_order; ///< flows by class
    std::uint64_t m_retries{};
    std::uint64_t m_polls{};
    Backoff m_backoff;
    std::optional<std::size_t> m_contender; ///< the flow whose request waits in back-off or for its answer
};

} // namespace netboxit::wimax
