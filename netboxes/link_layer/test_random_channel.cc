// SPDX-License-Identifier: GPL-2.0-or-later
// Every scheme on a channel that loses, delays, repeats and reorders frames, from fixed seeds: a million frames each, fewer
// under sanitizers.
#include "test_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t FRAMES_OF_SCHEME = 100'000;
#else
constexpr std::uint64_t FRAMES_OF_SCHEME = 1'000'000;
#endif
/// A byte takes 8 us; the longest frame 1 ms.
const LinkFacts LINK{1e6, 5 * MILLISECOND, 120};
/// Longer than any frame waits, is late or is repeated.
constexpr std::int64_t SETTLED = 60 * SECOND;

/// How bad a channel is.
struct Badness
{
    double loss{};        ///< of a frame, in good times
    double fade{};        ///< probability that a fade begins with a frame
    std::int64_t fades{}; ///< ns of a fade, in which all is lost
    double late{};        ///< probability that a frame is late
    std::int64_t by{};    ///< ns, at most
    double repeated{};    ///< probability that a frame comes twice
};

class RandomChannel
{
  public:
    RandomChannel(const Events& events, const Badness& badness, std::mt19937& random)
        : m_events(events),
          m_badness(badness),
          m_random(random)
    {
    }

    Fate operator()(int from)
    {
        if (Happens(m_badness.fade))
        {
            m_fadeEnds[from] = m_events.Now() + Below(m_badness.fades);
        }
        if (m_events.Now() < m_fadeEnds[from] || Happens(m_badness.loss))
        {
            return {.isLost = true};
        }
        return {.later = Happens(m_badness.late) ? Below(m_badness.by) : 0,
                .isRepeated = Happens(m_badness.repeated)};
    }

  private:
    std::int64_t Below(std::int64_t end)
    {
        return static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(end));
    }

    bool Happens(double probability)
    {
        return std::uniform_real_distribution{}(m_random) < probability;
    }

    const Events& m_events;
    Badness m_badness;
    std::mt19937& m_random;
    std::array<std::int64_t, 2> m_fadeEnds{};
};

/// What a scheme promises on such a channel.
struct Promise
{
    bool inOrder{};
    bool isComplete{}; ///< what was taken arrives
};

struct Case
{
    const char* name;
    Json scheme;
    Badness badness;
    Promise promise;
};

/// A channel that keeps the order, and one on which frames are overtaken by up to some 16 others.
constexpr Badness LOSSY{0.1, 0.002, 30 * MILLISECOND, 0, 1, 0.05};
constexpr Badness REORDERING{0.1, 0.002, 30 * MILLISECOND, 0.2, 4 * MILLISECOND, 0.05};
constexpr Badness GOOD{0.01, 0, 1, 0.05, 4 * MILLISECOND, 0.01};
constexpr Badness INDEPENDENT{0.1, 0, 1, 0, 1, 0.05};
constexpr Badness SHORT_FADES{0.02, 0.002, 10 * MILLISECOND, 0.1, MILLISECOND, 0.05};

/// Where frames overtake others, two windows are fewer than the sequence numbers by at least as many: an old frame cannot be
/// taken for a new one.
std::vector<Case> Cases()
{
    std::vector<Case> cases;
    for (const char* const scheme : {"go-back-n", "sr", "sr-m1", "sr-m2"})
    {
        const Promise promise{true, true};
        cases.push_back({scheme, Arq(scheme, 0.04, 0.001, 100), REORDERING, promise});
        cases.push_back({scheme, Arq(scheme, 0.04, 0.001, 500, 10), GOOD, promise});
        cases.push_back({scheme, Arq(scheme, 0.04, 0.001, 128), LOSSY, promise}); // half of the numbers
        cases.push_back({scheme, Arq(scheme, 0.02, 0.002, 8, 4), LOSSY, promise});
        cases.push_back({scheme, Arq(scheme, 0.003, 0.001, 4, 3), LOSSY, promise}); // expires before any answer
        cases.push_back({scheme, Arq(scheme, 0.02, 0.0005, 1, 3), LOSSY, promise}); // stop and wait
    }
    const auto first = [](Json scheme)
    {
        scheme["repeats_first"] = true;
        return scheme;
    };
    for (const char* const scheme : {"sr", "sr-m1", "sr-m2"})
    {
        cases.push_back({scheme, first(Arq(scheme, 0.04, 0.001, 100)), REORDERING, {true, true}});
        cases.push_back({scheme, first(Arq(scheme, 0.003, 0.001, 4, 3)), LOSSY, {true, true}});
    }
    for (const char* const scheme : {"rlp", "rlp-oos"})
    {
        const Promise promise{scheme == std::string("rlp"), false};
        cases.push_back({scheme, first(RlpOf(scheme, 3, 0.024, 0.05)), REORDERING, promise});
        cases.push_back({scheme, RlpOf(scheme, 3, 0.024, 0.05), REORDERING, promise});
        cases.push_back({scheme, RlpOf(scheme, 1, 0.025, 0.05), LOSSY, promise});
        cases.push_back({scheme, RlpOf(scheme, 1, 0.015, 0.02, 32, 6), INDEPENDENT, promise});
        cases.push_back({scheme, RlpOf(scheme, 4, 0.025, 0.02, 2000, 12), REORDERING, promise});
    }
    // A frame may be overtaken by those of one block, not of two.
    for (const auto& [block, badness] : {std::pair{1, INDEPENDENT}, {8, INDEPENDENT}, {8, SHORT_FADES}, {20, SHORT_FADES}})
    {
        cases.push_back({"xor", {{"scheme", "xor"}, {"block", block}}, badness, {false, false}});
        const Json adaptive{{"scheme", "xor-adaptive"}, {"block", block}, {"inactivity", 0.003}};
        cases.push_back({"xor-adaptive", adaptive, badness, {false, false}});
    }
    return cases;
}

