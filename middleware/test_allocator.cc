// SPDX-License-Identifier: GPL-2.0-or-later
#include "allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

using namespace netboxit::middleware;

namespace
{

constexpr Allocator::Secrets SECRETS{.instance = 0xabc, .tokens = {3, 4}};
constexpr std::uint32_t LINK = 7;

Allocator::Settings Settings(Rate capacity = 1'000'000)
{
    return {.domain = LINK, .capacity = capacity, .recovers = false};
}

Address AddressOf(std::uint32_t host, std::uint16_t port = MEMBER_PORT)
{
    return Ipv4Address(0x0a010000 + host, port);
}

/// An allocator with somebody who writes its messages by hand.
struct Bench
{
    explicit Bench(const Allocator::Settings& settings = Settings()) : allocator(settings, SECRETS, now)
    {
        allocator.TakeDatagrams();
    }

    /// What the allocator answers to `from`, at once and soon.
    std::vector<Message> Ask(const Header& header, const Body& body, const Address& from, Time wait = 2 * SECOND)
    {
        allocator.Receive(WriteMessage({.header = header, .body = body}, {}), from, now);
        for (const auto end = now + wait; allocator.Due() <= end;)
        {
            now = std::max(now, allocator.Due());
            allocator.Advance(now);
        }
        now += wait;
        std::vector<Message> answers;
        for (const auto& datagram : allocator.TakeDatagrams())
        {
            const auto read = ReadMessage(datagram.bytes, {});
            if (datagram.to == from)
            {
                answers.push_back(std::get<Message>(read));
            }
        }
        return answers;
    }

    Header HeaderOf(std::uint64_t session, std::uint32_t sequence) const
    {
        return {.domain = LINK, .sequence = sequence, .session = session, .instance = SECRETS.instance};
    }

    /// In two steps; the last answer.
    Message Admit(const Address& from, std::uint64_t session, Time wait = 2 * SECOND, const Join& join = {})
    {
        const auto challenged = Ask(HeaderOf(session, 1), WithToken(join, 0), from, 0);
        const auto token = std::get<Challenge>(challenged.at(0).body).token;
        const auto answers = Ask(HeaderOf(session, 2), WithToken(join, token), from, wait);
        return answers.empty() ? Message{} : answers.back();
    }

    static Join WithToken(Join join, std::uint64_t token)
    {
        join.token = token;
        return join;
    }

    std::uint64_t Ignored(const std::string& reason) const
    {
        return allocator.Read()["ignored"][reason];
    }

    Time now{SECOND};
    Allocator allocator;
};

} // namespace

TEST(Allocator, AnnouncesItselfWhenItStarts)
{
    Allocator allocator(Settings(), SECRETS, 0);
    const auto datagrams = allocator.TakeDatagrams();
    ASSERT_EQ(datagrams.size(), 1U);
    EXPECT_FALSE(datagrams[0].to);
    const auto message = std::get<Message>(ReadMessage(datagrams[0].bytes, {}));
    EXPECT_EQ(message.WhatKind(), Kind::Announcement);
    EXPECT_EQ(message.header.instance, SECRETS.instance);
}

TEST(Allocator, ChallengesBeforeAMemberTakesRoom)
{
    Bench bench;
    const auto first = bench.Ask(bench.HeaderOf(5, 1), Join{}, AddressOf(1));
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].WhatKind(), Kind::Challenge);
    EXPECT_EQ(bench.allocator.Read()["members"], 0);
    const auto token = std::get<Challenge>(first[0].body).token;
    EXPECT_EQ(bench.Ask(bench.HeaderOf(5, 2), Join{.token = token}, AddressOf(2)).at(0).WhatKind(), Kind::Challenge) << "another address";
    EXPECT_EQ(bench.Ask(bench.HeaderOf(6, 2), Join{.token = token}, AddressOf(1)).at(0).WhatKind(), Kind::Challenge) << "another session";
    const auto granted = bench.Ask(bench.HeaderOf(5, 2), Join{.token = token}, AddressOf(1));
    EXPECT_EQ(std::get<Grant>(granted.at(0).body).budget, 1'000'000);
    bench.now += 61 * SECOND;
    EXPECT_EQ(bench.Ask(bench.HeaderOf(5, 9), Join{.token = token}, AddressOf(1)).at(0).WhatKind(), Kind::Challenge) << "too old";
}

