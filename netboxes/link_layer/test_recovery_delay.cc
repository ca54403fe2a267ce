// SPDX-License-Identifier: GPL-2.0-or-later
// T5.2 of the source, from traces on an idle link.
#include "test_link.h"

#include <gtest/gtest.h>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

struct Row
{
    const char* link;
    LinkFacts facts;
    double fec; ///< ms
    double arq; ///< ms
};

// T5.2: minimum recovery delay with blocks of 9 packets.
const std::vector<Row> T5_2{{"cellular", CELLULAR, 130, 259}, {"pcs", PCS, 142, 163}, {"wlan", WLAN, 18, 14}};

constexpr unsigned BLOCK = 9;

/// How much later than without an error packets come that are sent one behind the other, when the frame with this number of the
/// base station is lost: the greatest delay, ms. Packets that do not come at all fail the test.
double DelayOfLoss(const Json& scheme, const LinkFacts& facts, unsigned packets, unsigned lost)
{
    std::array<std::vector<std::int64_t>, 2> arrivals;
    for (const bool isLossy : {false, true})
    {
        Events events;
        unsigned sent = 0;
        TestLink link(events, facts, Layer({scheme}), [&](int from, const AirFrame&)
                      { return Fate{.isLost = isLossy && from == 0 && sent++ == lost}; });
        for (unsigned packet = 1; packet <= packets; ++packet)
        {
            link.Send(0, packet, facts.framePayload);
        }
        events.RunUntil(10 * SECOND);
        arrivals[isLossy].resize(packets + 1);
        for (const auto& delivery : link.Delivered(1))
        {
            arrivals[isLossy][delivery.item] = delivery.at;
        }
    }
    std::int64_t greatest = 0;
    for (unsigned packet = 1; packet <= packets; ++packet)
    {
        EXPECT_GT(arrivals[1][packet], 0);
        greatest = std::max(greatest, arrivals[1][packet] - arrivals[0][packet]);
    }
    return static_cast<double>(greatest) / MILLISECOND;
}

} // namespace

TEST(RecoveryDelayTest, AFrameThatRlpRepeatsComesAsMuchLaterAsTheSourceSays)
{
    for (const auto& row : T5_2)
    {
        SCOPED_TRACE(row.link);
        for (const char* const scheme : {"rlp", "rlp-oos"})
        {
            // The second packet shows the gap.
            EXPECT_NEAR(DelayOfLoss(RlpOf(scheme, 1, 0.3, 10), row.facts, 2, 0), row.arq, 1);
        }
    }
}

TEST(RecoveryDelayTest, AFrameThatXorRepairsComesAsMuchLaterAsTheSourceSays)
{
    for (const auto& row : T5_2)
    {
        SCOPED_TRACE(row.link);
        double sum = 0;
        for (unsigned lost = 0; lost <= BLOCK; ++lost) // the parity frame, too: its loss delays nothing
        {
            sum += DelayOfLoss({{"scheme", "xor"}, {"block", BLOCK}}, row.facts, BLOCK, lost);
        }
        EXPECT_NEAR(sum / (BLOCK + 1), row.fec, 1);
    }
}
