// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "clock.h"
#include "configuration.h"
#include "event_queue.h"
#include "lateness.h"
#include "loss_counts.h"
#include "port.h"
#include "port_capture.h"
#include "port_stages.h"
#include "records.h"
#include "segment.h"

#include <functional>

namespace netboxit
{

/// The frames inside a netbox, and the copies of them that are on their way: what the segment says of each
/// becomes a frame that leaves at a port, or a loss, and is counted and recorded.
class FramesInFlight : public Fates
{
  public:
    FramesInFlight(const Configuration& configuration,
                   std::span<const std::unique_ptr<Port>> ports,
                   EventQueue& events,
                   const Clock& clock,
                   PortCaptures& captures,
                   PortStages& stages);

    /// A slot to put a frame into, or null when the netbox holds as many frames as it can.
    Slot* Take()
    {
        return m_slots.Take();
    }

    /// The frame in a taken slot does not enter after all.
    void GiveBack(Slot& slot)
    {
        m_slots.Release(slot);
    }

    /// The frame in a taken slot is inside from now on, until nothing is outstanding of it.
    void Admit(Slot& slot)
    {
        m_slots.Admit(slot, m_events.NowNs());
        if (!m_expiryExpected)
        {
            ExpectExpiry();
        }
    }

    /// The frame in a taken slot begins here: it leaves at `station` now.
    void Begin(Slot& slot, StationId station);
    /// The frame ends here: no copy goes on.
    void Absorb(SlotId frame);

    /// As Frames::MarkCongestion().
    bool MarkCongestion(SlotId frame, std::optional<StationId> station);
    /// Another frame like this one, which only `station` awaits; none when the name is stale or the netbox is full.
    std::optional<SlotId> Duplicate(SlotId frame, StationId station);

    /// Null when the name is stale.
    Slot* Find(SlotId frame)
    {
        return m_slots.Find(frame);
    }

    const Slot* Find(SlotId frame) const
    {
        return m_slots.Find(frame);
    }

    void Deliver(SlotId frame, StationId station) override;
    void Lose(SlotId frame, StationId station, Loss reason) override;
    void LoseAll(SlotId frame, Loss reason) override;

    /// Hands over the delivered frames that are due.
    void HandOver();
    /// When the next delivered frame is due (ns of simulated time); the latest time there is when none waits.
    std::int64_t NextDeparture() const;

    /// `notice` is called whenever a delivered frame waits for HandOver() and none has before.
    void NoticeWaiting(std::function<void()> notice)
    {
        m_notice = std::move(notice);
    }

    /// How many delivered frames wait for HandOver().
    std::size_t Waiting() const
    {
        return m_waiting;
    }

    /// Frames inside, and the simulated time when the last one left.
    std::uint32_t Inside() const
    {
        return m_slots.Admitted();
    }

    std::int64_t LastLeft() const
    {
        return m_lastLeft;
    }

    Lateness& TheLateness()
    {
        return m_lateness;
    }

    RecordFile& Records()
    {
        return m_records;
    }

    /// What became of them, as `frames` in the statistics.
    Json Read() const;

  private:
    struct Counters
    {
        std::uint64_t delivered{};
        LossCounts lost;
        std::uint64_t duplicates{}; ///< the segment spoke of a copy that was settled already
        std::uint64_t repeated{};   ///< further frames, made of others by the segment
        std::uint64_t emitted{};    ///< began in the segment
        std::uint64_t absorbed{};   ///< ended in the segment
        std::uint64_t marked{};     ///< copies that were marked as having experienced congestion, each as often as it was
    };

    /// The same frame in a slot of its own, which nobody awaits; null when the netbox is full.
    Slot* CopyOf(const Slot& original);
    /// A frame that no copy shares any more is the one that is delivered.
    static bool IsLast(const Slot& slot)
    {
        return slot.Outstanding() == 0 && slot.departing == 0;
    }

    /// The frame with Congestion Experienced, for a copy that is delivered while others stay as they are; without it when the netbox is full.
    Slot& MarkedCopy(Slot& original);
    /// The frame as the stages of `station` leave it, for a copy that is delivered there; null, and the copy is lost, where they drop it or
    /// where it shares the frame with others and the netbox is full.
    Slot* Staged(Slot& original, StationId station);
    /// One more delivered frame waits to be handed over.
    void Depart(Slot& slot, StationId station);
    void HandOver(StationId station);
    void Settle(Slot& slot, StationId station, Loss reason);
    void CountLost(const Slot& slot, StationId station, Loss reason);
    void Record(
        const Slot& slot, StationId station, std::uint8_t fate, std::int64_t outStamp, std::int64_t lateness);
    void ReleaseIfDone(Slot& slot);
    void ExpectExpiry();
    void Expire();

    std::span<const std::unique_ptr<Port>> m_ports;
    EventQueue& m_events;
    const Clock& m_clock;
    PortCaptures& m_captures;
    PortStages& m_stages;
    SlotTable m_slots;
    Lateness m_lateness;
    RecordFile m_records;
    std::vector<std::vector<Departure>> m_departures; ///< by station
    std::size_t m_waiting{0};
    std::function<void()> m_notice;
    std::int64_t m_lastLeft{0};
    bool m_expiryExpected{false};
    Counters m_counters;
};

} // namespace netboxit
