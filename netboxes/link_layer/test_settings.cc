// SPDX-License-Identifier: GPL-2.0-or-later
// Settings that are refused, with the reason.
#include "test_link.h"

#include <gtest/gtest.h>

#include <string>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

/// What the refusal of a service says; nothing where it is taken.
std::string Refusal(const Json& settings, const LinkFacts& facts = PCS)
{
    Events events;
    try
    {
        TestLink link(events, facts, settings);
        return "";
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
}

std::string RefusalOf(const Json& scheme, const LinkFacts& facts = PCS)
{
    return Refusal(Layer({scheme}), facts);
}

} // namespace

TEST(SettingsTest, AWindowAboveHalfOfTheSequenceNumbersIsRefused)
{
    EXPECT_EQ(RefusalOf(Arq("sr-m2", 1, 0.03, 128)), "");
    EXPECT_EQ(RefusalOf(Arq("sr-m2", 1, 0.03, 129)),
              "sr-m2: window is 129, not at most 128, half of the 256 sequence numbers: an old frame could be taken for a "
              "new one; say less, or more sequence_bits");
    EXPECT_EQ(RefusalOf(Arq("go-back-n", 1, 0.03, 129, 9)), "");
    EXPECT_NE(RefusalOf(RlpOf("rlp", 1, 0.3, 0.5, 129)).find("ring is 129, not at most 128"), std::string::npos);
    EXPECT_NE(RefusalOf(Arq("sr", 1, 0.03, 0)), "");
    EXPECT_NE(RefusalOf(Arq("sr", 1, 0.03, 4, 17)), "");
}

TEST(SettingsTest, ATimerBelowTheTimeOfAFrameIsRefused)
{
    // 253 bytes at 64 kbit/s: 31.625 ms.
    EXPECT_EQ(RefusalOf(Arq("sr", 0.031625, 0.03)), "");
    EXPECT_EQ(RefusalOf(Arq("sr", 0.0316, 0.03)),
              "sr: timer is 0.0316, not at least 0.031625 s, the time of the longest frame: it would expire before any answer");
    EXPECT_NE(RefusalOf(RlpOf("rlp", 1, 0.0314, 0.5)), "");
    EXPECT_NE(RefusalOf({{"scheme", "snoop"}, {"cache", 100}, {"connections", 10}, {"timer_floor", 0.03}}), "");
}

TEST(SettingsTest, AnRlpThatWaitsForLongerThanItsRingTakesIsRefused)
{
    // Spec 1.6.7: with 3 attempts and 128 frames below 1.2, 1.3 and 0.17 s.
    EXPECT_EQ(RefusalOf(RlpOf("rlp", 3, 1.18, 0.5), CELLULAR), "");
    EXPECT_NE(RefusalOf(RlpOf("rlp", 3, 1.2, 0.5), CELLULAR), "");
    EXPECT_EQ(RefusalOf(RlpOf("rlp", 3, 1.3, 0.5), PCS), "");
    EXPECT_NE(RefusalOf(RlpOf("rlp", 3, 1.33, 0.5), PCS), "");
    EXPECT_EQ(RefusalOf(RlpOf("rlp", 3, 0.168, 0.05), WLAN), "");
    EXPECT_NE(RefusalOf(RlpOf("rlp", 3, 0.17, 0.05), WLAN), "");
    // The recommended values of section 6, and twice as much for two services: told, not refused.
    for (const auto& [facts, thrice, once, keepalive] :
         {std::tuple{CELLULAR, 0.893, 0.662, 0.5}, {PCS, 1.108, 2.116, 0.5}, {WLAN, 0.102, 0.070, 0.05}})
    {
        EXPECT_EQ(RefusalOf(RlpOf("rlp", 3, thrice, keepalive), facts), "");
        EXPECT_EQ(RefusalOf(RlpOf("rlp-oos", 1, once, keepalive), facts), "");
        Events events;
        auto settings = Layer({RlpOf("rlp", 3, thrice, keepalive)});
        TestLink link(events, facts, settings);
        EXPECT_EQ(link[0].Read()[0]["is_safe"], true);
        settings["timer_factor"] = 2;
        link[0].Set(settings);
        EXPECT_EQ(link[0].Read()[0]["is_safe"], false);
    }
}

TEST(SettingsTest, ABlockIsAsLongAsItsNumbersReach)
{
    EXPECT_EQ(RefusalOf({{"scheme", "xor"}, {"block", 127}}), "");
    EXPECT_NE(RefusalOf({{"scheme", "xor"}, {"block", 128}}), "");
    EXPECT_EQ(RefusalOf({{"scheme", "xor-adaptive"}, {"block", 254}, {"inactivity", 0.1}}), "");
    EXPECT_NE(RefusalOf({{"scheme", "xor-adaptive"}, {"block", 255}, {"inactivity", 0.1}}), "");
}

TEST(SettingsTest, UnknownSchemesAndOtherLayersAreRefused)
{
    EXPECT_EQ(RefusalOf({{"scheme", "fto"}}),
              "no scheme is called \"fto\"; there are go-back-n, none, rlp, rlp-oos, snoop, sr, sr-m1, sr-m2, xor, xor-adaptive");
    Json settings{{"services", Json::array()}};
    EXPECT_NE(Refusal(settings).find("0 services, not 1 to 16"), std::string::npos);
    for (int service = 0; service < 17; ++service)
    {
        settings["services"].push_back({{"scheme", "none"}, {"share", 1}});
    }
    EXPECT_NE(Refusal(settings).find("17 services, not 1 to 16"), std::string::npos);
    settings["services"].erase(16);
    EXPECT_EQ(Refusal(settings), "");
    for (const auto& [key, value] : {std::pair<const char*, Json>{"pacing", "often"},
                                     {"pacing_batch", 0},
                                     {"shares", "equal"},
                                     {"timer_factor", 0.5},
                                     {"timer_factor", "delay"},
                                     {"measure_interval", 0},
                                     {"smoothing", 1}})
    {
        auto wrong = settings;
        wrong[key] = value;
        EXPECT_NE(Refusal(wrong).find(key), std::string::npos) << key;
    }
    settings["services"][3]["share"] = 0;
    EXPECT_NE(Refusal(settings).find("share"), std::string::npos);
}
