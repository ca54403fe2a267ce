// SPDX-License-Identifier: GPL-2.0-or-later
#include "route.h"
#include "shaping.h"

#include "command.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

using namespace netboxit::middleware;

using Json = nlohmann::json;

namespace
{

const ShapedInterface ETH0{.name = "eth0", .mtu = 1500};
/// 10.0.0.0/24 and 2001:db8::/64.
const std::vector<Prefix> BESIDE{{.first = Ipv4Address(0x0a000000, 0).host, .length = 96 + 24},
                                  {.first = {0x20, 0x01, 0x0d, 0xb8}, .length = 64}};

} // namespace

TEST(Shaping, PutsWhatMayCrossTheLinkInOneClassAndTelephonyFirst)
{
    const std::string share = "quantum 1518 prio ";
    EXPECT_EQ(StartOfShaping(ETH0, 2'000'000, {.networks = BESIDE, .announcements = false}),
              "qdisc add dev eth0 root handle 25ab: htb default 10 direct_qlen 1000\n"
              "class add dev eth0 parent 25ab: classid 25ab:1 htb rate 2000000bit ceil 2000000bit burst 1518 cburst 1518 "
              "quantum 1518\n"
              "class add dev eth0 parent 25ab:1 classid 25ab:20 htb rate 1750000bit ceil 2000000bit burst 1518 cburst 1518 " +
                  share + "0\n"
              "qdisc add dev eth0 parent 25ab:20 handle 25ad: tbf rate 1tbit burst 1518 limit 62500\n"
              "class add dev eth0 parent 25ab:1 classid 25ab:10 htb rate 250000bit ceil 2000000bit burst 1518 cburst 1518 " +
                  share + "1\n"
              "qdisc add dev eth0 parent 25ab:10 handle 25ac: tbf rate 1tbit burst 1518 limit 62500\n"
              "filter add dev eth0 parent 25ab: protocol arp prio 1 u32 match u32 0 0 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ip prio 2 u32 match ip protocol 17 0xff match ip sport 25523 0xffff "
              "match ip dport 25522 0xffff classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ipv6 prio 3 u32 match ip6 protocol 17 0xff match ip6 sport 25523 0xffff "
              "match ip6 dport 25522 0xffff classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ip prio 2 u32 match ip dst 224.0.0.0/24 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ip prio 2 u32 match ip dst 255.255.255.255/32 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ipv6 prio 3 u32 match ip6 dst fe80::/10 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ipv6 prio 3 u32 match ip6 dst ff02::/16 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ip prio 2 u32 match ip dst 10.0.0.0/24 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ipv6 prio 3 u32 match ip6 dst 2001:db8::/64 classid 25ab:0\n"
              "filter add dev eth0 parent 25ab: protocol ip prio 4 u32 match ip dsfield 0xb8 0xfc classid 25ab:20\n"
              "filter add dev eth0 parent 25ab: protocol ipv6 prio 5 u32 match ip6 priority 0xb8 0xfc classid 25ab:20\n"
              "filter add dev eth0 parent 25ab: protocol ip prio 4 u32 match ip dsfield 0xb0 0xfc classid 25ab:20\n"
              "filter add dev eth0 parent 25ab: protocol ipv6 prio 5 u32 match ip6 priority 0xb0 0xfc classid 25ab:20\n");
}

TEST(Shaping, ChangesTheRateInPlace)
{
    EXPECT_EQ(ChangeOfShaping(ETH0, 100'000'000),
              "class change dev eth0 parent 25ab: classid 25ab:1 htb rate 100000000bit ceil 100000000bit burst 62500 "
              "cburst 62500 quantum 1518\n"
              "class change dev eth0 parent 25ab:1 classid 25ab:20 htb rate 87500000bit ceil 100000000bit burst 62500 "
              "cburst 62500 quantum 1518 prio 0\n"
              "qdisc change dev eth0 parent 25ab:20 handle 25ad: tbf rate 1tbit burst 1518 limit 3125000\n"
              "class change dev eth0 parent 25ab:1 classid 25ab:10 htb rate 12500000bit ceil 100000000bit burst 62500 "
              "cburst 62500 quantum 1518 prio 1\n"
              "qdisc change dev eth0 parent 25ab:10 handle 25ac: tbf rate 1tbit burst 1518 limit 3125000\n")
        << "5 ms and 250 ms of 100 Mbit/s";
}

