// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_stage.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

const std::array<Json, 7> SETTINGS{Json{{"stage", "pink"}, {"rate", 1e6}},
                                   Json{{"stage", "green"}, {"rate", 1e6}, {"ecn", true}},
                                   Json{{"stage", "police"}, {"rate", 1e6}, {"direction", "both"}},
                                   Json{{"stage", "police"}, {"rate", 1e6}, {"direction", "both"}, {"per", "node"}},
                                   Json{{"stage", "mark"}, {"dscp", 46}, {"excess_dscp", 1}, {"rate", 1e6}, {"per", "node"}},
                                   Json{{"stage", "qrm"}, {"rate", 1e6}},
                                   Json{{"stage", "qrm"}, {"rate", 1e6}, {"police", "reset"}, {"nodes", 8}}};

} // namespace

TEST(MakeStageTest, MakesEachAndSetsItWithTheSameSettings)
{
    for (const auto& settings : SETTINGS)
    {
        const auto stage = MakeStage(settings, 1);
        stage->Set(settings, 0);
        EXPECT_TRUE(stage->Read(0).is_object());
        EXPECT_FALSE(stage->Read(0).contains("stage")); // the chain says it
    }
}

TEST(MakeStageTest, AnUnknownWordIsRefusedWithThoseThatExist)
{
    try
    {
        MakeStage({{"stage", "punk"}}, 1);
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(), R"(no stage is called "punk"; there are green, mark, pink, police, qrm)");
    }
    EXPECT_THROW(MakeStage(Json::object(), 1), Json::exception);
    EXPECT_THROW(MakeStage({{"stage", 1}}, 1), Json::exception);
    EXPECT_THROW(MakeStage(Json(), 1), Json::exception);
}

TEST(MakeStageTest, AHundredThousandDamagedFramesPassAllStages)
{
    std::vector<std::unique_ptr<Stage>> stages;
    for (const auto& settings : SETTINGS)
    {
        stages.push_back(MakeStage(settings, 1));
    }
    std::mt19937 random(1);
    for (std::int64_t made = 0; made < 100'000; ++made)
    {
        auto frame = Build({.version = random() % 2 == 0 ? 4 : 6,
                            .source = static_cast<std::uint32_t>(random() % 100),
                            .sequence = static_cast<std::uint32_t>(random()),
                            .flags = random() % 2 == 0 ? "S" : "A",
                            .options = {2, 4, 5, 180, 3, 3, 7},
                            .payload = random() % 8,
                            .hasExtension = made % 3 == 0});
        if (random() % 4 == 0)
        {
            frame.insert(frame.begin() + 12, {0x81, 0, 0, 5});
        }
        for (auto changed = random() % 4; changed > 0; --changed)
        {
            frame[12 + random() % (frame.size() - 12)] = static_cast<std::uint8_t>(random());
        }
        frame.resize(random() % 4 == 0 ? ETHERNET_HEADER + random() % (frame.size() - ETHERNET_HEADER + 1) : frame.size());
        frame.shrink_to_fit(); // so that a checker of memory finds what is read behind it
        const auto length = frame.size();
        for (const auto& stage : stages)
        {
            const auto now = made * 10'000;
            made % 2 == 0 ? stage->Entering(frame, ReadHeaders(frame), now) : stage->Leaving(frame, ReadHeaders(frame), now);
        }
        ASSERT_EQ(frame.size(), length);
    }
    for (const auto& stage : stages)
    {
        EXPECT_FALSE(stage->Read(1'000'000'000).dump().empty());
    }
}
