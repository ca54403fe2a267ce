// SPDX-License-Identifier: GPL-2.0-or-later
#include "part_configuration.h"

#include <gtest/gtest.h>

using namespace netboxit::middleware;

namespace
{

const Json ALLOCATOR = Json::parse(R"({"name": "sat", "role": "allocator", "domain": 17, "capacity_bps": 2000000,
    "kind": "dybra", "equations": "printed", "key": "000102030405060708090a0b0c0d0e0f", "recovers": false})");

const Json MEMBER = Json::parse(R"({"name": "sat", "role": "member", "domain": 4294967295, "allocator": "10.0.0.1",
    "interface": "eth0", "kind": "dybra", "key": null, "threshold": 0.25, "access_bps": 500000, "without_lease": "hold",
    "enforcement": "shaper"})");

Json With(Json entry, const std::string& key, const Json& value)
{
    entry[key] = value;
    return entry;
}

Json Without(Json entry, const std::string& key)
{
    entry.erase(key);
    return entry;
}

std::string RefusalOf(const Json& entry)
{
    try
    {
        ReadPart(entry, "management[3]");
    }
    catch (const std::invalid_argument& refusal)
    {
        return refusal.what();
    }
    return "";
}

MemberPart MemberOf(const Json& entry)
{
    return std::get<MemberPart>(ReadPart(entry, "").role);
}

} // namespace

TEST(PartConfiguration, ReadsAnAllocator)
{
    const auto part = ReadPart(ALLOCATOR, "management[0]");
    EXPECT_EQ(part.name, "sat");
    const auto& settings = std::get<AllocatorPart>(part.role).settings;
    EXPECT_EQ(settings.domain, 17U);
    EXPECT_EQ(settings.capacity, 2'000'000);
    EXPECT_TRUE(settings.reassigns);
    EXPECT_EQ(settings.equations, Equations::Printed);
    EXPECT_FALSE(settings.recovers);
}

TEST(PartConfiguration, ReadsAnAllocatorOfWhatANetboxTells)
{
    auto entry = Json::parse(R"({"name": "sat", "role": "allocator", "domain": 17, "kind": "dybra", "follows": "receive",
        "interface": "uplink", "exploitation": 0.9})");
    const auto follows = std::get<AllocatorPart>(ReadPart(entry, "").role).follows;
    ASSERT_TRUE(follows);
    EXPECT_EQ(follows->interface, "uplink");
    EXPECT_EQ(follows->CapacityOf(8'000'000, 2'000'000), 1'800'000);
    EXPECT_EQ(follows->CapacityOf(8'000'000, 0), std::nullopt) << "a link that is down changes no budget";
    EXPECT_EQ(follows->CapacityOf(0, UINT64_MAX), 9 * MOST_RATE / 10);
    entry.erase("exploitation");
    entry["follows"] = "transmit";
    EXPECT_EQ(std::get<AllocatorPart>(ReadPart(entry, "").role).follows->CapacityOf(8'000'000, 0), 8'000'000);
    EXPECT_FALSE(std::get<AllocatorPart>(ReadPart(ALLOCATOR, "").role).follows);
    for (const auto& [key, value] : std::multimap<std::string, Json>{{"follows", "both"},
                                                                {"interface", nullptr},
                                                                {"interface", "a/b"},
                                                                {"exploitation", 0},
                                                                {"exploitation", 1.01},
                                                                {"capacity_bps", 2'000'000}})
    {
        EXPECT_NE(RefusalOf(With(entry, key, value)).find("management[3]." + key), std::string::npos) << key << value;
    }
    EXPECT_NE(RefusalOf(With(ALLOCATOR, "exploitation", 0.9)).find("which this role has not"), std::string::npos)
        << "of a rate that is told alone";
}