/// What parity can repair of what an end sent: at most one packet of a block.
class Repairable
{
  public:
    void Take(const AirFrame& frame, bool isLost)
    {
        if (frame.type == FrameType::Data)
        {
            m_blockOf[frame.payload.Item()] = m_blocks.size();
            m_lost += isLost ? 1 : 0;
            m_isLost[frame.payload.Item()] = isLost;
        }
        else
        {
            m_blocks.push_back({m_lost, isLost});
            m_lost = 0;
        }
    }

    bool Arrives(std::uint64_t item) const
    {
        const auto block = m_blockOf.at(item);
        return !m_isLost.at(item) || (block < m_blocks.size() && m_blocks[block].lost == 1 && !m_blocks[block].hasLostParity);
    }

  private:
    struct Block
    {
        unsigned lost;
        bool hasLostParity;
    };

    std::vector<Block> m_blocks;
    std::map<std::uint64_t, std::size_t> m_blockOf;
    std::map<std::uint64_t, bool> m_isLost;
    unsigned m_lost{0};
};

/// Both ends send at random; the items of each end ascend.
class RandomRun
{
  public:
    RandomRun(const Case& of, unsigned seed)
        : m_random(seed),
          m_case(of),
          m_channel(m_events, of.badness, m_random),
          m_link(m_events, LINK, Layer({of.scheme}), [this](int from, const AirFrame& frame) { return Pass(from, frame); })
    {
        m_link.keepsDepartures = m_link.keepsDeliveries = false;
        m_link.onDelivery = [this](int end, const Delivery& delivery) { Take(1 - end, delivery.item); };
    }

    void Run(std::uint64_t frames)
    {
        for (const int end : {0, 1})
        {
            SendLater(end);
        }
        while (m_frames < frames)
        {
            m_events.RunUntil(m_events.Now() + SECOND);
            CheckWindows();
            Change();
        }
        m_isOver = true;
        m_events.RunUntil(m_events.Now() + SETTLED);
    }

    void Check()
    {
        for (const int end : {0, 1})
        {
            const auto& statistics = m_link[end].StatisticsOf(0);
            EXPECT_EQ(statistics.offeredPackets, m_offered[end]);
            EXPECT_EQ(m_link[1 - end].StatisticsOf(0).delivered, m_arrived[end].size());
            EXPECT_GT(m_arrived[end].size(), FRAMES_OF_SCHEME / 1000);
            EXPECT_EQ(m_link[end].QueuedBytes(), 0U);
        }
        std::map<std::string, std::uint64_t> lost;
        for (std::uint64_t item = 1; item < m_next; ++item)
        {
            const auto* const settlement = m_link.Settled(item);
            if (settlement == nullptr)
            {
                EXPECT_FALSE(m_case.promise.isComplete) << "packet " << item << " is still under way";
            }
            else if (!settlement->isDelivered)
            {
                ++lost[std::string(DROP_NAMES[static_cast<std::size_t>(settlement->reason)])];
            }
        }
        if (HasParity())
        {
            CheckRepairs();
            return;
        }
        // Nothing is lost but by a full window, or by a limit that was reached.
        lost.erase("window_full");
        if (!m_case.promise.isComplete)
        {
            EXPECT_GT(lost["given_up"], 0U);
            lost.erase("given_up");
            lost.erase("queue_full"); // half of the ring
        }
        EXPECT_TRUE(lost.empty()) << lost.begin()->first << ' ' << lost.begin()->second;
        CheckCounts();
    }

