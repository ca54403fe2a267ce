// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_limits.h"

#include <gtest/gtest.h>

using namespace netboxit;

namespace
{

const auto SAID = Json::parse(R"({
    "segment": {
        "rate": {"minimum": 1000, "maximum": 1e9, "unit": "bit/s", "optional": true},
        "slots": {"minimum": 1, "maximum": 4, "unit": "", "whole": true},
        "up": {"truth": true},
        "anything": {},
        "outage": {"optional": true, "removable": true, "keys": {"down": {"minimum": 0, "maximum": 9, "unit": "s"}}},
        "queue": {
            "keys": {
                "discipline": {"words": ["fifo", "codel"]},
                "packets": {"minimum": 1, "maximum": 10, "unit": "", "optional": true}
            },
            "cases": {"discipline": {"codel": {"target": {"minimum": 0.1, "maximum": 2, "unit": "s"}}}}
        },
        "flows": {"fixed": true, "fewest": 1, "items": {"keys": {"weight": {"minimum": 0, "maximum": 1, "unit": ""}}}}
    },
    "stations": {
        "position": {"parts": [{"minimum": -5, "maximum": 5, "unit": "m"}, {"minimum": -5, "maximum": 5, "unit": "m"}]},
        "outage": {"optional": true, "keys": {}}
    }
})");

const LiveLimits LIMITS(SAID, {"left", "right"});

std::string Refusal(const std::string& name, const char* value)
{
    try
    {
        LIMITS.Check(name, Json::parse(value));
    }
    catch (const std::invalid_argument& refusal)
    {
        return refusal.what();
    }
    return "";
}

std::string RefusalAtStart(const char* parameters)
{
    try
    {
        LIMITS.CheckStart(Json::parse(parameters));
    }
    catch (const OutOfRange& refusal)
    {
        return refusal.what();
    }
    return "";
}

} // namespace

TEST(LiveLimits, TakesWhatIsWithinThem)
{
    EXPECT_EQ(Refusal("rate", "1000"), "");
    EXPECT_EQ(Refusal("rate", "1e9"), "");
    EXPECT_EQ(Refusal("slots", "4.0"), "");
    EXPECT_EQ(Refusal("up", "false"), "");
    EXPECT_EQ(Refusal("anything", "[null]"), "");
    EXPECT_EQ(Refusal("queue", R"({"discipline": "fifo"})"), "");
    EXPECT_EQ(Refusal("queue", R"({"discipline": "fifo", "packets": null, "target": "of codel alone"})"), "");
    EXPECT_EQ(Refusal("queue", R"({"discipline": "codel", "packets": 10, "target": 0.1})"), "");
    EXPECT_EQ(Refusal("left.position", "[-5, 5]"), "");
}

TEST(LiveLimits, NamesTheParameterAndItsLimits)
{
    EXPECT_EQ(Refusal("rate", "999"), "rate cannot be 999; it is a number from 1000 to 1e+09 bit/s");
    EXPECT_EQ(Refusal("rate", R"("999")"), R"(rate cannot be "999"; it is a number from 1000 to 1e+09 bit/s)");
    EXPECT_EQ(Refusal("slots", "1.5"), "slots cannot be 1.5; it is a whole number from 1 to 4");
    EXPECT_EQ(Refusal("up", "1"), "up cannot be 1; it is true or false");
}

