// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "path_delay.h"
#include "return_channel.h"
#include "terminal_link.h"

namespace netboxit
{

/// A satellite link between a gateway (hub) and its terminals.
class SatelliteSegment : public Segment
{
  public:
    explicit SatelliteSegment(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Begin() override;
    std::vector<Unlinked> WithoutLink() const override;
    std::optional<LinkState> StateOf(StationId station) const override;
    void Reset() override;
    std::int64_t Lead() const override;

  private:
    // What is built from the parameters: building.cc.
    void BuildStations(const SegmentSetup& setup);
    void BuildLinks(const Json& parameters);
    void BuildReturnChannel(const SegmentSetup& setup);
    std::unique_ptr<Sender> MakeForward(const SegmentSetup& setup);
    std::unique_ptr<Sender> MakeReturn(StationId terminal, const SegmentSetup& setup);

    // The way of a packet: segment.cc.
    /// Queues a packet at `sender`, which is its origin, or the gateway that relays it.
    void Send(StationId sender, const Packet& packet);
    void Depart(StationId sender, const Packet& packet, ns3::Time sent);
    void Arrive(StationId sender, const Packet& packet);
    /// A terminal's packet at the hub of a star.
    void ArriveAtHub(StationId terminal, const Packet& packet);
    void ArriveAt(StationId receiver, StationId sender, const Packet& packet);
    bool IsCorrupted(StationId sender, StationId receiver, const Packet& packet);
    /// Nobody whom this packet is for can be reached from there.
    bool IsCutOff(StationId sender, const Packet& packet) const;
    void LoseOne(StationId sender, const Packet& packet, StationId receiver, Loss reason);
    /// The packet will reach none of its destinations that it has not reached yet.
    void Lose(StationId sender, const Packet& packet, Loss reason);
    ns3::Time DelayBetween(StationId sender, StationId receiver) const;
    /// How a packet from the hub must be coded so that all who are to have it can read it.
    std::size_t ForwardCoding(const Packet& packet) const;

    // What the link is like, over time: conditions.cc.
    /// Looks at all skies, now and whenever one of them changes.
    void Sample();
    void MeasureAll();
    void Adapt(StationId terminal, AdaptiveCoding TerminalLink::* direction);
    void UseProfile(StationId terminal, AdaptiveCoding TerminalLink::* direction, std::size_t profile);
    /// Finds who can be reached, and announces changes.
    void UpdateLinks();
    /// Why a terminal cannot be reached; null when it can.
    const char* CauseOfLoss(StationId terminal) const;
    void ScheduleGap();
    void SetGap(bool gap);
    void Handover(std::uint64_t number);
    /// Es/N0 at a receiver, dB.
    double SignalAt(StationId sender, StationId receiver) const;
    double ReturnErrorRate(StationId terminal, const Profile& profile) const;
    /// bit/s that the return carrier of a terminal carries, and the forward carrier to it; 0 while it cannot be reached.
    double ReturnRate(StationId terminal) const;
    double ForwardRate(StationId terminal) const;

    // Live changes: live_parameters.cc.
    void SetOfLink(std::string_view parameter, const Json& value);
    void SetOfStation(StationId station, std::string_view parameter, const Json& value);
    void SetReturnRate(double rate);

    bool IsTerminal(StationId station) const
    {
        return station != m_gateway;
    }
    TerminalLink& Link(StationId terminal)
    {
        return *m_links[terminal];
    }
    const TerminalLink& Link(StationId terminal) const
    {
        return *m_links[terminal];
    }

    Fates& m_fates;
    Announcements& m_announcements;
    StationId m_gateway{};
    bool m_mesh;
    bool m_shared;
    double m_packetErrorRate;
    double m_reaction; ///< s from a measurement until it is sent back
    bool m_outage;
    bool m_gap{};
    PathDelay m_delay;
    Sky m_sky;
    ProfileSet m_forwardProfiles;
    ProfileSet m_returnProfiles;
    Profile m_controlProfile; ///< of control bursts
    std::vector<Station> m_stations;
    std::vector<std::optional<TerminalLink>> m_links; ///< none of the gateway
    std::vector<StationId> m_terminals;
    std::vector<std::string> m_names;
    std::vector<std::string> m_classes;
    std::unique_ptr<ReturnChannel> m_returnChannel; ///< when terminals share one
    ns3::EventId m_sampling;
    ns3::EventId m_nextGap;
    ns3::EventId m_nextHandover;
    bool m_began{};
};

} // namespace netboxit
