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
const std::string INTEGRATED = "-n 10 -qmin 0 -qmax 30 -flows 4 -mode integrated -alg w2f2q -flowsmac 4 ";
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

TEST(Options, WeightsOfStationsMayBeSaid)
{
    const std::string sets = "-n 10 -qmin 0 -qmax 30 -flows 4 -mode double -qos qfq+ -mac drr -qmac 5 -flowsetsmac 7::2,::1 ";
    EXPECT_EQ(Parsed(sets).stationWeights, (Weights{7, 7, 1}));
    EXPECT_EQ(Parsed(sets).losses, (std::vector{0.0, 0.0, 0.0}));
    EXPECT_EQ(Fault(sets + "-wdistr 2"), "-wdistr is for -flowsmac; -flowsetsmac has weights");
    EXPECT_EQ(Fault(sets + "-flowsmac 3"), "say how many stations there are: -flowsmac NUMBER or -flowsetsmac WEIGHT::NUMBER,…");
}

TEST(Options, OfTheIntegratedModeSayWhichChannelsAreBad)
{
    // Grazia, 4.2.3.3: a station is good up to 20 % of loss; 4.3.2.6: its weight is a success in thousandths.
    EXPECT_EQ(Parsed(INTEGRATED + "-ploss 0.1:0.2:0.3:1").mostLoss, 0.2);
    EXPECT_EQ(Parsed(INTEGRATED + "-intgr_th 250").mostLoss, 0.75);
    const auto changing = Parsed(INTEGRATED + "-ploss two-state:0.25:0.75:50");
    EXPECT_EQ(changing.losses, std::vector<double>(4, 0.5));
    EXPECT_EQ(changing.states.dwell, 50);
    EXPECT_FALSE(Parsed(INTEGRATED + "-ploss log:1:0.1").states.dwell > 0);
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
              "-alg: there is no scheduler \"htb\"; there are fifo drr scfq wf2q+ qfq qfq+ codel fq-codel cake");
    EXPECT_EQ(Fault("-n 10 -qmin 0 -qmax 30 -flowsets 2::3 -mode single -alg cake"),
              "cake has flows of equal weights; say -flows NUMBER");
    EXPECT_EQ(Fault(SINGLE + "-flows 3 -hosts 2"), "-hosts is for cake, which tells hosts apart");
    EXPECT_EQ(Fault(DOUBLE + "-ploss 0.1:0.2"),
              "-ploss: 2 losses for 4 stations; write one for each, or linear:FIRST:LAST, log:FIRST:LAST or two-state:GOOD:BAD:DWELL");
    EXPECT_EQ(Fault(DOUBLE + "-ploss log:0:1"), "-ploss: \"0\" is no number from 1e-12 to 1");
    EXPECT_EQ(Fault(DOUBLE + "-ploss two-state:0.5:0.5:9"), "-ploss: \"two-state:0.5:0.5:9\" loses no less in its good state than in its bad one");
    EXPECT_EQ(Fault(DOUBLE + "-ploss two-state:0.5"),
              "-ploss: \"two-state:0.5\"; write two-state:GOOD:BAD:DWELL, as two-state:0.01:0.9:50");
    EXPECT_EQ(Fault(DOUBLE + "-intgr_th 800"), "-intgr_th is for w2f2q");
    EXPECT_EQ(Fault(DOUBLE + "-alg drr"), "-alg is for -mode single and -mode integrated; say -qos and -mac");
    EXPECT_EQ(Fault(INTEGRATED + "-wdistr 1"), "-wdistr is for -mode double");
    EXPECT_EQ(Fault(INTEGRATED + "-intgr_th 1001"), "-intgr_th: \"1001\" is no number from 0 to 1000");
    EXPECT_EQ(Fault("-n 10 -qmin 0 -qmax 30 -flows 1 -mode integrated -alg wf2q+ -flowsmac 1"),
              "-alg: there is no scheduler \"wf2q+\"; there are w2f2q");
    EXPECT_EQ(Fault(SINGLE + "-flows 3 -ploss 0.1"), "-ploss is for -mode integrated and -mode double");
    EXPECT_EQ(Fault("-n 10 -qmin 0 -qmax 30 -flows 1 -mode triple"), "-mode: \"triple\"; there are single, integrated and double");
}
