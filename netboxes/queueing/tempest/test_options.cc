// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace netboxit::queueing;
using namespace netboxit::queueing::tempest;

namespace
{

Options Parsed(const std::string& line)
{
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
    {
        words.push_back(word);
    }
    return ParseOptions(words);
}

std::string Fault(const std::string& line)
{
    try
    {
        Parsed(line);
        return "none";
    }
    catch (const BadOption& error)
    {
        return error.what();
    }
}

const std::string SINGLE = "-n 10k -qmin 0 -qmax 30n -mode single -alg drr ";
const std::string DOUBLE = "-n 10 -qmin 0 -qmax 30 -flows 4 -mode double -qos qfq+ -mac drr -qmac 5 -flowsmac 4 ";

} // namespace

TEST(Options, SayFlowsByTheirWeights)
{
    const auto options = Parsed(SINGLE + "-flowsets 20::2,1::3,::1,2");
    EXPECT_EQ(options.weights, (Weights{20, 20, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(options.events, 10'000u);
    EXPECT_EQ(options.mostTotal, 240u);
    EXPECT_EQ(Parsed(SINGLE + "-flows 2k").weights.size(), 2000u);
}

TEST(Options, WeightsOfStationsFollowFromTheirLosses)
{
    EXPECT_EQ(Parsed(DOUBLE + "-ploss 0.1:0.5:0:1").stationWeights, (Weights{900, 500, 1000, 1}));
    EXPECT_EQ(Parsed(DOUBLE + "-ploss 0.1:0.5:0:1 -wdistr 0").stationWeights, (Weights{1, 1, 1, 1}));
    EXPECT_EQ(Parsed(DOUBLE + "-ploss 0.1:0.5:0:1 -wdistr 1").stationWeights, (Weights{2, 1, 3, 1}));
    EXPECT_EQ(Parsed(DOUBLE + "-ploss 0.1:0.5:0:1 -wdistr 2").stationWeights, (Weights{4, 2, 8, 1}));
    const auto losses = Parsed(DOUBLE + "-ploss log:1:0.001").losses;
    EXPECT_NEAR(losses[1], 0.1, 1e-12);
    EXPECT_NEAR(losses[3], 0.001, 1e-12);
    EXPECT_EQ(Parsed(DOUBLE + "-ploss linear:1:0.25").losses, (std::vector{1.0, 0.75, 0.5, 0.25}));
}

TEST(Options, ThatAreWrongAreToldWithARemedy)
{
    EXPECT_EQ(Fault(SINGLE), "say how many flows there are: -flows NUMBER or -flowsets WEIGHT::NUMBER,…");
    EXPECT_EQ(Fault(SINGLE + "-flowsets 0::3"), "-flowsets: \"0\" is no number from 1 to 65535");
    EXPECT_EQ(Fault(SINGLE + "-flowsets 1::2::3"), "-flowsets: \"1::2::3\" is no set; write WEIGHT::NUMBER, as 20::60");
    EXPECT_EQ(Fault(SINGLE + "-flows 2000k"), "-flows: \"2000\" is no number from 1 to 1000");
    EXPECT_EQ(Fault(SINGLE + "-flows -1"), "-flows: \"-1\" is no number from 1 to 1000000");
    EXPECT_EQ(Fault(SINGLE + "-flows 3 -speed 4"), "there is no option \"-speed\"; README.md has them");
    EXPECT_EQ(Fault(SINGLE + "-flows"), "-flows wants a value");
    EXPECT_EQ(Fault(SINGLE + "-flows 3 -flows 4"), "-flows is there twice");
    EXPECT_EQ(Fault(SINGLE + "-flows 3 -qmac 4"), "-qmac is for -mode double");
    EXPECT_EQ(Fault("-n 10 -qmin 30 -qmax 30 -flows 1 -mode single -alg drr"),
              "-qmin is not below -qmax, so nothing would be enqueued");
    EXPECT_EQ(Fault("-n 10 -qmin 0 -qmax 30 -flows 1 -mode single -alg htb"),
              "-alg: there is no scheduler \"htb\"; there are fifo drr scfq wf2q+ qfq qfq+");
    EXPECT_EQ(Fault(DOUBLE + "-ploss 0.1:0.2"),
              "-ploss: 2 losses for 4 stations; write one for each, or linear:FIRST:LAST, or log:FIRST:LAST");
    EXPECT_EQ(Fault(DOUBLE + "-ploss log:0:1"), "-ploss: \"0\" is no number from 1e-12 to 1");
}