TEST(LiveLimits, NamesThePartOfAMappingOrList)
{
    EXPECT_EQ(Refusal("queue", "5"), "queue cannot be 5; it is a mapping with discipline packets");
    EXPECT_EQ(Refusal("queue", "{}"), "queue cannot be {}; its discipline is one of fifo codel");
    EXPECT_EQ(Refusal("queue", R"({"discipline": ["fifo"]})"),
              R"(queue cannot be {"discipline":["fifo"]}; its discipline is one of fifo codel)");
    EXPECT_EQ(Refusal("queue", R"({"discipline": "fifo", "packets": 11})"),
              R"(queue cannot be {"discipline":"fifo","packets":11}; its packets is a number from 1 to 10)");
    EXPECT_EQ(Refusal("queue", R"({"discipline": "codel"})"),
              R"(queue cannot be {"discipline":"codel"}; its target is a number from 0.1 to 2 s)");
    EXPECT_EQ(Refusal("left.position", "[1]"),
              "left.position cannot be [1]; it is a list of 2, its [0] is a number from -5 to 5 m");
    EXPECT_EQ(Refusal("left.position", "[1, 6]"), "left.position cannot be [1,6]; its [1] is a number from -5 to 5 m");
    EXPECT_EQ(RefusalAtStart(R"({"flows": []})"), "flows cannot be []; it is a list of 1 or more");
    EXPECT_EQ(RefusalAtStart(R"({"flows": [{"weight": 1}, {"weight": 2}]})"),
              R"(flows cannot be [{"weight":1},{"weight":2}]; its [1].weight is a number from 0 to 1)");
}

TEST(LiveLimits, NullIsAValueWhereTheyPermitIt)
{
    EXPECT_EQ(Refusal("outage", "null"), "");
    EXPECT_EQ(Refusal("rate", "null"), "rate cannot be null; it is a number from 1000 to 1e+09 bit/s");
    EXPECT_EQ(Refusal("left.outage", "null"), "left.outage cannot be null; it is a mapping with");
    EXPECT_EQ(RefusalAtStart(R"({"rate": null, "stations": {"left": {"outage": null}}})"), "");
    EXPECT_EQ(RefusalAtStart(R"({"slots": null})"), "slots cannot be null; it is a whole number from 1 to 4");
}

TEST(LiveLimits, HoldAtTheStartForWhatIsSaid)
{
    EXPECT_EQ(RefusalAtStart("{}"), "");
    EXPECT_EQ(RefusalAtStart("[]"), "");
    EXPECT_EQ(RefusalAtStart(R"({"stations": {"left": 5}})"), "");
    EXPECT_EQ(RefusalAtStart(R"({"stations": {"right": {"position": 0}}})"), 
              "right.position cannot be 0; it is a list of 2, its [0] is a number from -5 to 5 m");
}

TEST(LiveLimits, ListsWhatCanBeChanged)
{
    EXPECT_EQ(Refusal("colour", "1"), "no live parameter 'colour'; there are anything outage queue rate slots up");
    EXPECT_EQ(Refusal("flows", "[]"), "no live parameter 'flows'; there are anything outage queue rate slots up");
    EXPECT_EQ(Refusal("left.rate", "1000"), "no live parameter 'rate' of a station; there are outage position");
    EXPECT_THROW(LiveLimits().Check("rate", 1), UnknownParameter);
}

TEST(LiveLimits, TellALongValueInPart)
{
    const auto refusal = Refusal("queue", ("[" + std::string(5000, ' ') + '"' + std::string(5000, 'x') + "\"]").c_str());
    EXPECT_LT(refusal.size(), 500U);
    EXPECT_NE(refusal.find("x…; it is a mapping with"), refusal.npos);
}

TEST(LiveLimits, RefuseWhatIsNone)
{
    const auto made = [](Json limit)
    { return LiveLimits({{"segment", {{"x", std::move(limit)}}}, {"stations", Json::object()}}, {}); };
    EXPECT_NO_THROW(made(Json::object()));
    for (const auto* text : {"null",
                             "[]",
                             "5",
                             R"({"minimum": 0})",
                             R"({"minimum": 0, "maximum": "1", "unit": ""})",
                             R"({"words": 1})",
                             R"({"keys": {"a": null}})",
                             R"({"keys": {}, "cases": {"a": {"b": {"c": 1}}}})",
                             R"({"items": {}})",
                             R"({"parts": [1]})",
                             R"({"removable": 1})",
                             R"({"optional": "yes"})"})
    {
        EXPECT_THROW(made(Json::parse(text)), std::invalid_argument) << text;
    }
    auto deep = Json::object();
    for (int depth = 0; depth < 1000; ++depth)
    {
        deep = {{"keys", {{"a", deep}}}};
    }
    EXPECT_THROW(made(deep), std::invalid_argument);
}
