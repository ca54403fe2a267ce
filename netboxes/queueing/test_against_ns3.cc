// SPDX-License-Identifier: GPL-2.0-or-later
/// The same arrivals through a discipline of ours and through ns-3's of the same name: by the same law, though not by the same numbers.
/// ns-3's CoDel, like Linux's, approximates the square root of its control law by a step of Newton's method, which has the second drop
/// of a dropping state come after half an interval, where RFC 8289 says 0.71; and each draws its own random numbers.
#include "chance.h"
#include "make_discipline.h"

#include <gtest/gtest.h>
#include <ns3/boolean.h>
#include <ns3/codel-queue-disc.h>
#include <ns3/data-rate.h>
#include <ns3/double.h>
#include <ns3/enum.h>
#include <ns3/fq-cobalt-queue-disc.h>
#include <ns3/fq-codel-queue-disc.h>
#include <ns3/ipv4-queue-disc-item.h>
#include <ns3/pie-queue-disc.h>
#include <ns3/queue-size.h>
#include <ns3/red-queue-disc.h>
#include <ns3/udp-header.h>
#include <ns3/uinteger.h>

#include <random>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::uint32_t BYTES = 1000; ///< of each packet, with headers
constexpr double RATE = 10e6;
constexpr std::int64_t SENDING = 800'000; ///< ns, of a packet
constexpr std::int64_t LASTS = 200'000'000'000;
constexpr std::size_t FLOWS = 4;

/// What became of the packets.
struct Outcome
{
    double lost{};                    ///< share of what came
    double waitMean{};                ///< s
    double waitLong{};                ///< s, 99th percentile
    std::array<double, FLOWS> sent{}; ///< share of each flow
};

/// A packet comes: when (ns), and of which flow. Poisson, three per cent more than the line sends; the first flow has half of it.
std::vector<std::pair<std::int64_t, std::uint32_t>> Arrivals()
{
    std::mt19937_64 draw{7};
    std::exponential_distribution<double> gap{1.03 * RATE / (8.0 * BYTES)};
    std::discrete_distribution<std::uint32_t> flow{3, 1, 1, 1};
    std::vector<std::pair<std::int64_t, std::uint32_t>> found;
    for (double at = gap(draw); at < LASTS / 1e9; at += gap(draw))
    {
        found.emplace_back(static_cast<std::int64_t>(at * 1e9), flow(draw));
    }
    return found;
}

/// A transmitter with a queue in front of it, in ns-3's simulated time.
class Transmitter
{
  public:
    virtual ~Transmitter() = default;

    Outcome Run()
    {
        const auto arrivals = Arrivals();
        for (const auto& [at, flow] : arrivals)
        {
            ns3::Simulator::Schedule(ns3::NanoSeconds(at), [this, flow = flow] {
                Enqueue(flow);
                Send();
            });
        }
        ns3::Simulator::Stop(ns3::NanoSeconds(LASTS));
        ns3::Simulator::Run();
        ns3::Simulator::Destroy();
        Outcome outcome;
        outcome.lost = 1.0 - static_cast<double>(m_waits.size() + Waiting()) / static_cast<double>(arrivals.size());
        outcome.waitMean = std::reduce(m_waits.begin(), m_waits.end()) / static_cast<double>(m_waits.size());
        const auto late = m_waits.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(m_waits.size()));
        std::ranges::nth_element(m_waits, late);
        outcome.waitLong = *late;
        for (std::size_t flow = 0; flow < FLOWS; ++flow)
        {
            outcome.sent[flow] = static_cast<double>(m_sent[flow]) / static_cast<double>(m_waits.size());
        }
        return outcome;
    }

  protected:
    /// When a packet came, and its flow.
    using Came = std::pair<std::int64_t, std::uint32_t>;

    virtual void Enqueue(std::uint32_t flow) = 0;
    virtual std::optional<Came> Dequeue() = 0;
    virtual std::size_t Waiting() const = 0;

    static std::int64_t Now()
    {
        return ns3::Simulator::Now().GetNanoSeconds();
    }

  private:
    void Send()
    {
        if (m_busy)
        {
            return;
        }
        if (const auto next = Dequeue())
        {
            m_busy = true;
            m_waits.push_back(static_cast<double>(Now() - next->first) / 1e9);
            ++m_sent[next->second];
            ns3::Simulator::Schedule(ns3::NanoSeconds(SENDING), [this] {
                m_busy = false;
                Send();
            });
        }
    }

    bool m_busy{false};
    std::vector<double> m_waits;
    std::array<std::uint64_t, FLOWS> m_sent{};
};