TEST(Allocator, TellsWhoItRefuses)
{
    auto settings = Settings();
    settings.members = 2;
    settings.perHost = 1;
    Bench bench(settings);
    EXPECT_EQ(bench.Admit(AddressOf(1), 5).WhatKind(), Kind::Grant);
    EXPECT_EQ(std::get<Refused>(bench.Admit(AddressOf(1, 999), 6).body).reason, Reason::PerHost);
    EXPECT_EQ(bench.Admit(AddressOf(2), 7).WhatKind(), Kind::Grant);
    const auto refused = std::get<Refused>(bench.Admit(AddressOf(3), 8).body);
    EXPECT_EQ(refused.reason, Reason::Full);
    EXPECT_EQ(refused.retry, 4000U);
    EXPECT_EQ(bench.allocator.Read()["refused"], (Json{{"full", 1}, {"per_host", 1}}));
}

TEST(Allocator, TakesANewSessionOfAKnownAddressForARestart)
{
    Bench bench;
    bench.Admit(AddressOf(1), 5);
    bench.Admit(AddressOf(2), 6);
    const auto epoch = bench.allocator.Announced().epoch;
    EXPECT_EQ(std::get<Grant>(bench.Admit(AddressOf(1), 7).body).budget, 500'000);
    EXPECT_EQ(bench.allocator.Read()["members"], 2);
    EXPECT_EQ(bench.allocator.Read()["restarts"], 1);
    EXPECT_EQ(bench.allocator.Announced().epoch, epoch) << "nothing changed for the others";
}

TEST(Allocator, LetsNobodyElseReleaseALease)
{
    Bench bench;
    bench.Admit(AddressOf(1), 5);
    EXPECT_TRUE(bench.Ask(bench.HeaderOf(6, 9), Leave{}, AddressOf(1), 0).empty()) << "a forged source, and a guessed session";
    EXPECT_EQ(bench.Ignored("session"), 1U);
    bench.Ask(bench.HeaderOf(5, 9), Leave{}, AddressOf(2), 0);
    EXPECT_EQ(bench.allocator.Read()["members"], 1) << "the right session from another address";
    EXPECT_TRUE(bench.Ask(bench.HeaderOf(5, 2), Leave{}, AddressOf(1), 0).empty()) << "an old number, as in a repeated message";
    EXPECT_EQ(bench.Ignored("sequence"), 1U);
    auto header = bench.HeaderOf(5, 9);
    header.instance = 1;
    EXPECT_TRUE(bench.Ask(header, Leave{}, AddressOf(1), 0).empty());
    EXPECT_EQ(bench.Ignored("instance"), 1U);
    EXPECT_EQ(bench.Ask(bench.HeaderOf(5, 9), Leave{}, AddressOf(1), 0).at(0).WhatKind(), Kind::Released);
    EXPECT_EQ(bench.allocator.Read()["members"], 0);
}

TEST(Allocator, IgnoresAndCountsWhatIsNotForIt)
{
    Bench bench;
    auto header = bench.HeaderOf(5, 1);
    bench.Ask(header, Released{}, AddressOf(1), 0);
    EXPECT_EQ(bench.Ignored("unexpected"), 1U);
    header.domain = 8;
    bench.Ask(header, Join{}, AddressOf(1), 0);
    EXPECT_EQ(bench.Ignored("domain"), 1U);
    bench.Ask({.domain = LINK, .instance = 99}, Announcement{bench.allocator.Announced()}, AddressOf(1), 0);
    bench.Ask({.domain = LINK, .instance = SECRETS.instance}, Announcement{bench.allocator.Announced()}, AddressOf(1), 0);
    EXPECT_EQ(bench.allocator.Read()["other_allocators"], 1) << "its own comes back to it";
    bench.allocator.Receive({}, AddressOf(1), bench.now);
    EXPECT_EQ(bench.Ignored("size"), 1U);
}

TEST(Allocator, GivesNothingAwayWhileALeaseMayStillBeHeldThatWasMadeLonger)
{
    // With 700 members on 2 Mbit/s leases are longer than with one.
    Bench bench(Settings(2'000'000));
    bench.Admit(AddressOf(1), 5);
    EXPECT_EQ(bench.allocator.Announced().lease, 16'000U);
    for (std::uint32_t member = 2; member <= 700; ++member)
    {
        bench.Admit(AddressOf(member), 5, 10 * MILLISECOND);
    }
    bench.now += SECOND;
    bench.allocator.Advance(bench.now);
    EXPECT_EQ(bench.allocator.Announced().lease, 4U * 256'000) << "the announcement tells the first member, too";
    bench.now += 300 * SECOND;
    bench.allocator.Advance(bench.now);
    EXPECT_EQ(bench.allocator.Read()["expired"], 0);
    for (std::uint32_t member = 2; member <= 700; ++member)
    {
        bench.Ask(bench.HeaderOf(5, 3), Leave{}, AddressOf(member), 0);
    }
    bench.now += 20 * SECOND;
    bench.allocator.Advance(bench.now);
    EXPECT_EQ(bench.allocator.Announced().lease, 16'000U);
    EXPECT_EQ(bench.allocator.Read()["members"], 1) << "it may not have heard yet that leases are shorter again";
    bench.now += 1024 * SECOND;
    bench.allocator.Advance(bench.now);
    EXPECT_EQ(bench.allocator.Read()["members"], 0);
}

TEST(Allocator, TakesTheMedianOfWhatMembersClaimOfAFormerInstance)
{
    auto settings = Settings(10'000'000);
    settings.recovers = true;
    Bench bench(settings);
    const auto claim = [](std::uint32_t members) { return Join{.heldInstance = 1, .heldEpoch = 2, .heldMembers = members}; };
    for (std::uint32_t member = 1; member <= 3; ++member)
    {
        bench.Admit(AddressOf(member), 5, MILLISECOND, claim(10));
    }
    bench.Admit(AddressOf(4), 5, MILLISECOND, claim(65'536));
    bench.Admit(AddressOf(5), 5, 3 * SECOND, claim(0));
    EXPECT_EQ(bench.allocator.Read()["absent"], 5);
    EXPECT_EQ(bench.allocator.Announced().share, 1'000'000);
    bench.now += 20 * SECOND;
    bench.allocator.Advance(bench.now);
    bench.allocator.Advance(bench.now + SECOND);
    EXPECT_EQ(bench.allocator.Read()["recovering"], false);
    EXPECT_EQ(bench.allocator.Read()["absent"], 0);
}

TEST(Allocator, RefusesSettingsThatCannotBe)
{
    EXPECT_THROW(Allocator(Settings(-1), SECRETS, 0), std::invalid_argument);
    EXPECT_THROW(Allocator(Settings(MOST_RATE + 1), SECRETS, 0), std::invalid_argument);
    EXPECT_THROW(Allocator(Settings(), {.instance = 0, .tokens = {}}, 0), std::invalid_argument);
    auto settings = Settings();
    settings.members = 65'537;
    EXPECT_THROW(Allocator(settings, SECRETS, 0), std::invalid_argument);
    Bench bench;
    EXPECT_THROW(bench.allocator.SetCapacity(-1, bench.now), std::invalid_argument);
}

/// Members take nothing from another address than the one that they ask.
TEST(Allocator, AnswersFromTheAddressThatWasAsked)
{
    Bench bench;
    const auto member = AddressOf(1);
    const auto asked = Ipv4Address(0x0a000001, 0).host;
    const auto other = Ipv4Address(0x0a000101, 0).host;
    const auto send = [&](std::uint32_t sequence, const Body& body, const HostAddress& at) {
        bench.allocator.Receive(WriteMessage({.header = bench.HeaderOf(9, sequence), .body = body}, {}), member, bench.now, at);
        return bench.allocator.TakeDatagrams();
    };
    const auto challenged = send(1, Join{}, asked).at(0);
    EXPECT_EQ(challenged.from, asked);
    const auto read = ReadMessage(challenged.bytes, {});
    send(2, Join{.token = std::get<Challenge>(std::get<Message>(read).body).token}, asked);
    // Somebody who does not know the session sends in the member's name to another address.
    const Header forged{.domain = LINK, .sequence = 3, .session = 10, .instance = SECRETS.instance};
    bench.allocator.Receive(WriteMessage({.header = forged, .body = Refresh{}}, {}), member, bench.now, other);
    bench.now += SECOND;
    bench.allocator.Advance(bench.now);
    const auto sent = bench.allocator.TakeDatagrams();
    const auto grant = std::ranges::find_if(sent, [](const Datagram& datagram) { return datagram.to.has_value(); });
    ASSERT_NE(grant, sent.end());
    EXPECT_EQ(grant->from, asked) << "also when it is sent later";
    EXPECT_EQ(bench.allocator.AskedBy(member), asked) << "and so are announcements";
    EXPECT_EQ(send(4, Refresh{}, other).at(0).from, other) << "the member itself may change to another address";
    EXPECT_EQ(bench.allocator.AskedBy(member), other);
}

/// 1,000 members on 2 Mbit/s: the steady state takes under 1 % of the link, also with a copy for each member.
TEST(Allocator, RepeatsAnnouncementsMoreRarelyWithoutMulticast)
{
    auto settings = Settings(2'000'000);
    settings.multicast = false;
    Bench bench(settings);
    for (std::uint32_t member = 1; member <= 100; ++member)
    {
        bench.Admit(AddressOf(member), member, 20 * MILLISECOND);
    }
    bench.now += 10 * MILLISECOND;
    EXPECT_EQ(bench.allocator.Announced().announce, 64'000U) << "0.1 % of 2 Mbit/s are 100 * 1,136 bits in 57 s";
}
