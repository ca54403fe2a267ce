// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "receiver_channels.h"
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
///
/// Each connection has a queue of its own. Where the cell's queue is `modular` the connections have one for all, but for those with something
/// of their own: a queue, rates or a latency. Before each frame they get from it, in its order, what the frame still carries.
class BaseDownlink
{
  public:
    /// `names` are those of all stations, by StationId; all of it outlives this object.
    BaseDownlink(const Configuration& configuration,
                 const std::vector<std::string>& names,
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
    /// The base station's own: of broadcasts, or of all connections that share it.
    Json ReadQueue(ns3::Time now) const
    {
        return m_shared ? m_shared->Read(now.GetNanoSeconds()) : m_broadcast.connection.ReadQueue(now);
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
        Member(const Subscriber& subscriber, const FlowTable& table, const std::vector<std::string>& names);

        const Subscriber* station;
        ReceiverChannels channel; ///< to this one alone
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

    /// Whether it has no queue of its own now.
    bool Shares(const Flow& flow) const
    {
        return m_shared && flow.connection.Flow().MayShareQueue();
    }
    Flow& FlowOf(Member& member, const Sdu& sdu)
    {
        return member.flows[member.byClass.at(sdu.frame.trafficClass)];
    }
    Member& MemberOf(StationId subscriber);
    /// The connection that an SDU goes on, and its burst profile.
    std::pair<Flow*, ProfileId> Carrier(const Sdu& sdu);
    /// What waits moves to the one queue, or from it to each connection's own.
    void Share(std::unique_ptr<SduQueue> shared, const FrameLayout& layout, ns3::Time now);
    void Separate(const FrameLayout& layout, ns3::Time now);
    /// Moves SDUs out of the shared queue, as many as fit into the frame: the last one perhaps in part.
    void Distribute(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now);
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
    const std::vector<std::string>& m_names;
    Accounts& m_accounts;
    std::unique_ptr<Scheduler> m_scheduler;
    ReceiverChannels m_channels; ///< to all
    std::deque<Member> m_members;
    Flow m_broadcast;
    std::unique_ptr<SduQueue> m_shared; ///< none where each connection has its own
};

} // namespace netboxit::wimax