class OurTransmitter : public Transmitter
{
  public:
    explicit OurTransmitter(const Json& queue)
        : m_discipline(MakeDiscipline(queue, ChanceOf(1), [](const queueing::Waiting&, Loss) {}, {}))
    {
    }

  private:
    void Enqueue(std::uint32_t flow) override
    {
        m_flows.push_back(flow);
        m_discipline->Enqueue({static_cast<std::uint32_t>(m_flows.size() - 1), BYTES, Now(), flow}, Now(), RATE);
    }

    std::optional<Came> Dequeue() override
    {
        const auto frame = m_discipline->Dequeue(Now());
        return frame ? std::optional<Came>({frame->entered, m_flows[frame->item]}) : std::nullopt;
    }

    std::size_t Waiting() const override
    {
        return m_discipline->Packets();
    }

    std::unique_ptr<Discipline> m_discipline;
    std::vector<std::uint32_t> m_flows;
};

class TheirTransmitter : public Transmitter
{
  public:
    explicit TheirTransmitter(ns3::Ptr<ns3::QueueDisc> disc)
        : m_disc(std::move(disc))
    {
        m_disc->Initialize();
    }

    ~TheirTransmitter() override
    {
        m_disc->Dispose();
    }

  private:
    void Enqueue(std::uint32_t flow) override
    {
        ns3::UdpHeader udp;
        udp.SetSourcePort(static_cast<std::uint16_t>(5000 + flow));
        udp.SetDestinationPort(6000);
        ns3::Ipv4Header ip;
        ip.SetSource("10.0.0.1");
        ip.SetDestination("10.0.0.2");
        ip.SetProtocol(17);
        const auto packet = ns3::Create<ns3::Packet>(BYTES - udp.GetSerializedSize() - ip.GetSerializedSize());
        packet->AddHeader(udp);
        ip.SetPayloadSize(static_cast<std::uint16_t>(packet->GetSize()));
        const auto item = ns3::Create<ns3::Ipv4QueueDiscItem>(packet, ns3::Address(), 0x0800, ip);
        item->SetTimeStamp(ns3::Simulator::Now());
        m_came[packet->GetUid()] = {Now(), flow};
        m_disc->Enqueue(item);
    }

    std::optional<Came> Dequeue() override
    {
        const auto item = m_disc->Dequeue();
        return item ? std::optional(m_came.at(item->GetPacket()->GetUid())) : std::nullopt;
    }

    std::size_t Waiting() const override
    {
        return m_disc->GetNPackets();
    }

    ns3::Ptr<ns3::QueueDisc> m_disc;
    std::map<std::uint64_t, Came> m_came;
};

/// Both within this share of ns-3's.
void ExpectAlike(const Outcome& ours, const Outcome& theirs, double share)
{
    EXPECT_NEAR(ours.lost, theirs.lost, share * theirs.lost);
    EXPECT_NEAR(ours.waitMean, theirs.waitMean, share * theirs.waitMean);
    EXPECT_NEAR(ours.waitLong, theirs.waitLong, share * theirs.waitLong);
    for (std::size_t flow = 0; flow < FLOWS; ++flow)
    {
        EXPECT_NEAR(ours.sent[flow], theirs.sent[flow], 0.01) << "flow " << flow;
    }
}

} // namespace

