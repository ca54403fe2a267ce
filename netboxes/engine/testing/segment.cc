// SPDX-License-Identifier: GPL-2.0-or-later
#include "segment.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// A segment for tests of the engine: every frame arrives after a fixed `delay` (s); those of traffic class
/// `lost` are lost on air, those of class `forgotten` are never heard of again, and each copy of those of
/// class `doubled` arrives twice; those of class `repeated` are followed by another frame like them, those of class `damaged` arrive with their
/// last byte inverted; of those of class `marked` the copy for the first other station is marked by ECN; those of class `absorbed` end
/// here, and those of class `echoed` too, but a copy leaves at once at the port that they came from. With `proxy` it has the engine answer for neighbours, unless they are behind the
/// station `unreachable`. With `end` it is an end of the network. An event every `tick` (s, 0: none) loads the loop; `limit` is the longest
/// layer-3 packet (bytes) that it carries; events may run by `lead` (s) before their time.
class Loopwire : public Segment
{
  public:
    explicit Loopwire(const SegmentSetup& setup)
        : m_stations(setup.stations), m_classes(setup.classes), m_fates(setup.fates), m_frames(setup.frames),
          m_end(setup.parameters.value("end", false)), m_proxy(setup.parameters.value("proxy", false)),
          m_unreachable(setup.parameters.value("unreachable", "")),
          m_delay(ns3::Seconds(setup.parameters.value("delay", 0.0))),
          m_tick(ns3::Seconds(setup.parameters.value("tick", 0.0))),
          m_limit(setup.parameters.value("limit", 65535u)),
          m_lead(ns3::Seconds(setup.parameters.value("lead", 0.0)))
    {
        if (m_tick.IsStrictlyPositive())
        {
            Tick();
        }
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override
    {
        m_bytes += frame.length;
        const auto& name = m_classes[frame.trafficClass];
        if (name == "absorbed" || name == "echoed")
        {
            m_refused += name == "echoed" && !m_frames.Emit(from, m_frames.Read(frame.slot));
            m_latest = m_frames.ArrivedAt(frame.slot);
            m_frames.Absorb(frame.slot);
        }
        else if (frame.length > m_limit || name == "lost")
        {
            m_fates.LoseAll(frame.slot, name == "lost" ? Loss::OnAir : Loss::Unsupported);
        }
        else if (name != "forgotten")
        {
            if (name == "damaged")
            {
                m_frames.Rewrite(frame.slot).back() ^= 0xff;
            }
            else if (name == "marked")
            {
                m_frames.MarkCongestion(frame.slot, static_cast<StationId>(from == 0 ? 1 : 0));
            }
            else if (name == "repeated")
            {
                const StationId station = to.station.value_or(from == 0 ? 1 : 0);
                const auto other = m_frames.Duplicate(frame.slot, station).value();
                ns3::Simulator::Schedule(m_delay + m_delay,
                                         [this, station, other] { m_fates.Deliver(other, station); });
            }
            const unsigned copies = name == "doubled" ? 2 : 1;
            const auto token = MakeToken(frame);
            for (unsigned copy = 0; copy < copies; ++copy)
            {
                ns3::Simulator::Schedule(m_delay, [this, from, to, token] { Arrive(from, to, token); });
            }
        }
    }

    /// The delay: nothing else can be changed.
    void Set(std::string_view, const Json& value) override
    {
        m_delay = ns3::Seconds(value.get<double>());
    }

    Json Read() const override
    {
        return {{"stations", Json::object()}, {"bytes", m_bytes}, {"refused", m_refused}, {"latest", m_latest}};
    }

    std::int64_t Lead() const override
    {
        return m_lead.GetNanoSeconds();
    }

    void Reset() override
    {
        m_bytes = 0;
    }

    bool IsEnd() const override
    {
        return m_end;
    }

    bool ProxiesNeighbours() const override
    {
        return m_proxy;
    }

    bool Connects(StationId from, StationId to) const override
    {
        return m_stations[from] != m_unreachable && m_stations[to] != m_unreachable;
    }

  private:
    void Arrive(StationId from, Destination to, const ns3::Ptr<const ns3::Packet>& token)
    {
        const auto slot = ReadToken(token).value();
        for (StationId station = 0; station < m_stations.size(); ++station)
        {
            if (to.IsEveryone() ? station != from : station == *to.station)
            {
                m_fates.Deliver(slot, station);
            }
        }
    }

    void Tick()
    {
        ns3::Simulator::Schedule(m_tick, [this] { Tick(); });
    }

    std::vector<std::string> m_stations;
    std::vector<std::string> m_classes;
    Fates& m_fates;
    Frames& m_frames;
    bool m_end;
    bool m_proxy;
    std::string m_unreachable;
    ns3::Time m_delay;
    ns3::Time m_tick;
    std::uint32_t m_limit;
    ns3::Time m_lead;
    std::uint64_t m_bytes{0};
    std::uint64_t m_refused{0};
    std::int64_t m_latest{0};
};

} // namespace

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<Loopwire>(setup);
}

} // namespace netboxit
