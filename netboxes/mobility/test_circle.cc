// SPDX-License-Identifier: GPL-2.0-or-later
#include "circle.h"

#include <gtest/gtest.h>

namespace netboxit
{

namespace
{

using Json = nlohmann::json;

const std::vector<std::string> NAMES{"north", "hub", "south"};

Json Stations(const char* role)
{
    const Json station{{"role", "other"}, {"distance", nullptr}};
    Json stations{{"north", station}, {"hub", station}, {"south", station}};
    stations["hub"]["role"] = role;
    return stations;
}

double Between(const Circle& circle, std::size_t one, std::size_t other)
{
    return ns3::CalculateDistance(circle.At(one)->GetPosition(), circle.At(other)->GetPosition());
}

} // namespace

TEST(CircleTest, StationsStandAroundTheCentralOne)
{
    const Circle circle(Stations("base"), NAMES, "base", 100.0, 1);
    EXPECT_EQ(circle.Central(), 1);
    EXPECT_NEAR(Between(circle, 0, 1), 100.0, 1e-9);
    EXPECT_NEAR(Between(circle, 2, 1), 100.0, 1e-9);
    EXPECT_NEAR(Between(circle, 0, 2), 200.0, 1e-9);
}

TEST(CircleTest, WithoutACentralOneTheDistanceIsTheCirclesDiameter)
{
    const Circle circle(Stations("other"), NAMES, "base", 100.0, 1);
    EXPECT_FALSE(circle.Central());
    EXPECT_NEAR(Between(circle, 0, 1), 100.0 * std::sin(std::numbers::pi / 3), 1e-9);
    EXPECT_NEAR(Between(circle, 0, 1), Between(circle, 1, 2), 1e-9);
}

TEST(CircleTest, ADistanceOrPositionOfItsOwnOutlastsThatOfAll)
{
    auto stations = Stations("base");
    stations["north"]["distance"] = 30.0;
    Circle circle(stations, NAMES, "base", 100.0, 1);
    circle.SetDistance(std::nullopt, 50.0);
    EXPECT_NEAR(Between(circle, 0, 1), 30.0, 1e-9);
    EXPECT_NEAR(Between(circle, 2, 1), 50.0, 1e-9);
    circle.SetPosition(2, {0.0, 0.0, 7.0});
    circle.SetDistance(std::nullopt, 60.0);
    EXPECT_NEAR(Between(circle, 2, 1), 7.0, 1e-9);
    circle.SetDistance(0, 40.0);
    EXPECT_NEAR(Between(circle, 0, 1), 40.0, 1e-9);
}

} // namespace netboxit
