// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "scheduler.h"
#include "subframe_room.h"
#include "subscriber.h"

#include <deque>
#include <memory>

namespace netboxit::wimax
{

/// A downlink burst: PDUs of one burst profile, for one or several stations, with their places.
struct DownlinkBurst
{
    ProfileId profile{};
    std::uint32_t firstSymbol{}; ///< of the downlink subframe
    std::uint32_t bytes{};
    std::vector<std::pair<Pdu, std::uint32_t>> pdus; ///< and their offset in the burst
};

struct DownlinkPlan
{
    std::uint32_t symbols{}; ///< in use, with preamble, FCH and maps
    std::vector<DownlinkBurst> bursts;
};

/// The base station's downlink: its queues, and which bursts a frame is filled with.
class BaseDownlink
{
  public:
    BaseDownlink(const Configuration& configuration,
                 Accounts& accounts,
                 std::unique_ptr<Scheduler> scheduler);

    /// Subscribers are added in the order of their indices; the reference must stay valid.
    void Add(const Subscriber& subscriber, const FlowTable& flows);

    /// To one subscriber, on its connection for the frame's class. `frame`: the SDU's bytes.
    void Enqueue(std::size_t subscriber, const std::shared_ptr<Sdu>& sdu, Bytes frame, const FrameLayout& layout);
    /// To several, on the broadcast connection.
    void EnqueueBroadcast(const std::shared_ptr<Sdu>& sdu, Bytes frame, const FrameLayout& layout);

    /// Gives the connections that have none of their own another queue; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue, const FrameLayout& layout, ns3::Time now);

    /// `announced` is the UL-MAP that this frame carries.
    DownlinkPlan Plan(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now);

    /// What the reserved rates of all stations take of a subframe, in symbols, with headers of a tenth.
    double ReservedSymbols() const;

    /// A subscriber is out of range: lose what was queued for it.
    void Abandon(std::size_t subscriber, ns3::Time now);

    Json ReadFlows(std::size_t subscriber, ns3::Time now) const;
    Json ReadBroadcastQueue(ns3::Time now) const
    {
        return m_broadcast.connection.ReadQueue(now);
    }
    std::uint32_t QueuedBytes(std::size_t subscriber) const;
    /// Statistics of all queues count from now on.
    void ResetQueueStatistics(ns3::Time now);

  private:
    struct Flow
    {
        Connection connection;
        FlowCredit credit;
        std::size_t number{}; ///< among all connections
    };

    struct Member
    {
        const Subscriber* station{};
        std::deque<Flow> flows;
        std::vector<std::size_t> byClass;

        ProfileId Profile() const
        {
            return station->Downlink().Profile().value_or(MOST_ROBUST);
        }
    };

    struct Claims
    {
        std::vector<Claim> claims;
        std::vector<Flow*> flows;
    };

    Claims Collect(const FrameLayout& layout, ns3::Time now);
    Claim ClaimFor(Flow& flow, ProfileId profile, ns3::Time now);
    /// The most robust profile among the stations that a broadcast is for.
    std::optional<ProfileId> BroadcastProfile() const;
    double BroadcastRateBps(const FrameLayout& layout) const
    {
        return layout.DownlinkRateBps(BroadcastProfile().value_or(MOST_ROBUST));
    }

    static constexpr std::size_t BROADCAST_CONNECTION = 0;

    double m_frameS;
    std::size_t m_connections{BROADCAST_CONNECTION + 1};
    Accounts& m_accounts;
    std::unique_ptr<Scheduler> m_scheduler;
    std::deque<Member> m_members;
    Flow m_broadcast;
};

} // namespace netboxit::wimax
