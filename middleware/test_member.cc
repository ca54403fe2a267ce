// SPDX-License-Identifier: GPL-2.0-or-later
#include "member.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace netboxit::middleware;
using Event = Member::Event::Kind;

namespace
{

constexpr std::uint32_t LINK = 7;
constexpr std::uint64_t INSTANCE = 0xabc;
const Address ALLOCATOR = Ipv4Address(0x0a000001, ALLOCATOR_PORT);
const Address STRANGER = Ipv4Address(0x0a000002, ALLOCATOR_PORT);

Terms TermsOf(std::uint64_t epoch, Rate share)
{
    return {.epoch = epoch, .share = share, .lease = 16'000, .refresh = 4000, .members = 2, .good = 2, .announce = 4000};
}

/// A member with somebody who answers by hand.
struct Bench
{
    explicit Bench(Member::WithoutLease withoutLease = Member::WithoutLease::Unmanaged)
        : member({.domain = LINK, .allocator = ALLOCATOR, .withoutLease = withoutLease},
                 [random = std::mt19937_64(1)]() mutable { return random(); })
    {
    }

    /// What the member sent since the last call.
    std::vector<Message> Sent()
    {
        std::vector<Message> messages;
        for (const auto& datagram : member.TakeDatagrams())
        {
            EXPECT_EQ(datagram.to, ALLOCATOR);
            messages.push_back(std::get<Message>(ReadMessage(datagram.bytes, {})));
        }
        return messages;
    }

    void Tell(Header header, const Body& body, const Address& from = ALLOCATOR)
    {
        header.domain = LINK;
        member.Receive(WriteMessage({.header = header, .body = body}, {}), from, now);
    }

    /// To the last message.
    void Answer(const Body& body, std::uint64_t instance = INSTANCE)
    {
        last = Sent().back();
        auto header = last.header;
        header.instance = instance;
        Tell(header, body);
    }

    void Announce(const Terms& terms, std::uint64_t instance = INSTANCE, const Address& from = ALLOCATOR)
    {
        Tell({.instance = instance}, Announcement{terms}, from);
    }

    void BecomeMember(Rate share = 1000, bool reassigns = false)
    {
        member.Join(now);
        Answer(Challenge{5});
        Answer(Grant{.terms = TermsOf(1, share), .budget = share, .reassigns = reassigns});
        member.TakeEvents();
        Sent();
    }

    void Wait(Time time)
    {
        const auto end = now + time;
        while (member.Due() <= end)
        {
            now = std::max(now, member.Due());
            member.Advance(now);
        }
        now = end;
    }

    std::vector<Event> Events()
    {
        std::vector<Event> kinds;
        for (const auto& event : member.TakeEvents())
        {
            kinds.push_back(event.kind);
        }
        return kinds;
    }

    bool Happened(Event kind)
    {
        const auto kinds = Events();
        return std::ranges::find(kinds, kind) != kinds.end();
    }

    std::uint64_t Ignored(const std::string& reason) const
    {
        return member.Read()["ignored"][reason];
    }

    Time now{SECOND};
    Member member;
    Message last;
};

} // namespace

TEST(Member, JoinsInTwoSteps)
{
    Bench bench;
    bench.member.Join(bench.now);
    bench.Answer(Challenge{5});
    EXPECT_EQ(bench.last.header.instance, 0U);
    bench.Answer(Grant{.terms = TermsOf(1, 1000), .budget = 1000});
    EXPECT_EQ(std::get<Join>(bench.last.body), (Join{.token = 5}));
    EXPECT_EQ(bench.member.Budget(), 1000);
    EXPECT_EQ(bench.Events(), (std::vector{Event::Joined, Event::BudgetChanged}));
}

TEST(Member, JoinsAgainEverMoreRarely)
{
    Bench bench;
    bench.member.Join(bench.now);
    std::vector<Time> gaps;
    for (auto sent = bench.now; gaps.size() < 12; sent = bench.now)
    {
        bench.now = bench.member.Due();
        bench.member.Advance(bench.now);
        gaps.push_back(bench.now - sent);
    }
    for (std::size_t gap = 0; gap < gaps.size(); ++gap)
    {
        const auto middle = SECOND * (INT64_C(1) << std::min<std::size_t>(gap, 6));
        EXPECT_GE(gaps[gap], middle * 3 / 4);
        EXPECT_LE(gaps[gap], middle * 5 / 4);
    }
    EXPECT_TRUE(bench.Happened(Event::Unreachable));
}

TEST(Member, RefreshesBeforeItsLeaseEndsAndRejoinsWhenItDid)
{
    Bench bench;
    bench.BecomeMember();
    const auto due = bench.member.Due() - bench.now;
    EXPECT_GE(due, 3 * SECOND);
    EXPECT_LE(due, 4 * SECOND);
    bench.Wait(4 * SECOND);
    EXPECT_EQ(bench.Sent().front().WhatKind(), Kind::Refresh);
    bench.Wait(13 * SECOND);
    EXPECT_GE(bench.Sent().size(), 8U) << "as many tries as a lease needs with 30 % loss";
    EXPECT_FALSE(bench.member.HasLease());
    EXPECT_EQ(bench.member.Budget(), std::nullopt);
    EXPECT_TRUE(bench.Happened(Event::LeaseLost));
    bench.Wait(60 * SECOND);
    EXPECT_EQ(bench.Sent().back().WhatKind(), Kind::Join);
}

TEST(Member, HoldsTheLastBudgetIfItIsToldTo)
{
    Bench bench(Member::WithoutLease::Hold);
    bench.BecomeMember();
    bench.Wait(20 * SECOND);
    EXPECT_FALSE(bench.member.HasLease());
    EXPECT_EQ(bench.member.Budget(), 1000);
}

TEST(Member, AppliesAnnouncementsInTheirOrder)
{
    Bench bench;
    bench.BecomeMember();
    bench.Announce(TermsOf(3, 300));
    EXPECT_EQ(bench.member.Budget(), 300);
    bench.Announce(TermsOf(2, 200));
    EXPECT_EQ(bench.member.Budget(), 300);
    EXPECT_EQ(bench.Ignored("epoch"), 1U);
    bench.Announce(TermsOf(3, 999));
    EXPECT_EQ(bench.member.Budget(), 300);
    EXPECT_EQ(bench.Ignored("contradiction"), 1U);
}

TEST(Member, IgnoresAnswersToOthers)
{
    Bench bench;
    bench.BecomeMember();
    bench.Wait(4 * SECOND);
    const auto asked = bench.Sent().back();
    const auto grant = Grant{.terms = TermsOf(2, 7), .budget = 7};
    auto header = asked.header;
    bench.Tell(header, grant, STRANGER);
    EXPECT_EQ(bench.Ignored("source"), 1U);
    header.session += 1;
    bench.Tell(header, grant);
    EXPECT_EQ(bench.Ignored("session"), 1U);
    header = asked.header;
    header.sequence += 100;
    bench.Tell(header, grant);
    EXPECT_EQ(bench.Ignored("unexpected"), 1U);
    header = asked.header;
    header.instance += 1;
    bench.Tell(header, grant);
    EXPECT_EQ(bench.Ignored("instance"), 1U);
    EXPECT_EQ(bench.member.Budget(), 1000);
    bench.Tell(asked.header, grant);
    EXPECT_EQ(bench.member.Budget(), 7);
    bench.Tell(asked.header, grant);
    EXPECT_EQ(bench.Ignored("unexpected"), 2U) << "it was answered already";
}

TEST(Member, ReturnsFromAFalseAnnouncementWithTheNextAnswer)
{
    Bench bench;
    bench.BecomeMember();
    bench.Announce(TermsOf(UINT64_MAX, 1));
    EXPECT_EQ(bench.member.Budget(), 1) << "an insider who knows the instance";
    bench.Wait(4 * SECOND);
    bench.Answer(Grant{.terms = TermsOf(2, 500), .budget = 500});
    EXPECT_EQ(bench.member.Budget(), 500);
    EXPECT_EQ(bench.Ignored("disproved"), 1U);
    bench.Announce(TermsOf(3, 400));
    EXPECT_EQ(bench.member.Budget(), 400);
}

TEST(Member, KeepsANewerAnnouncementThatOvertookAnAnswer)
{
    Bench bench;
    bench.BecomeMember();
    bench.Wait(4 * SECOND);
    bench.Announce(TermsOf(3, 300));
    bench.Answer(Grant{.terms = TermsOf(2, 500), .budget = 500});
    EXPECT_EQ(bench.member.Budget(), 300);
    EXPECT_TRUE(bench.member.HasLease());
}

TEST(Member, ReportsAnotherAllocatorOfTheSameLink)
{
    Bench bench;
    bench.BecomeMember();
    bench.Announce(TermsOf(9, 5), 0xdef, STRANGER);
    EXPECT_EQ(bench.member.Budget(), 1000);
    EXPECT_TRUE(bench.Happened(Event::OtherAllocator));
    bench.Announce(TermsOf(9, 5), 0xdef, STRANGER);
    EXPECT_FALSE(bench.Happened(Event::OtherAllocator)) << "once a minute";
    EXPECT_EQ(bench.member.Read()["other_allocators"], 2);
}

TEST(Member, AsksWhetherTheAllocatorWasRestarted)
{
    Bench bench;
    bench.BecomeMember(1'000'000);
    bench.Announce(TermsOf(1, 5'000'000), 0xdef);
    EXPECT_EQ(bench.member.Budget(), 1'000'000) << "it asks first";
    bench.Wait(SECOND);
    bench.Answer(Challenge{6}, 0xdef);
    EXPECT_EQ(bench.last.WhatKind(), Kind::Refresh);
    bench.Answer(Grant{.terms = TermsOf(2, 900'000), .budget = 900'000}, 0xdef);
    EXPECT_EQ(std::get<Join>(bench.last.body), (Join{.token = 6, .heldInstance = INSTANCE, .heldEpoch = 1, .heldMembers = 2}));
    EXPECT_EQ(bench.member.Budget(), 900'000);
    EXPECT_EQ(bench.member.Read()["instances"], 2);
    EXPECT_FALSE(bench.Happened(Event::OtherAllocator));
}

TEST(Member, ReportsAnotherInstanceAtTheAddressOfItsAllocatorThatStillAnswers)
{
    Bench bench;
    bench.BecomeMember();
    bench.Announce(TermsOf(1, 5'000'000), 0xdef);
    bench.Wait(60 * SECOND - bench.now);
    bench.Sent();
    Bench other;
    other.BecomeMember(1'000'000);
    other.Announce(TermsOf(1, 5'000'000), 0xdef);
    other.Wait(SECOND);
    other.Answer(Grant{.terms = TermsOf(1, 1'000'000), .budget = 1'000'000});
    EXPECT_TRUE(other.Happened(Event::OtherAllocator));
    EXPECT_EQ(other.member.Budget(), 1'000'000);
}

TEST(Member, AnswersChallengesOnlyAFewTimesAtOnce)
{
    Bench bench;
    bench.member.Join(bench.now);
    for (int challenge = 0; challenge < 3; ++challenge)
    {
        bench.Answer(Challenge{5});
    }
    const auto sent = bench.Sent();
    ASSERT_EQ(sent.size(), 1U);
    auto header = sent.back().header;
    header.instance = INSTANCE;
    bench.Tell(header, Challenge{5});
    EXPECT_TRUE(bench.Sent().empty());
}

TEST(Member, WaitsAsLongAsItIsToldWhenItIsRefused)
{
    Bench bench;
    bench.member.Join(bench.now);
    bench.Answer(Refused{.reason = Reason::Full, .retry = 40'000});
    const auto events = bench.member.TakeEvents();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].reason, Reason::Full);
    EXPECT_GE(bench.member.Due() - bench.now, 30 * SECOND);
    bench.Announce(TermsOf(1, 1000));
    EXPECT_GE(bench.member.Due() - bench.now, 30 * SECOND) << "that the allocator is there is no news";
    bench.Wait(29 * SECOND);
    EXPECT_TRUE(bench.Sent().empty());
    bench.Wait(22 * SECOND);
    EXPECT_EQ(bench.Sent().front().WhatKind(), Kind::Join);
}

TEST(Member, LeavesAlsoWhenNobodyAnswers)
{
    Bench bench;
    bench.BecomeMember();
    bench.member.Leave(bench.now);
    EXPECT_EQ(bench.member.Budget(), std::nullopt);
    bench.Wait(60 * SECOND);
    EXPECT_EQ(bench.Sent().size(), 3U);
    EXPECT_EQ(bench.member.Read()["state"], "out");
    EXPECT_TRUE(bench.Happened(Event::Left));
    EXPECT_EQ(bench.member.Due(), NEVER);
}

TEST(Member, ReportsItsAccessOnlyWhereTheAllocatorReassigns)
{
    for (const bool reassigns : {false, true})
    {
        Bench bench;
        bench.BecomeMember(1000, reassigns);
        bench.member.SetAccess(500, bench.now);
        const auto sent = bench.Sent();
        ASSERT_EQ(sent.size(), reassigns ? 1U : 0U);
        EXPECT_EQ(bench.member.Budget(), reassigns ? 500 : 1000);
    }
    Bench bench;
    EXPECT_THROW(bench.member.SetAccess(-1, bench.now), std::invalid_argument);
    EXPECT_THROW(bench.member.SetAccess(MOST_RATE + 1, bench.now), std::invalid_argument);
}

TEST(Member, DoesNotReportAgainWhatWasJudged)
{
    Bench bench;
    bench.BecomeMember(1000, true);
    bench.member.SetAccess(500, bench.now);
    // The allocator does not follow: as if others had changed the share in the same moment.
    bench.Answer(Grant{.terms = TermsOf(2, 900), .budget = 900, .reassigns = true});
    EXPECT_TRUE(bench.Sent().empty());
    bench.Announce(TermsOf(3, 800));
    EXPECT_EQ(bench.Sent().size(), 1U) << "another share, another judgement";
}

TEST(Member, AsksEverMoreRarelyWhereNoMulticastArrives)
{
    Bench bench;
    bench.BecomeMember();
    int requests = 0;
    for (const auto end = bench.now + 400 * SECOND; bench.now < end;)
    {
        bench.now = bench.member.Due();
        bench.member.Advance(bench.now);
        for (const auto& message : bench.Sent())
        {
            ++requests;
            auto header = message.header;
            bench.Tell(header, Grant{.terms = TermsOf(1, 1000), .budget = 1000});
        }
    }
    EXPECT_EQ(bench.member.Read()["leases_lost"], 0);
    EXPECT_LE(requests, 400 / 3 + 8) << "refreshes every 3 to 4 s, and a few more";
}
