// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include "test_frames.h"

#include <gtest/gtest.h>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

const Json PINK{{"stage", "pink"}, {"rate", 10e6}};
const Json SLOW_PINK{{"stage", "pink"}, {"rate", 1e6}};

const Chain::Announce IGNORED = [](std::string_view, const Json&) {};

/// Connections that a stage has seen.
Json Flows(const Chain& chain, std::size_t place)
{
    return chain.Read(0).at(place).at("flows");
}

void SendSyn(Chain& chain)
{
    auto syn = Build({.flags = "S", .options = {2, 4, 5, 0xb4}});
    EXPECT_TRUE(chain.Entering(syn, ReadHeaders(syn), 0));
}

} // namespace

TEST(Chain, HasNoStagesUntilItIsGivenSome)
{
    Chain chain(1, 0, IGNORED);
    EXPECT_TRUE(chain.IsEmpty());
    EXPECT_EQ(chain.Read(0), Json::array());
    chain.Set(Json::array({PINK}), 0);
    EXPECT_FALSE(chain.IsEmpty());
    EXPECT_EQ(chain.Read(0).at(0).at("stage"), "pink");
}

TEST(Chain, ShowsEachPacketToAllStages)
{
    Chain chain(1, 0, IGNORED);
    chain.Set({PINK, PINK}, 0);
    SendSyn(chain);
    EXPECT_EQ(Flows(chain, 0), 1);
    EXPECT_EQ(Flows(chain, 1), 1);
}

TEST(Chain, KeepsWhatStagesKnowThatStay)
{
    Chain chain(1, 0, IGNORED);
    chain.Set(Json::array({PINK}), 0);
    SendSyn(chain);
    chain.Set({SLOW_PINK, PINK}, 0);
    EXPECT_EQ(chain.Read(0).at(0).at("share"), 1e6);
    EXPECT_EQ(Flows(chain, 0), 1);
    EXPECT_EQ(Flows(chain, 1), 0);
    chain.Set(Json::array(), 0);
    EXPECT_TRUE(chain.IsEmpty());
}

TEST(Chain, ChangesNothingWhereOneStageCannotBe)
{
    Chain chain(1, 0, IGNORED);
    chain.Set(Json::array({PINK}), 0);
    SendSyn(chain);
    EXPECT_THROW(chain.Set({SLOW_PINK, {{"stage", "punk"}}}, 0), std::invalid_argument);
    EXPECT_THROW(chain.Set({SLOW_PINK, {{"stage", "pink"}}}, 0), Json::exception);
    EXPECT_THROW(chain.Set({SLOW_PINK, Json::object()}, 0), Json::exception);
    EXPECT_THROW(chain.Set(nullptr, 0), std::invalid_argument);
    EXPECT_THROW(chain.Set(Json::object({{"left", PINK}}), 0), std::invalid_argument);
    EXPECT_THROW(chain.Set(Json(Chain::MOST + 1, PINK), 0), std::invalid_argument);
    EXPECT_EQ(chain.Read(0).at(0).at("share"), 10e6);
    EXPECT_EQ(Flows(chain, 0), 1);
}

TEST(Chain, AnnouncesThatAStagePolicesWithTheFirstPacketAndThenEachTenSeconds)
{
    constexpr std::int64_t SECOND = 1'000'000'000;
    std::vector<Json> told;
    Chain chain(1, 0, [&told](std::string_view event, const Json& details) {
        told.push_back(details);
        told.back()["event"] = event;
    });
    // Nothing of what it dropped comes back to the bucket.
    chain.Set(Json::array({PINK, {{"stage", "police"}, {"rate", 8.0}, {"burst", 1500.0}}}), 0);
    const auto send = [&chain](std::int64_t at) {
        auto frame = Build({.flags = "A", .payload = 1460});
        return chain.Entering(frame, ReadHeaders(frame), at);
    };
    EXPECT_TRUE(send(0));
    EXPECT_TRUE(told.empty());
    for (int tenth = 0; tenth < 150; ++tenth)
    {
        EXPECT_FALSE(send(tenth * SECOND / 10));
    }
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0], (Json{{"event", "policing"}, {"stage", "police"}, {"node", "10.0.0.1"}, {"dropped", 1}}));
    EXPECT_EQ(told[1].at("dropped"), 101);
    // It stays at its place, and so does what was announced.
    chain.Set(Json::array({PINK, {{"stage", "police"}, {"rate", 8.0}, {"burst", 1500.0}}}), 15 * SECOND);
    EXPECT_FALSE(send(15 * SECOND));
    EXPECT_EQ(told.size(), 2U);
    Frame ofNoAddress(600);
    ofNoAddress[12] = 0x88;
    ofNoAddress[13] = 0xcc;
    EXPECT_FALSE(chain.Entering(ofNoAddress, ReadHeaders(ofNoAddress), 26 * SECOND));
    ASSERT_EQ(told.size(), 3U);
    EXPECT_TRUE(told[2].at("node").is_null());
}
