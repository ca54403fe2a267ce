// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "scheduler.h"
#include "subscriber.h"
#include "uplink.h"

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

/// The base station: downlink queues, what it believes of the uplink queues, and the maps of each frame.
/// It sees of a subscriber only its link, its state of entry and its requests.
class BaseStation
{
  public:
    BaseStation(const Configuration& configuration, Accounts& accounts, std::unique_ptr<Scheduler> uplink, std::unique_ptr<Scheduler> downlink);

    /// Subscribers are added in the order of their indices; the reference must stay valid.
    void Add(const Subscriber& subscriber, const FlowTable& uplink, const FlowTable& downlink);

    /// To one subscriber on its connection for the frame's class, to several on the broadcast connection.
    void Enqueue(std::size_t subscriber, std::shared_ptr<Sdu> sdu);
    void EnqueueBroadcast(std::shared_ptr<Sdu> sdu) { m_broadcast.connection.Enqueue(std::move(sdu)); }

    void HearRequest(std::size_t subscriber, const BandwidthRequest& request);
    /// A PDU came in: it counts against the rates of its connection.
    void HearPdu(std::size_t subscriber, std::size_t flow, const Pdu& pdu);

    UplinkMap PlanUplink(const FrameLayout& layout, std::uint64_t frame, ns3::Time now);
    /// `announced` is the map that this frame carries.
    DownlinkPlan PlanDownlink(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now);

    /// A subscriber is out of range: forget its requests and lose what was queued for it.
    void Abandon(std::size_t subscriber);

    Json ReadFlows(std::size_t subscriber) const;
    std::uint32_t QueuedBytes(std::size_t subscriber) const;

  private:
    struct Rates
    {
        TokenBucket reserved;
        TokenBucket maximum;
    };

    struct DownlinkFlow
    {
        Connection connection;
        Rates rates;
    };

    struct UplinkFlow
    {
        ServiceFlow flow;
        Rates rates;
        std::uint32_t requested{};
        ns3::Time due;            ///< next unsolicited grant or poll
        double airBytes{};        ///< seen so far: their quotient tells what headers cost on this connection
        double payload{};
    };

    struct Member
    {
        const Subscriber* station{};
        std::deque<UplinkFlow> uplink;
        std::deque<DownlinkFlow> downlink;
        std::vector<std::size_t> downlinkByClass;
    };

    Rates MakeRates(const ServiceFlow& flow) const;
    /// Unsolicited grants or polls that are due.
    std::uint32_t Occasions(UplinkFlow& flow, ns3::Time now) const;
    Claim ClaimUplink(std::size_t member, UplinkFlow& flow, bool& poll, ns3::Time now);
    Claim ClaimDownlink(DownlinkFlow& flow, ProfileId profile, ns3::Time now);
    std::optional<ProfileId> BroadcastProfile() const;

    double m_frameS;
    Accounts& m_accounts;
    std::unique_ptr<Scheduler> m_uplinkScheduler;
    std::unique_ptr<Scheduler> m_downlinkScheduler;
    std::deque<Member> m_members;
    DownlinkFlow m_broadcast;
};

} // namespace netboxit::wimax
