// SPDX-License-Identifier: GPL-2.0-or-later
// What strangers and dishonest members send.
#include "test_network.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace netboxit::middleware;
using namespace netboxit::middleware::testing;

namespace
{

constexpr Rate MBIT = 1'000'000;
constexpr int MESSAGES = 1'000'000;

/// A network of three honest members, of which a stranger knows the allocator's address and a recorded message.
Network Honest(bool reassigns = false)
{
    auto settings = SettingsFor(9 * MBIT);
    settings.reassigns = reassigns;
    Network network(settings);
    network.StartAllocator();
    network.Add(3);
    network.JoinAll();
    network.RunUntil(10 * SECOND);
    EXPECT_TRUE(network.IsConverged());
    return network;
}

/// Somebody at one address who writes messages as a member would, with whatever is in them.
class Hostile
{
  public:
    Hostile(Network& network, Address address) : m_network(network), m_address(address)
    {
    }

    std::vector<Message> Say(const Header& header, const Body& body)
    {
        m_network.allocator->Receive(WriteMessage({.header = header, .body = body}, m_network.settings.key), m_address, m_network.now);
        std::vector<Message> answers;
        for (const auto& datagram : m_network.allocator->TakeDatagrams())
        {
            if (datagram.to == m_address)
            {
                answers.push_back(std::get<Message>(ReadMessage(datagram.bytes, m_network.settings.key)));
            }
            else
            {
                m_network.Deliver(GATEWAY, datagram.to.value_or(m_network.AddressOf(0)), datagram.bytes);
            }
        }
        return answers;
    }

    /// The instance if it was admitted, else 0.
    std::uint64_t Enter(std::uint64_t session)
    {
        const auto challenged = Say({.domain = DOMAIN_NUMBER, .sequence = 1, .session = session}, Join{});
        if (challenged.empty() || challenged[0].WhatKind() != Kind::Challenge)
        {
            return 0;
        }
        const auto token = std::get<Challenge>(challenged[0].body).token;
        const auto answers = Say({.domain = DOMAIN_NUMBER, .sequence = 2, .session = session}, Join{.token = token});
        return !answers.empty() && answers[0].WhatKind() == Kind::Refused ? 0 : challenged[0].header.instance;
    }

