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
    Chain chain(1, 0);
    EXPECT_TRUE(chain.IsEmpty());
    EXPECT_EQ(chain.Read(0), Json::array());
    chain.Set(Json::array({PINK}), 0);
    EXPECT_FALSE(chain.IsEmpty());
    EXPECT_EQ(chain.Read(0).at(0).at("stage"), "pink");
}

TEST(Chain, ShowsEachPacketToAllStages)
{
    Chain chain(1, 0);
    chain.Set({PINK, PINK}, 0);
    SendSyn(chain);
    EXPECT_EQ(Flows(chain, 0), 1);
    EXPECT_EQ(Flows(chain, 1), 1);
}

TEST(Chain, KeepsWhatStagesKnowThatStay)
{
    Chain chain(1, 0);
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
    Chain chain(1, 0);
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
