// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/simulator-impl.h"

#include <list>
#include <optional>
#include <vector>

namespace netboxit
{

/// ns-3's simulator as the netbox's loop wants it: a queue of events that somebody else runs, one at a time,
/// and a clock that somebody else moves. One thread. Whoever owns the loop decides when an event is due.
class EventQueue : public ns3::SimulatorImpl
{
  public:
    static ns3::TypeId GetTypeId();

    /// When the next event is due (ns of simulated time), if there is one.
    std::optional<std::int64_t> NextDue() const
    {
        return m_events.empty() ? std::nullopt
                                : std::optional(static_cast<std::int64_t>(m_events.front().due));
    }

    /// Moves the clock to the next event and runs it.
    void RunNext();
    /// Moves the clock, if it is earlier, to a time before which no event is left.
    void AdvanceTo(std::int64_t time);

    std::int64_t NowNs() const
    {
        return static_cast<std::int64_t>(m_now);
    }

    /// A segment asked for the end (Simulator::Stop).
    bool IsStopped() const
    {
        return m_stopped;
    }

    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    ns3::EventId Stop(const ns3::Time& delay) override;
    ns3::EventId Schedule(const ns3::Time& delay, ns3::EventImpl* event) override;
    void ScheduleWithContext(std::uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) override;
    ns3::EventId ScheduleNow(ns3::EventImpl* event) override;
    ns3::EventId ScheduleDestroy(ns3::EventImpl* event) override;
    void Remove(const ns3::EventId& id) override;
    void Cancel(const ns3::EventId& id) override;
    bool IsExpired(const ns3::EventId& id) const override;
    /// Not for this simulator: the netbox's loop runs the events.
    void Run() override;
    ns3::Time Now() const override;
    ns3::Time GetDelayLeft(const ns3::EventId& id) const override;
    ns3::Time GetMaximumSimulationTime() const override;
    /// ns-3 offers one to every simulator, by default one that allocates for each event; this one keeps its
    /// own.
    void SetScheduler(ns3::ObjectFactory schedulerFactory) override;
    std::uint32_t GetSystemId() const override;
    std::uint32_t GetContext() const override;
    std::uint64_t GetEventCount() const override;

  private:
    struct Event
    {
        std::uint64_t due;
        std::uint32_t uid;
        std::uint32_t context;
        ns3::EventImpl* impl; ///< one reference to it

        bool IsBefore(const Event& other) const
        {
            return due != other.due ? due < other.due : uid < other.uid;
        }
    };

    ns3::EventId Insert(std::uint32_t context, const ns3::Time& delay, ns3::EventImpl* event);
    /// Takes the event at this place out of the heap.
    Event Take(std::size_t place);
    /// Put `event` where it belongs, on the way to the root, or to the leaves, from a place that is free.
    void SiftUp(std::size_t place, const Event& event);
    void SiftDown(std::size_t place, const Event& event);
    void DoDispose() override;

    std::vector<Event> m_events; ///< a heap of four children a node: the next event is the first
    std::list<ns3::EventId> m_destroyEvents;
    std::uint64_t m_now{0};
    std::uint32_t m_context{0xffffffff}; ///< Simulator::NO_CONTEXT
    std::uint32_t m_nextUid{ns3::EventId::UID::VALID};
    std::uint32_t m_currentUid{ns3::EventId::UID::INVALID};
    std::uint64_t m_ran{0};
    bool m_stopped{false};
};

} // namespace netboxit