/// 202.4 bit/s send one frame of 1518 bytes in the 60 s for which HTB knows of it.
TEST(Shaping, SendsNothingWhereTheKernelWouldSendMoreThanTheBudget)
{
    const auto limitOf = [](Rate budget) {
        const auto lines = ChangeOfShaping(ETH0, budget);
        return lines.substr(lines.rfind(" limit "));
    };
    EXPECT_EQ(limitOf(0), " limit 1\n") << "bytes, in which no frame has room";
    EXPECT_EQ(limitOf(202), " limit 1\n");
    EXPECT_EQ(limitOf(203), " limit 15180\n") << "ten frames";
    EXPECT_EQ(limitOf(MOST_RATE), " limit 16777216\n");
}

TEST(Shaping, KnowsItsOwnQueueByItsNumber)
{
    const auto rootOf = [](const char* queues) { return RootOf(Json::parse(queues)); };
    EXPECT_EQ(rootOf(R"([{"kind": "noqueue", "handle": "0:", "root": true, "refcnt": 2, "options": {}}])"), Root::Kernel);
    EXPECT_EQ(rootOf(R"([{"kind": "mq", "handle": "0:", "root": true}, {"kind": "fq_codel", "handle": "0:", "parent": ":1"}])"),
              Root::Kernel);
    EXPECT_EQ(rootOf("[]"), Root::Kernel);
    EXPECT_EQ(rootOf(R"([{"kind": "htb", "handle": "25ab:", "root": true}, {"kind": "tbf", "handle": "25ac:"}])"), Root::Own);
    EXPECT_EQ(rootOf(R"([{"kind": "tbf", "handle": "25ab:", "root": true}])"), Root::Foreign);
    EXPECT_EQ(rootOf(R"([{"kind": "htb", "handle": "1:", "root": true}])"), Root::Foreign);
}

TEST(Shaping, FindsWhatAKilledRunLeft)
{
    const auto queues = Json::parse(R"([{"kind": "noqueue", "handle": "0:", "dev": "lo", "root": true},
        {"kind": "htb", "handle": "25ab:", "dev": "eth0", "root": true}, {"kind": "tbf", "handle": "25ac:", "dev": "eth0"},
        {"kind": "htb", "handle": "1:", "dev": "eth1", "root": true}])");
    EXPECT_EQ(ShapedInterfaces(queues), std::vector<std::string>{"eth0"});
}

TEST(Shaping, FindsTheInterface)
{
    EXPECT_EQ(InterfaceOf(Json::parse(R"([{"dst": "10.1.0.1", "gateway": "10.0.0.1", "dev": "eth0"}])")), "eth0");
    EXPECT_THROW(InterfaceOf(Json::parse(R"([{"type": "local", "dst": "10.0.0.1", "dev": "lo"}])")), std::runtime_error);
    const auto shaped = ShapedInterfaceOf(Json::parse(R"([{"ifname": "ppp0", "mtu": 1492}])"));
    EXPECT_EQ(shaped.name, "ppp0");
    EXPECT_EQ(shaped.mtu, 1492U);
}

/// `#` begins a comment: "qdisc add dev eth0#1 root" would be about eth0.
TEST(Shaping, RefusesNamesThatTcReadsInItsOwnWay)
{
    for (const auto* name : {"eth0#1", "a\"b", "a'b", "a\\b"})
    {
        const Json links{{{"ifname", name}, {"mtu", 1500}}};
        EXPECT_THROW(ShapedInterfaceOf(links), std::runtime_error) << name;
    }
}

TEST(Command, HandsOverInputOutputErrorsAndStatus)
{
    const auto outcome = RunCommand({"/bin/sh", "-c", "cat; echo wrong >&2; exit 3"}, "said\n");
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.output, "said\n");
    EXPECT_EQ(outcome.error, "wrong\n");
    EXPECT_EQ(RunCommand({"/bin/sh", "-c", "kill -9 $$"}).status, 137);
    EXPECT_THROW(RunCommand({"/no/such/program"}), std::system_error);
}
