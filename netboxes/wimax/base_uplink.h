// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "scheduler.h"
#include "subframe_room.h"
#include "subscriber.h"
#include "uplink.h"

#include <deque>
#include <memory>

namespace netboxit::wimax
{

/// The uplink as the base station knows it: what subscribers asked for, what they are due unasked, and the
/// UL-MAP made of both. It sees of a subscriber only its link, its state of entry, its requests and its PDUs.
class BaseUplink
{
  public:
    BaseUplink(const Configuration& configuration, std::unique_ptr<Scheduler> scheduler);

    /// Subscribers are added in the order of their indices; the reference must stay valid.
    void Add(const Subscriber& subscriber, const FlowTable& flows);

    void HearRequest(std::size_t subscriber, const BandwidthRequest& request);
    /// A PDU came in: it counts against the rates of its connection.
    void HearPdu(std::size_t subscriber, std::size_t flow, const Pdu& pdu);

    UplinkMap Plan(const FrameLayout& layout, std::uint64_t frame, ns3::Time now);

    /// What the reserved rates, unsolicited grants and polls of all stations take of a subframe, in symbols.
    double ReservedSymbols() const;

    /// A subscriber is out of range: forget its requests.
    void Abandon(std::size_t subscriber);

  private:
    struct Flow
    {
        ServiceFlow flow;
        std::size_t number{}; ///< among all connections
        FlowCredit credit;
        std::uint32_t requested{};
        std::uint32_t reservedGrant{}; ///< of an unsolicited grant: bytes at the reserved rate,
        std::uint32_t largestGrant{};  ///< at most,
        std::uint32_t grant{};         ///< and now (ertPS); 0: only polled
        ns3::Time due;     ///< next unsolicited grant or poll
        double airBytes{}; ///< seen so far: their quotient tells what headers cost on this connection
        double payload{};
    };

    struct Member
    {
        const Subscriber* station{};
        std::deque<Flow> flows;
    };

    /// A claim and whom it is for.
    struct Claims
    {
        std::vector<Claim> claims;
        std::vector<std::size_t> flows;
        std::vector<bool> polls;
    };

    /// Unsolicited grants or polls that are due.
    std::uint32_t Occasions(Flow& flow, ns3::Time now) const;
    Claim ClaimFor(std::size_t member, Flow& flow, bool& poll, ns3::Time now);
    Claims Collect(ns3::Time now);
    /// The shares of each subscriber's grant; takes what is granted off the requests.
    std::vector<std::vector<UplinkShare>> Distribute(const Claims& claims);

    double m_frameS;
    std::unique_ptr<Scheduler> m_scheduler;
    std::deque<Member> m_members;
    std::size_t m_connections{};
};

} // namespace netboxit::wimax
