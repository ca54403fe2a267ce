// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bridge.h"
#include "clock.h"
#include "configuration.h"
#include "lateness.h"
#include "port.h"
#include "port_capture.h"
#include "records.h"

#include <array>

namespace netboxit
{

/// What is between the ports and the segment: frames are named, classified and bridged on their way in, and
/// on their way out copied to the ports of those stations that the segment says they reached. Every copy's
/// fate is counted and recorded. Does not know whether time is real.
class Netbox : public Fates, public Frames
{
  public:
    Netbox(const Configuration& configuration,
           std::vector<std::unique_ptr<Port>> ports,
           EventQueue& events,
           const Clock& clock);
    ~Netbox() override;

    /// A slot to receive a frame into, or null when the netbox holds as many frames as it can.
    Slot* TakeSlot();
    /// A received frame enters the segment now (in simulated time), which is so many ns after its arrival. The
    /// netbox takes the slot.
    void Enter(StationId from, const Reception& reception, std::int64_t late);
    /// A received frame is thrown away because the netbox is behind the clock, or full. Its slot stays with
    /// the caller.
    void DropForOverload(StationId from);

    /// Hands over the delivered frames that are due.
    void HandOver();

    /// When the next delivered frame is due (ns of simulated time); the latest time there is when none waits.
    std::int64_t NextDeparture() const;

    /// How many delivered frames wait for HandOver().
    std::size_t Waiting() const
    {
        return m_waiting;
    }

    /// Frames inside, and the simulated time when the last one left.
    std::uint32_t FramesInside() const
    {
        return m_slots.Admitted();
    }

    std::int64_t LastLeft() const
    {
        return m_lastLeft;
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
        return m_lateness;
    }

    RecordFile& Records()
    {
        return m_records;
    }

    PortCaptures& Captures()
    {
        return m_captures;
    }

    /// What the control method `statistics` answers.
    Json Statistics();

    /// Destroys ns-3's world, then the segment. No frame may enter any more.
    void Close();

    void Deliver(SlotId frame, StationId station) override;
    void Lose(SlotId frame, StationId station, Loss reason) override;
    void LoseAll(SlotId frame, Loss reason) override;

    bool Emit(StationId station, Bytes frame) override;
    Bytes Read(SlotId frame) const override;
    std::int64_t ArrivedAt(SlotId frame) const override;
    void Absorb(SlotId frame) override;
    std::int64_t Behind() const override;
    std::int64_t StampOf(std::int64_t time) const override;

  private:
    struct Counters
    {
        std::uint64_t delivered{};
        std::array<std::uint64_t, static_cast<std::size_t>(Loss::Unknown) + 1> lost{};
        std::uint64_t filtered{};    ///< destination behind the station it came from
        std::uint64_t linkControl{}; ///< PAUSE and the like
        std::uint64_t duplicates{};  ///< the segment spoke of a copy that was settled already
        std::uint64_t emitted{};     ///< began in the segment
        std::uint64_t absorbed{};    ///< ended in the segment
    };

    void EnterEnd(StationId from, const Reception& reception, std::int64_t late);
    void Settle(Slot& slot, StationId station, Loss reason);
    void Record(
        const Slot& slot, StationId station, std::uint8_t fate, std::int64_t outStamp, std::int64_t lateness);
    void ReleaseIfDone(Slot& slot);
    void ExpectExpiry();
    void Expire();
    void HandOver(StationId station);

    std::vector<std::unique_ptr<Port>> m_ports;
    EventQueue& m_events;
    const Clock& m_clock;
    const Classifier m_classifier;
    Bridge m_bridge;
    SlotTable m_slots;
    Lateness m_lateness;
    RecordFile m_records;
    PortCaptures m_captures;
    std::vector<std::vector<Departure>> m_departures; ///< by station
    std::size_t m_waiting{0};
    std::int64_t m_lastLeft{0};
    bool m_expiryExpected{false};
    Counters m_counters;
    std::unique_ptr<Segment> m_segment;
};

} // namespace netboxit
