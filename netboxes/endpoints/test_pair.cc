// SPDX-License-Identifier: GPL-2.0-or-later
//
// endpoints-pair CONFIGURATION.json: two endpoints segments in one process, each with one station, joined by a bottleneck with a
// rate, a delay, a drop-tail queue and loss. Writes what each has counted, what they announced, and a capture of both directions.

#include "../engine/pcapng.h"
#include "../engine/segment.h"

#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>

namespace netboxit
{

namespace
{

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

/// One end of the link: what its segment sends waits for the bottleneck, and arrives at the other end.
class LinkEnd : public Frames, public Announcements, public Fates
{
  public:
    LinkEnd(const Json& link, std::string name, PcapngWriter& capture, Json& announced, std::int64_t stream)
        : m_rate(link.at("rate")), m_delay(ns3::Seconds(link.at("delay_s").get<double>())), m_room(link.at("queue")),
          m_loss(link.at("loss")), m_name(std::move(name)), m_capture(capture), m_announced(announced),
          m_chance(ns3::CreateObject<ns3::UniformRandomVariable>())
    {
        m_chance->SetStream(stream);
    }

    void Join(LinkEnd& other)
    {
        m_other = &other;
    }

    void Make(const Json& parameters)
    {
        m_segment = MakeSegment({{m_name}, {"default"}, parameters, *this, *this, *this});
    }

    Segment& Inside()
    {
        return *m_segment;
    }

    void End()
    {
        m_segment.reset();
    }

    bool Emit(StationId, Bytes frame) override
    {
        m_capture.Write(Now(), frame);
        const auto busy = std::max(m_free, Now());
        if (static_cast<double>(busy - Now()) * m_rate / 8e9 > m_room || m_chance->GetValue() < m_loss)
        {
            ++m_dropped;
            return true;
        }
        m_free = busy + std::llround(static_cast<double>(frame.size()) * 8e9 / m_rate);
        std::vector<std::uint8_t> copy(frame.begin(), frame.end());
        ns3::Simulator::Schedule(ns3::NanoSeconds(m_free - Now()) + m_delay,
                                 [this, copy = std::move(copy)] { m_other->Arrive(copy); });
        return true;
    }

    Bytes Read(SlotId) const override
    {
        return m_arriving;
    }

    std::span<std::uint8_t> Rewrite(SlotId) override
    {
        return {};
    }

    std::optional<SlotId> Duplicate(SlotId, StationId) override
    {
        return std::nullopt;
    }

    std::int64_t ArrivedAt(SlotId) const override
    {
        return Now();
    }

    void Absorb(SlotId) override
    {
    }

    std::int64_t Behind() const override
    {
        return 0;
    }

    std::int64_t StampOf(std::int64_t time) const override
    {
        return time;
    }

    void Deliver(SlotId, StationId) override
    {
    }

    void Lose(SlotId, StationId, Loss) override
    {
    }

    void LoseAll(SlotId, Loss) override
    {
    }

    void Announce(std::string_view event, std::optional<StationId>, const Json& details) override
    {
        m_announced.push_back({{"at_s", static_cast<double>(Now()) / 1e9}, {"event", event}, {"details", details}});
    }

    std::uint64_t Dropped() const
    {
        return m_dropped;
    }

  private:
    void Arrive(Bytes frame)
    {
        m_arriving = frame;
        m_segment->Transmit(0, {}, {});
    }

    double m_rate;
    ns3::Time m_delay;
    double m_room;
    double m_loss;
    std::string m_name;
    PcapngWriter& m_capture;
    Json& m_announced;
    ns3::Ptr<ns3::UniformRandomVariable> m_chance;
    LinkEnd* m_other{nullptr};
    std::unique_ptr<Segment> m_segment;
    Bytes m_arriving;
    std::int64_t m_free{0};
    std::uint64_t m_dropped{0};
};

int Run(const std::string& path)
{
    const auto configuration = Json::parse(std::ifstream(path));
    ns3::RngSeedManager::SetSeed(1);
    PcapngWriter capture(configuration.at("capture"));
    auto announced = Json::array();
    const auto& link = configuration.at("link");
    LinkEnd left(link, "left", capture, announced, 1);
    LinkEnd right(link, "right", capture, announced, 2);
    left.Join(right);
    right.Join(left);
    left.Make(configuration.at("left"));
    right.Make(configuration.at("right"));
    left.Inside().Begin();
    right.Inside().Begin();
    ns3::Simulator::Stop(ns3::Seconds(configuration.at("duration_s").get<double>()));
    ns3::Simulator::Run();
    const Json result{{"left", left.Inside().Read()},
                      {"right", right.Inside().Read()},
                      {"announced", announced},
                      {"dropped", {left.Dropped(), right.Dropped()}}};
    std::ofstream(configuration.at("result").get<std::string>()) << result.dump(1);
    capture.Finish();
    ns3::Simulator::Destroy();
    left.End();
    right.End();
    return 0;
}

} // namespace

} // namespace netboxit

int main(int argc, char** argv)
{
    try
    {
        return netboxit::Run(argv[argc - 1]);
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
