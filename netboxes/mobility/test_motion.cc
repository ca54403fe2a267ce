// SPDX-License-Identifier: GPL-2.0-or-later
#include "motion.h"

#include "ns3/simulator.h"

#include <gtest/gtest.h>

namespace netboxit
{

namespace
{

using Json = nlohmann::json;

/// Runs the simulation up to this time (s).
void AdvanceTo(double seconds)
{
    ns3::Simulator::Stop(ns3::Seconds(seconds) - ns3::Simulator::Now());
    ns3::Simulator::Run();
}

class MotionTest : public ::testing::Test
{
  protected:
    ~MotionTest() override
    {
        ns3::Simulator::Destroy();
    }
};

const Json PATH = Json::parse(R"({"path": [{"at": 1, "position": [0, 0, 0]}, {"at": 3, "position": [20, 0, 4]}]})");
const Json WANDER = Json::parse(
    R"({"position": [5, 5, 0], "wander": {"area": [[0, 0, 0], [10, 20, 0]], "speed": [1, 2], "pause": 3}})");

} // namespace

TEST_F(MotionTest, StandsWhereItIsPut)
{
    EXPECT_FALSE(Motion::IsSaid(Json::object()));
    const auto motion = Motion::From(Json::object(), {1, 2, 3}, 0);
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(1, 2, 3));
    motion->SetPosition({4, 5, 6});
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(4, 5, 6));
}

TEST_F(MotionTest, FollowsItsPathFromTheBeginOn)
{
    const auto motion = Motion::From(PATH, {}, 0);
    AdvanceTo(10);
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(0, 0, 0));
    motion->Begin();
    EXPECT_EQ(motion->GetVelocity(), ns3::Vector(0, 0, 0));
    AdvanceTo(12);
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(10, 0, 2));
    EXPECT_EQ(motion->GetVelocity(), ns3::Vector(10, 0, 2));
    AdvanceTo(20);
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(20, 0, 4));
}

TEST_F(MotionTest, IsTakenFromItsPathByALiveChange)
{
    const auto motion = Motion::From(PATH, {}, 0);
    motion->Begin();
    AdvanceTo(2);
    motion->SetPosition({7, 7, 7});
    AdvanceTo(3);
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(7, 7, 7));
}

TEST_F(MotionTest, WandersInItsAreaAtItsSpeedAndRests)
{
    const auto motion = Motion::From(WANDER, {}, 7);
    motion->Begin();
    EXPECT_EQ(motion->GetPosition(), ns3::Vector(5, 5, 0));
    unsigned resting = 0;
    for (int second = 1; second <= 1000; ++second)
    {
        AdvanceTo(second);
        const auto position = motion->GetPosition();
        EXPECT_TRUE(position.x >= 0 && position.x <= 10 && position.y >= 0 && position.y <= 20);
        const double speed = motion->GetVelocity().GetLength();
        EXPECT_TRUE(speed == 0.0 || (speed > 0.999 && speed < 2.001)) << speed;
        resting += speed == 0.0;
    }
    // A leg in a rectangle of 10 by 20 m is 8 m long on average and takes 5.6 s at 1 to 2 m/s: a third of the time is rest.
    EXPECT_NEAR(resting / 1000.0, 0.35, 0.1);
}

TEST_F(MotionTest, WandersTheSameWayWithTheSameStream)
{
    const auto one = Motion::From(WANDER, {}, 7);
    const auto same = Motion::From(WANDER, {}, 7);
    const auto other = Motion::From(WANDER, {}, 8);
    for (const auto& motion : {one, same, other})
    {
        motion->Begin();
    }
    AdvanceTo(50);
    EXPECT_EQ(one->GetPosition(), same->GetPosition());
    EXPECT_NE(one->GetPosition(), other->GetPosition());
}

} // namespace netboxit