TEST(PartConfiguration, ReadsAMember)
{
    const auto part = MemberOf(MEMBER);
    EXPECT_EQ(part.settings.domain, 4'294'967'295U);
    EXPECT_EQ(part.settings.allocator, Ipv4Address(0x0a000001, ALLOCATOR_PORT));
    EXPECT_EQ(part.settings.key, Key{});
    EXPECT_EQ(part.settings.threshold, 250U);
    EXPECT_EQ(part.settings.withoutLease, Member::WithoutLease::Hold);
    EXPECT_EQ(part.enforcement, Enforcement::Shaper);
    EXPECT_EQ(part.interface, "eth0");
    EXPECT_EQ(part.access, 500'000);
}

TEST(PartConfiguration, LeavesItToVirtualTimeWhetherAMemberIsOneOnlyWhileItSends)
{
    EXPECT_NO_THROW(ReadPart(With(MEMBER, "while_sending", true), ""));
    EXPECT_NE(RefusalOf(With(MEMBER, "while_sending", "yes")).find("management[3].while_sending is"), std::string::npos);
}

TEST(PartConfiguration, HasTheDefaultsOfTheLibraryWhereAnEntrySaysNothing)
{
    const auto part = MemberOf(Json::parse(R"({"name": "a", "role": "member", "domain": 0, "allocator": "2001:db8::1",
        "interface": null, "access_bps": null, "enforcement": "none"})"));
    EXPECT_EQ(part.settings.threshold, DybraClient::THRESHOLD);
    EXPECT_EQ(part.settings.withoutLease, Member::WithoutLease::Unmanaged);
    EXPECT_FALSE(part.interface || part.access);
    const auto entry = Json::parse(
        R"({"name": "a", "role": "allocator", "domain": 0, "capacity_bps": 2e6, "kind": "unweighted"})");
    const auto settings = std::get<AllocatorPart>(ReadPart(entry, "").role).settings;
    EXPECT_EQ(settings.capacity, 2'000'000) << "a whole number, however it is written";
    EXPECT_EQ(settings.equations, Equations::Corrected);
    EXPECT_FALSE(settings.reassigns);
    EXPECT_TRUE(settings.recovers);
}

/// The key of SipHash's own test vectors (appendix A of its paper): its bytes are 00 01 02 … 0f.
TEST(PartConfiguration, ReadsAKeyAsSipHashHasItsBytes)
{
    const auto part = ReadPart(ALLOCATOR, "");
    EXPECT_EQ(std::get<AllocatorPart>(part.role).settings.key, (Key{0x0706050403020100, 0x0f0e0d0c0b0a0908}));
}

TEST(PartConfiguration, ReadsAddressesOfBothFamilies)
{
    auto expected = Address{.host = {0x20, 0x01, 0x0d, 0xb8}, .port = ALLOCATOR_PORT};
    expected.host[15] = 1;
    EXPECT_EQ(MemberOf(With(MEMBER, "allocator", "2001:db8::1")).settings.allocator, expected);
    for (const auto* refused : {"", "10.0.0.1/24", "10.0.0", "gateway", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::",
                                "ff02::1", "fe80::1", "fe80::1%eth0", "::ffff:10.0.0.1"})
    {
        EXPECT_NE(RefusalOf(With(MEMBER, "allocator", refused)).find("management[3].allocator is"), std::string::npos) << refused;
    }
}

TEST(PartConfiguration, ReadsNetworksOfBothFamilies)
{
    EXPECT_TRUE(MemberOf(MEMBER).beside.empty());
    const auto beside = MemberOf(With(MEMBER, "beside", {"10.1.2.0/23", "2001:db8:1::/48", "0.0.0.0/0"})).beside;
    ASSERT_EQ(beside.size(), 3U);
    const auto ipv4 = [](std::uint32_t host) { return Ipv4Address(host, 0).host; };
    const HostAddress ipv6{0x20, 0x01, 0x0d, 0xb8, 0x00, 0x01, 0xff};
    const HostAddress other{0x20, 0x01, 0x0d, 0xb8, 0x00, 0x02};
    EXPECT_TRUE(beside[0].Contains(ipv4(0x0a0103ff)));
    EXPECT_FALSE(beside[0].Contains(ipv4(0x0a010400)) || beside[0].Contains(ipv4(0x0a0101ff)) || beside[0].Contains(ipv6));
    EXPECT_TRUE(beside[1].Contains(ipv6));
    EXPECT_FALSE(beside[1].Contains(other) || beside[1].Contains(ipv4(0x0a010203)));
    EXPECT_TRUE(beside[2].Contains(ipv4(0)) && beside[2].Contains(ipv4(UINT32_MAX)));
    EXPECT_FALSE(beside[2].Contains(ipv6));
    for (const auto* refused : {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "2001:db8::/129", "10.0.0.0/1000",
                                "10.0/8", "::ffff:10.0.0.0/104"})
    {
        EXPECT_NE(RefusalOf(With(MEMBER, "beside", {refused})).find("management[3].beside is"), std::string::npos) << refused;
    }
    for (const auto& refused : std::vector<Json>{"10.0.0.0/8", {8}, std::vector<std::string>(257, "10.0.0.0/8")})
    {
        EXPECT_NE(RefusalOf(With(MEMBER, "beside", refused)).find("management[3].beside is"), std::string::npos) << refused;
    }
}

TEST(PartConfiguration, ReadsTheGroupOfAnnouncements)
{
    const auto group = Ipv4Address(0xefff0011, 0).host;
    EXPECT_EQ(MemberOf(With(MEMBER, "group", "239.255.0.17")).group, group);
    EXPECT_FALSE(MemberOf(MEMBER).group);
    const auto entry = With(With(ALLOCATOR, "group", "239.255.0.17"), "address", "10.0.0.1");
    const auto part = std::get<AllocatorPart>(ReadPart(entry, "").role);
    ASSERT_TRUE(part.group);
    EXPECT_EQ(part.group->group, group);
    EXPECT_EQ(part.group->from, Ipv4Address(0x0a000001, 0).host);
    EXPECT_TRUE(part.settings.multicast);
    EXPECT_FALSE(std::get<AllocatorPart>(ReadPart(ALLOCATOR, "").role).settings.multicast) << "each member has its copy";
    for (const auto& value : std::vector<Json>{"", "10.0.0.1", "224.0.0.5", "ff12::1", "239.255.0", 17})
    {
        EXPECT_NE(RefusalOf(With(MEMBER, "group", value)).find("management[3].group is"), std::string::npos) << value;
        EXPECT_NE(RefusalOf(With(entry, "group", value)).find("management[3].group is"), std::string::npos) << value;
    }
    for (const auto& value : std::vector<Json>{"", "fd00::1", "239.255.0.17", "0.0.0.0", nullptr})
    {
        EXPECT_NE(RefusalOf(With(entry, "address", value)).find("management[3].address"), std::string::npos) << value;
    }
    EXPECT_NE(RefusalOf(With(ALLOCATOR, "address", "10.0.0.1")).find("which this role has not"), std::string::npos);
    EXPECT_NE(RefusalOf(With(With(MEMBER, "allocator", "fd00::1"), "group", "239.255.0.17")).find("of IPv4"), std::string::npos);
}

TEST(PartConfiguration, SaysWhichKeyWhichValueAndWhatIsPermitted)
{
    EXPECT_EQ(RefusalOf(With(ALLOCATOR, "capacity_bps", 1.5)),
              "management[3].capacity_bps is 1.5: give a whole number from 0 to 10^15, in bit/s");
    EXPECT_EQ(RefusalOf(Without(ALLOCATOR, "capacity_bps")),
              "management[3].capacity_bps is missing: give a whole number from 0 to 10^15, in bit/s");
    EXPECT_EQ(RefusalOf(With(MEMBER, "enforcement", "police")),
              "management[3].enforcement is \"police\": give \"window\" or \"shaper\" or \"none\"");
    EXPECT_EQ(RefusalOf(With(MEMBER, "capacity_bps", 1)),
              "management[3] has the key \"capacity_bps\", which this role has not: leave it out");
    EXPECT_EQ(RefusalOf("sat"), "management[3] is \"sat\", not an object: give one for each part");
}

TEST(PartConfiguration, RefusesValuesOfAllKeysThatTheyCannotHave)
{
    const std::vector<std::pair<const char*, std::vector<Json>>> ofBoth{{"name", {"", 1, nullptr}},
                                                                        {"role", {"gateway", nullptr}},
                                                                        {"domain", {-1, 4'294'967'296, 0.5, "17", nullptr}},
                                                                        {"kind", {"fair", 1}},
                                                                        {"key",
                                                                         {"00", "00000000000000000000000000000000",
                                                                          "000102030405060708090a0b0c0d0e0g", 7}}};
    for (const auto& [key, values] : ofBoth)
    {
        for (const auto& value : values)
        {
            EXPECT_NE(RefusalOf(With(ALLOCATOR, key, value)), "") << key << value;
            EXPECT_NE(RefusalOf(With(MEMBER, key, value)), "") << key << value;
        }
    }
    for (const auto& value : std::vector<Json>{-1, 1.1e15, "2M", true, nullptr})
    {
        EXPECT_NE(RefusalOf(With(ALLOCATOR, "capacity_bps", value)), "") << value;
    }
    EXPECT_NE(RefusalOf(With(ALLOCATOR, "equations", "right")), "");
    EXPECT_NE(RefusalOf(With(ALLOCATOR, "recovers", 1)), "");
    EXPECT_NE(RefusalOf(With(MEMBER, "threshold", 20)), "");
    EXPECT_NE(RefusalOf(With(MEMBER, "access_bps", -1)), "");
    EXPECT_NE(RefusalOf(With(MEMBER, "without_lease", "nothing")), "");
    EXPECT_NE(RefusalOf(Without(MEMBER, "enforcement")), "");
    for (const auto* refused : {"", "-j", "a b", "a/b", "sixteen-letters1", ".."})
    {
        EXPECT_NE(RefusalOf(With(MEMBER, "interface", refused)), "") << refused;
    }
}

TEST(PartConfiguration, HasOnePartOfARoleInALink)
{
    EXPECT_EQ(ReadParts({ALLOCATOR, With(MEMBER, "domain", 17)}).size(), 2U) << "a gateway may use its own link";
    const auto other = With(With(ALLOCATOR, "name", "lte"), "domain", 18);
    EXPECT_EQ(ReadParts({ALLOCATOR, other}).size(), 2U);
    EXPECT_THROW(ReadParts({ALLOCATOR, With(other, "domain", 17)}), std::invalid_argument);
    EXPECT_THROW(ReadParts({ALLOCATOR, With(other, "name", "sat")}), std::invalid_argument);
    EXPECT_THROW(ReadParts(Json::object()), std::invalid_argument);
    EXPECT_TRUE(ReadParts(Json::array()).empty());
}