TEST(AgainstNs3, Codel)
{
    const auto theirs = ns3::CreateObject<ns3::CoDelQueueDisc>();
    theirs->SetAttribute("MaxSize", ns3::QueueSizeValue(ns3::QueueSize("1000p")));
    ExpectAlike(OurTransmitter({{"discipline", "codel"}, {"target", 0.005}, {"interval", 0.1}, {"packets", 1000}}).Run(),
                TheirTransmitter(theirs).Run(),
                0.1);
}

TEST(AgainstNs3, FqCodel)
{
    const auto theirs = ns3::CreateObject<ns3::FqCoDelQueueDisc>();
    theirs->SetQuantum(1514);
    theirs->SetAttribute("MaxSize", ns3::QueueSizeValue(ns3::QueueSize("1000p")));
    ExpectAlike(OurTransmitter({{"discipline", "fq-codel"},
                                {"target", 0.005},
                                {"interval", 0.1},
                                {"flows", 1024},
                                {"quantum", 1514},
                                {"packets", 1000}})
                    .Run(),
                TheirTransmitter(theirs).Run(),
                0.05);
}

TEST(AgainstNs3, CakeByFlows)
{
    // ns-3 has no CAKE, but flows in turns, each under COBALT.
    const auto theirs = ns3::CreateObject<ns3::FqCobaltQueueDisc>();
    theirs->SetQuantum(1514);
    theirs->SetAttribute("MaxSize", ns3::QueueSizeValue(ns3::QueueSize("1000p")));
    ExpectAlike(OurTransmitter({{"discipline", "cake"},
                                {"target", 0.005},
                                {"interval", 0.1},
                                {"flows", 1024},
                                {"quantum", 1514},
                                {"isolation", "flows"},
                                {"packets", 1000}})
                    .Run(),
                TheirTransmitter(theirs).Run(),
                0.1);
}

TEST(AgainstNs3, Red)
{
    const auto theirs = ns3::CreateObject<ns3::RedQueueDisc>();
    theirs->SetAttribute("MaxSize", ns3::QueueSizeValue(ns3::QueueSize("1000p")));
    theirs->SetAttribute("MinTh", ns3::DoubleValue(50));
    theirs->SetAttribute("MaxTh", ns3::DoubleValue(100));
    theirs->SetAttribute("LInterm", ns3::DoubleValue(50));
    theirs->SetAttribute("QW", ns3::DoubleValue(0.002));
    theirs->SetAttribute("Gentle", ns3::BooleanValue(true));
    theirs->SetAttribute("Wait", ns3::BooleanValue(false)); // of its own; the paper has no such thing
    theirs->SetAttribute("MeanPktSize", ns3::UintegerValue(BYTES));
    theirs->SetAttribute("LinkBandwidth", ns3::DataRateValue(ns3::DataRate("10Mbps")));
    ExpectAlike(OurTransmitter({{"discipline", "red"},
                                {"minimum", 50},
                                {"maximum", 100},
                                {"probability", 0.02},
                                {"weight", 0.002},
                                {"packets", 1000}})
                    .Run(),
                TheirTransmitter(theirs).Run(),
                0.05);
}

TEST(AgainstNs3, Pie)
{
    const auto theirs = ns3::CreateObject<ns3::PieQueueDisc>();
    theirs->SetAttribute("MaxSize", ns3::QueueSizeValue(ns3::QueueSize("1000p")));
    theirs->SetAttribute("MeanPktSize", ns3::UintegerValue(BYTES));
    theirs->SetAttribute("QueueDelayReference", ns3::TimeValue(ns3::MilliSeconds(15)));
    theirs->SetAttribute("UseDerandomization", ns3::BooleanValue(true));
    ExpectAlike(OurTransmitter({{"discipline", "pie"},
                                {"target", 0.015},
                                {"interval", 0.015},
                                {"burst", 0.15},
                                {"packets", 1000}})
                    .Run(),
                TheirTransmitter(theirs).Run(),
                0.05);
}