  private:
    void SendLater(int end)
    {
        // Bursts, and pauses in which acknowledgements go by themselves and timers expire.
        const bool pauses = m_random() % 40 == 0;
        const auto later = pauses ? m_random() % (100 * MILLISECOND) : m_random() % (2 * MILLISECOND);
        m_events.At(m_events.Now() + static_cast<std::int64_t>(later),
                    [this, end]
                    {
                        if (!m_isOver)
                        {
                            ++m_offered[end];
                            m_sent[end].push_back(m_next);
                            m_link.Send(end, m_next++, 1 + static_cast<std::uint32_t>(m_random() % LINK.framePayload));
                            SendLater(end);
                        }
                    });
    }

    Fate Pass(int from, const AirFrame& frame)
    {
        ++m_frames;
        EXPECT_EQ(static_cast<bool>(frame.payload), frame.type == FrameType::Data || frame.type == FrameType::Parity);
        const auto fate = m_isOver ? Fate{} : m_channel(from);
        if (HasParity())
        {
            m_repairable[from].Take(frame, fate.isLost);
        }
        return fate;
    }

    bool HasParity() const
    {
        return m_case.scheme.contains("block");
    }

    void CheckRepairs()
    {
        for (const int end : {0, 1})
        {
            EXPECT_GT(m_link[1 - end].StatisticsOf(0).repaired, 100U);
            for (const auto item : m_sent[end])
            {
                ASSERT_EQ(m_arrived[end].contains(item), m_repairable[end].Arrives(item)) << "packet " << item;
            }
        }
    }

    void Take(int from, std::uint64_t item)
    {
        ASSERT_TRUE(m_arrived[from].insert(item).second) << "packet " << item << " came twice";
        if (m_case.promise.inOrder)
        {
            ASSERT_GT(item, m_latest[from]) << "packet " << item << " came out of order";
        }
        m_latest[from] = item;
    }

    /// Other settings at both ends, live.
    void Change()
    {
        auto scheme = m_case.scheme;
        for (const char* const key : {"timer", "ack_delay", "inactivity"})
        {
            if (scheme.contains(key))
            {
                scheme[key] = scheme[key].get<double>() * (1 + static_cast<double>(m_random() % 100) / 500);
            }
        }
        if (scheme.at("scheme").get<std::string>().starts_with("sr"))
        {
            scheme["fresh_acks"] = m_random() % 2 == 0;
        }
        for (const char* const key : {"window", "ring"})
        {
            if (scheme.contains(key))
            {
                const auto most = scheme[key].get<unsigned>();
                scheme[key] = most - m_random() % (key == std::string("ring") ? most / 4 : most);
            }
        }
        auto settings = Layer({scheme});
        settings["timer_factor"] = 1 + static_cast<double>(m_random() % 100) / 100;
        for (const int end : {0, 1})
        {
            m_link[end].Set(settings);
        }
    }

    void CheckWindows()
    {
        for (const int end : {0, 1})
        {
            const auto read = m_link[end].Read()[0];
            if (read.contains("outstanding"))
            {
                ASSERT_LE(read["outstanding"].get<unsigned>(), m_case.scheme["window"].get<unsigned>());
            }
        }
    }

    /// What both ends have counted agrees.
    void CheckCounts()
    {
        for (const int end : {0, 1})
        {
            const auto& sender = m_link[end].StatisticsOf(0);
            const auto& receiver = m_link[1 - end].StatisticsOf(0);
            const auto refused = sender.dropped[static_cast<std::size_t>(Drop::WindowFull)] +
                                 sender.dropped[static_cast<std::size_t>(Drop::QueueFull)];
            EXPECT_EQ(sender.sentData, sender.offeredPackets - refused);
            EXPECT_EQ(receiver.delivered + receiver.lost, sender.sentData);
        }
    }

    Events m_events;
    std::mt19937 m_random;
    Case m_case;
    RandomChannel m_channel;
    TestLink m_link;
    std::uint64_t m_next{1};
    std::uint64_t m_frames{0};
    bool m_isOver{false};
    std::array<std::uint64_t, 2> m_offered{};
    std::array<std::vector<std::uint64_t>, 2> m_sent;
    std::array<Repairable, 2> m_repairable;
    std::array<std::set<std::uint64_t>, 2> m_arrived;
    std::array<std::uint64_t, 2> m_latest{};
};

} // namespace

TEST(RandomChannelTest, EachSchemeKeepsItsPromises)
{
    const auto cases = Cases();
    std::map<std::string, std::uint64_t> count;
    for (const auto& one : cases)
    {
        ++count[one.name];
    }
    unsigned seed = 0;
    for (const auto& one : cases)
    {
        SCOPED_TRACE(one.name + std::string(" ") + one.scheme.dump());
        RandomRun run(one, ++seed);
        run.Run(FRAMES_OF_SCHEME / count[one.name]);
        run.Check();
        if (::testing::Test::HasFatalFailure())
        {
            return;
        }
    }
}