  private:
    Network& m_network;
    Address m_address;
};

/// A random message with plausible fields: those of a real one as often as not.
Message RandomMessage(std::mt19937_64& random, const Message& real)
{
    const auto rate = [&random] { return static_cast<Rate>(random() % MOST_RATE) >> (random() % 50); };
    const auto pick = [&random](auto usual, auto other) { return random() % 2 == 0 ? usual : other; };
    const Terms terms{.epoch = random() >> (random() % 64),
                      .share = rate(),
                      .lease = static_cast<std::uint32_t>(random() | 1U << 31U),
                      .refresh = static_cast<std::uint32_t>(1 + random() % 0x7fffffff),
                      .members = static_cast<std::uint32_t>(random() | 1U << 31U),
                      .good = static_cast<std::uint32_t>(random() % 0x7fffffff),
                      .announce = static_cast<std::uint32_t>(1 + random() % 0xfffffffe)};
    const std::array<Body, 9> bodies{
        Join{.token = random(), .heldInstance = random() | 1, .heldEpoch = random(), .heldMembers = static_cast<std::uint32_t>(random())},
        Challenge{random()},
        Grant{.terms = terms, .budget = rate(), .isBad = random() % 2 == 0, .reassigns = random() % 2 == 0},
        Refused{.reason = Reason::Full, .retry = static_cast<std::uint32_t>(random())},
        Refresh{random()},
        Report{rate()},
        Leave{},
        Released{},
        Announcement{terms}};
    const auto& body = bodies[random() % bodies.size()];
    const auto next = real.header.sequence + static_cast<std::uint32_t>(random() % 4);
    Header header{.domain = DOMAIN_NUMBER,
                  .sequence = pick(next, static_cast<std::uint32_t>(random())),
                  .session = pick(real.header.session, random() | 1),
                  .instance = pick(real.header.instance, random() | 1)};
    header.sequence = std::max(header.sequence, 1U);
    if (std::holds_alternative<Announcement>(body))
    {
        header.sequence = 0;
        header.session = 0;
    }
    return {.header = header, .body = body};
}

std::vector<std::uint8_t> Mutated(std::mt19937_64& random, std::vector<std::uint8_t> bytes)
{
    for (auto changes = 1 + random() % 4; changes-- > 0;)
    {
        bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    bytes.resize(random() % 8 == 0 ? random() % 100 : bytes.size());
    return bytes;
}

} // namespace

TEST(Hostile, ThousandsOfNamesFromOneAddressAreOneMember)
{
    auto network = Honest();
    for (std::uint16_t name = 1; name <= 5000; ++name)
    {
        Hostile(network, Ipv4Address(0x0a020000, name)).Enter(name);
    }
    network.RunUntil(network.now + 2 * SECOND);
    EXPECT_EQ(network.allocator->Read()["members"], 4);
    EXPECT_EQ(network.allocator->Read()["refused"]["per_host"], 4999);
    EXPECT_EQ(network.members[0]->Budget(), 9 * MBIT / 4) << "what any other member would take";
}

TEST(Hostile, ForgedSourcesTakeNoRoom)
{
    auto network = Honest();
    for (std::uint32_t source = 0; source < 100'000; ++source)
    {
        // The challenge goes to whoever has that address.
        Hostile(network, Ipv4Address(0x0b000000 + source, MEMBER_PORT)).Say({.domain = DOMAIN_NUMBER, .sequence = 1, .session = 1}, Join{});
    }
    EXPECT_EQ(network.allocator->Read()["members"], 3);
}

TEST(Hostile, FalseRatesHarmNobodyElse)
{
    auto network = Honest(true);
    const auto address = Ipv4Address(0x0a020000, MEMBER_PORT);
    Hostile hostile(network, address);
    const auto instance = hostile.Enter(5);
    ASSERT_NE(instance, 0U);
    network.RunUntil(network.now + SECOND);
    std::uint32_t sequence = 2;
    std::mt19937_64 random(7);
    for (int report = 0; report < 20'000; ++report)
    {
        const std::array<Rate, 6> rates{0, 1, MOST_RATE, 9 * MBIT / 4 - 1, 9 * MBIT, static_cast<Rate>(random() % (9 * MBIT))};
        const Header header{.domain = DOMAIN_NUMBER, .sequence = ++sequence, .session = 5, .instance = instance};
        hostile.Say(header, Report{rates[random() % rates.size()]});
        network.RunUntil(network.now + MILLISECOND);
        ASSERT_LE(network.allocator->Assigned(), 9 * MBIT);
        ASSERT_GE(network.allocator->Announced().share, 9 * MBIT / 4);
    }
    // 20 s of reports: announcements take 1 % of the link and their repetitions not more.
    EXPECT_LT(network.allocator->Read()["announcements"], 20 * 81);
    EXPECT_EQ(network.allocator->Read()["reports"], 20'000);
}

TEST(Hostile, TwoToThe64AndNotANumberAreNoRates)
{
    auto network = Honest(true);
    Hostile hostile(network, network.AddressOf(0));
    for (const auto rate : {Rate{-1}, INT64_MIN, static_cast<Rate>(0x7ff8000000000000), MOST_RATE + 1})
    {
        hostile.Say({.domain = DOMAIN_NUMBER, .sequence = 9, .session = 5, .instance = 1}, Report{rate});
    }
    EXPECT_EQ(network.allocator->Read()["ignored"]["value"], 4);
}

TEST(Hostile, ARecordedMessageOfAnotherMemberHasNoEffectAgain)
{
    auto network = Honest();
    network.members[0]->Leave(network.now);
    const auto recorded = network.members[0]->TakeDatagrams();
    ASSERT_EQ(recorded.size(), 1U);
    network.Deliver(network.AddressOf(0), GATEWAY, recorded[0].bytes);
    network.RunUntil(network.now + SECOND);
    EXPECT_EQ(network.allocator->Read()["members"], 2);
    network.members[0]->Join(network.now);
    network.SendOf(0);
    network.RunUntil(network.now + SECOND);
    ASSERT_TRUE(network.IsConverged());
    network.Deliver(network.AddressOf(0), GATEWAY, recorded[0].bytes);
    network.Deliver(network.AddressOf(1), GATEWAY, recorded[0].bytes);
    network.Deliver(Ipv4Address(0x0a020000, MEMBER_PORT), GATEWAY, recorded[0].bytes);
    network.RunUntil(network.now + SECOND);
    EXPECT_TRUE(network.IsConverged()) << "with a forged source, from another member, and from a stranger";
    EXPECT_EQ(network.allocator->Read()["ignored"]["session"], 2);
}

TEST(Hostile, AStrangerWithoutTheKeyOfTheGroupChangesNothing)
{
    auto settings = SettingsFor(9 * MBIT);
    settings.key = {11, 12};
    Network network(settings);
    network.StartAllocator();
    network.Add(3);
    network.JoinAll();
    network.RunUntil(10 * SECOND);
    ASSERT_TRUE(network.IsConverged());
    const auto message = Message{.header = {.domain = DOMAIN_NUMBER, .sequence = 1, .session = 1}, .body = Join{}};
    network.allocator->Receive(WriteMessage(message, {11, 13}), network.AddressOf(0), network.now);
    EXPECT_EQ(network.allocator->Read()["ignored"]["tag"], 1);
    EXPECT_TRUE(network.allocator->TakeDatagrams().empty());
}

/// A million messages: random ones with the right tag, from few addresses and as their members, and changed bytes of real ones.
TEST(Hostile, AnAllocatorStaysWithinItsCapacityWhateverItReceives)
{
    auto settings = SettingsFor(9 * MBIT);
    settings.reassigns = true;
    settings.members = 50;
    settings.recovers = true;
    Network network(settings);
    network.StartAllocator();
    network.Add(3);
    network.JoinAll();
    network.RunUntil(10 * SECOND);
    auto& allocator = *network.allocator;
    std::mt19937_64 random(8);
    std::array<Message, 64> real{};
    std::array<std::uint64_t, 64> tokens{};
    for (int number = 0; number < MESSAGES; ++number)
    {
        const auto host = random() % real.size();
        const auto address = Ipv4Address(0x0a020000 + static_cast<std::uint32_t>(host), MEMBER_PORT);
        auto message = RandomMessage(random, real[host]);
        auto* join = std::get_if<Join>(&message.body);
        if (join != nullptr && random() % 4 != 0)
        {
            join->token = tokens[host];
            message.header.session = real[host].header.session == 0 ? 1 : real[host].header.session;
        }
        auto bytes = WriteMessage(message, settings.key);
        bytes = random() % 4 == 0 ? Mutated(random, std::move(bytes)) : bytes;
        network.now += static_cast<Time>(random() % (10 * MILLISECOND));
        allocator.Receive(bytes, address, network.now);
        if (random() % 1000 == 0)
        {
            allocator.SetCapacity(static_cast<Rate>(random() % (20 * MBIT)), network.now);
        }
        for (const auto& datagram : allocator.TakeDatagrams())
        {
            const auto answer = std::get<Message>(ReadMessage(datagram.bytes, settings.key));
            if (datagram.to)
            {
                real[host] = *datagram.to == address ? answer : real[host];
                const auto* challenge = std::get_if<Challenge>(&answer.body);
                tokens[host] = challenge != nullptr && *datagram.to == address ? challenge->token : tokens[host];
            }
            if (const auto* grant = std::get_if<Grant>(&answer.body))
            {
                ASSERT_LE(grant->budget, 20 * MBIT);
            }
        }
        ASSERT_LE(allocator.Assigned(), 20 * MBIT);
        ASSERT_LE(allocator.Members().size(), 50U);
    }
    const auto read = allocator.Read();
    EXPECT_GT(read["joins"], 100) << "strangers came in, too";
    EXPECT_GT(read["reports"], 1000);
    EXPECT_GT(read["leaves"], 100);
}

/// A million messages at a member. Without knowledge of its session and of the instance none changes its budget.
TEST(Hostile, AMemberKeepsItsBudgetWhateverStrangersSend)
{
    auto network = Honest(true);
    auto& member = *network.members[0];
    std::mt19937_64 random(9);
    for (int number = 0; number < MESSAGES / 2; ++number)
    {
        const auto message = RandomMessage(random, {});
        auto bytes = WriteMessage(message, {});
        bytes = random() % 4 == 0 ? Mutated(random, std::move(bytes)) : bytes;
        member.Receive(bytes, random() % 8 == 0 ? network.AddressOf(1) : GATEWAY, network.now);
        ASSERT_LE(member.TakeDatagrams().size(), 1U);
        ASSERT_LE(member.TakeEvents().size(), 2U);
        ASSERT_EQ(member.Budget(), 3 * MBIT);
    }
}

/// The same by somebody who sees its messages: it may be told nonsense, but it neither fails nor sends more than it is asked.
TEST(Hostile, AMemberSurvivesAnAllocatorThatTalksNonsense)
{
    Network network(SettingsFor(9 * MBIT));
    network.Add(1);
    auto& member = *network.members[0];
    std::mt19937_64 random(10);
    Message real{};
    member.Join(network.now);
    std::uint64_t sent = 0;
    for (int number = 0; number < MESSAGES / 2; ++number)
    {
        for (const auto& datagram : member.TakeDatagrams())
        {
            ++sent;
            real = std::get<Message>(ReadMessage(datagram.bytes, {}));
            real.header.sequence -= std::min(real.header.sequence - 1, 2U);
        }
        auto message = RandomMessage(random, real);
        network.now += static_cast<Time>(random() % (20 * MILLISECOND));
        member.Receive(WriteMessage(message, {}), GATEWAY, network.now);
        if (random() % 100 == 0)
        {
            member.SetAccess(static_cast<Rate>(random() % (20 * MBIT)), network.now);
        }
        if (random() % 10'000 == 0)
        {
            member.Leave(network.now);
            member.Join(network.now);
        }
        ASSERT_LE(member.TakeEvents().size(), 6U);
        ASSERT_LE(member.Budget().value_or(0), MOST_RATE);
        ASSERT_GT(member.Due(), network.now - MILLISECOND);
    }
    const auto read = member.Read();
    EXPECT_GT(read["grants"], 50);
    EXPECT_GT(read["announcements"], 10);
    EXPECT_LT(sent, MESSAGES / 2U);
}
