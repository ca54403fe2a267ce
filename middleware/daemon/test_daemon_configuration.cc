// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon_configuration.h"

#include <gtest/gtest.h>

using namespace netboxit::middleware;

namespace
{

const Json MEMBER = Json::parse(
    R"({"name": "sat", "role": "member", "domain": 1, "allocator": "10.0.0.1", "enforcement": "shaper"})");

std::string RefusalOf(const Json& json)
{
    try
    {
        ReadDaemonConfiguration(json);
    }
    catch (const std::invalid_argument& refusal)
    {
        return refusal.what();
    }
    return "";
}

} // namespace

TEST(DaemonConfiguration, ReadsPartsAndPaths)
{
    const auto read =
        ReadDaemonConfiguration({{"management", {MEMBER}}, {"state", "/run/state.json"}, {"control", "/run/c2ml.socket"}});
    EXPECT_EQ(read.parts.size(), 1U);
    EXPECT_EQ(read.state, "/run/state.json");
    EXPECT_EQ(read.control, "/run/c2ml.socket");
    EXPECT_FALSE(ReadDaemonConfiguration({{"management", {MEMBER}}, {"state", "/s"}, {"control", nullptr}}).control);
    EXPECT_FALSE(read.journal);
    EXPECT_EQ(ReadDaemonConfiguration({{"management", {MEMBER}}, {"state", "/s"}, {"journal", "/j"}}).journal, "/j");
}

TEST(DaemonConfiguration, SaysWhatIsWrong)
{
    auto windowed = MEMBER;
    windowed["enforcement"] = "window";
    EXPECT_EQ(RefusalOf({{"management", {windowed}}, {"state", "/s"}}),
              "management: the member of sat has the enforcement \"window\", which is for senders in virtual time: give "
              "\"shaper\" or \"none\"");
    EXPECT_EQ(RefusalOf({{"management", {MEMBER}}}), "state is missing or no text: give the path of a file");
    EXPECT_EQ(RefusalOf({{"management", {MEMBER}}, {"state", "/s"}, {"control", 7}}),
              "control is missing or no text: give the path of a file");
    EXPECT_EQ(RefusalOf({{"management", {MEMBER}}, {"state", "/s"}, {"journal", ""}}),
              "journal is missing or no text: give the path of a file");
    EXPECT_EQ(RefusalOf({{"management", Json::array()}, {"state", "/s"}}),
              "management is an empty list: give an object for each part of this host");
    EXPECT_EQ(RefusalOf({{"management", {MEMBER}}, {"state", "/s"}, {"status", "/t"}}),
              "the configuration has the key \"status\", which does not exist: leave it out");
    EXPECT_NE(RefusalOf({{"state", "/s"}}), "");
    EXPECT_NE(RefusalOf(Json::array()), "");
}
