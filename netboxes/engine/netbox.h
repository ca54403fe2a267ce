// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bridge.h"
#include "frames_in_flight.h"
#include "journal.h"
#include "link_watch.h"
#include "neighbour_proxy.h"

namespace netboxit
{

/// What is between the ports and the segment: frames are named, classified and bridged on their way in; what
/// becomes of their copies is for FramesInFlight to see to. Does not know whether time is real.
class Netbox : public Frames
{
  public:
    Netbox(const Configuration& configuration,
           SegmentMaker makeSegment,
           std::vector<std::unique_ptr<Port>> ports,
           EventQueue& events,
           const Clock& clock);
    ~Netbox() override;

    /// A slot to receive a frame into, or null when the netbox holds as many frames as it can.
    Slot* TakeSlot()
    {
        return m_inFlight.Take();
    }

    /// A received frame enters the segment now (in simulated time), which is so many ns after its arrival. The
    /// netbox takes the slot.
    void Enter(StationId from, const Reception& reception, std::int64_t late);
    /// A received frame is thrown away because the netbox is behind the clock, or full. Its slot stays with
    /// the caller.
    void DropForOverload(StationId from);

    /// Hands over the delivered frames that are due.
    void HandOver()
    {
        m_inFlight.HandOver();
    }

    /// When the next delivered frame is due (ns of simulated time); the latest time there is when none waits.
    std::int64_t NextDeparture() const
    {
        return m_inFlight.NextDeparture();
    }

    /// `notice` is called whenever a delivered frame waits for HandOver() and none has before.
    void NoticeWaiting(std::function<void()> notice)
    {
        m_inFlight.NoticeWaiting(std::move(notice));
    }

    /// How many delivered frames wait for HandOver().
    std::size_t Waiting() const
    {
        return m_inFlight.Waiting();
    }

    /// Frames inside, and the simulated time when the last one left.
    std::uint32_t FramesInside() const
    {
        return m_inFlight.Inside();
    }

    std::int64_t LastLeft() const
    {
        return m_inFlight.LastLeft();
    }

    std::span<const std::unique_ptr<Port>> Ports() const
    {
        return m_ports;
    }

    Segment& TheSegment()
    {
        return *m_segment;
    }

    Lateness& TheLateness()
    {
        return m_inFlight.TheLateness();
    }

    RecordFile& Records()
    {
        return m_inFlight.Records();
    }

    Journal& TheJournal()
    {
        return m_journal;
    }

    /// The network's time begins now: statistics count from now on, and the journal samples them at each `interval` (ns).
    void Begin(std::optional<std::int64_t> interval);

    /// Changes a live parameter within its limits, and has it in the journal; throws as Segment::Set does.
    void Set(const std::string& parameter, const Json& value);

    PortCaptures& Captures()
    {
        return m_captures;
    }

    /// What of the statistics takes next to no time to say, for whoever asks every second.
    Json Counters();
    /// What the control method `statistics` answers.
    Json Statistics();

    /// Destroys ns-3's world, then the segment. No frame may enter any more.
    void Close();

    bool Emit(StationId station, Bytes frame) override;
    Bytes Read(SlotId frame) const override;
    std::span<std::uint8_t> Rewrite(SlotId frame) override;
    bool MarkCongestion(SlotId frame, std::optional<StationId> station) override;
    std::optional<SlotId> Duplicate(SlotId frame, StationId station) override;
    std::int64_t ArrivedAt(SlotId frame) const override;
    void Absorb(SlotId frame) override;
    std::int64_t Behind() const override;
    std::int64_t StampOf(std::int64_t time) const override;

  private:
    /// What the journal has of its statistics at an interval: the segment's, and of each station the stages'.
    Json Sample() const;
    /// What the proxy makes of a frame that goes to `to`; true when the frame ends here.
    bool EndsAtProxy(const Slot& slot, const Headers& headers, Destination& to);
    /// Looks at the links from now on, where somebody wants to know what they are like.
    void WatchLinks();
    bool TellLink(StationId station, const LinkState& state, bool isNew);
    /// The stations that a frame which has just entered goes to.
    void Await(Slot& slot, Destination to) const;

    std::vector<std::unique_ptr<Port>> m_ports;
    EventQueue& m_events;
    const Clock& m_clock;
    Classifier m_classifier;
    Bridge m_bridge;
    PortCaptures m_captures;
    std::vector<std::string> m_stations; ///< their names
    PortStages m_stages;
    FramesInFlight m_inFlight;
    Journal m_journal;
    LiveLimits m_live;
    const bool m_telemetry;         ///< nodes are told about their links
    std::uint64_t m_told{0};        ///< frames that told them
    std::uint64_t m_filtered{0};    ///< frames whose destination is behind the station they came from
    std::uint64_t m_linkControl{0}; ///< PAUSE and the like, and telemetry, which only the netbox itself may send
    std::unique_ptr<Segment> m_segment;
    std::optional<NeighbourProxy> m_neighbours; ///< where the segment wants one
    std::optional<LinkWatch> m_watch;           ///< where nodes are told about their links, or stages follow them
};

} // namespace netboxit
