// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_queue.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>

namespace netboxit
{

using ns3::EventId;
using ns3::EventImpl;
using ns3::Time;

namespace
{

/// Four events of 24 bytes lie in two cache lines, and the heap is half as high as one of two children.
constexpr std::size_t CHILDREN = 4;

} // namespace

ns3::TypeId EventQueue::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("netboxit::EventQueue").SetParent<ns3::SimulatorImpl>().AddConstructor<EventQueue>();
    return tid;
}

void EventQueue::RunNext()
{
    const auto next = Take(0);
    m_now = next.due;
    m_context = next.context;
    m_currentUid = next.uid;
    ++m_ran;
    next.impl->Invoke();
    next.impl->Unref();
    m_context = ns3::Simulator::NO_CONTEXT;
}

void EventQueue::AdvanceTo(std::int64_t time)
{
    if (const auto target = static_cast<std::uint64_t>(time); target > m_now)
    {
        m_now = target;
        // No event of this time has run yet: none may look expired.
        m_currentUid = EventId::UID::INVALID;
    }
}

void EventQueue::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        const ns3::Ptr<EventImpl> event = m_destroyEvents.front().PeekEventImpl();
        m_destroyEvents.pop_front();
        if (!event->IsCancelled())
        {
            event->Invoke();
        }
    }
}

void EventQueue::DoDispose()
{
    while (!m_events.empty())
    {
        Take(0).impl->Unref();
    }
    SimulatorImpl::DoDispose();
}

bool EventQueue::IsFinished() const
{
    return m_stopped || m_events.empty();
}

void EventQueue::Stop()
{
    m_stopped = true;
}

EventId EventQueue::Stop(const Time& delay)
{
    return ns3::Simulator::Schedule(delay, [this] { Stop(); });
}

EventId EventQueue::Insert(std::uint32_t context, const Time& delay, EventImpl* event)
{
    NS_ABORT_MSG_IF(delay.IsStrictlyNegative(), "an event was scheduled with a delay of " << delay);
    const auto due = m_now + static_cast<std::uint64_t>(delay.GetNanoSeconds());
    const auto uid = m_nextUid++;
    // Numbers run out after some hours of a busy netbox; those below VALID have other meanings.
    m_nextUid = std::max<std::uint32_t>(m_nextUid, EventId::UID::VALID);
    const Event added{due, uid, context, event};
    m_events.push_back(added);
    SiftUp(m_events.size() - 1, added);
    return EventId(event, due, context, uid);
}

EventQueue::Event EventQueue::Take(std::size_t place)
{
    const auto taken = m_events[place];
    const auto last = m_events.back();
    m_events.pop_back();
    if (place < m_events.size())
    {
        if (place > 0 && last.IsBefore(m_events[(place - 1) / CHILDREN]))
        {
            SiftUp(place, last);
        }
        else
        {
            SiftDown(place, last);
        }
    }
    return taken;
}

void EventQueue::SiftUp(std::size_t place, const Event& event)
{
    while (place > 0 && event.IsBefore(m_events[(place - 1) / CHILDREN]))
    {
        m_events[place] = m_events[(place - 1) / CHILDREN];
        place = (place - 1) / CHILDREN;
    }
    m_events[place] = event;
}

void EventQueue::SiftDown(std::size_t place, const Event& event)
{
    while (place * CHILDREN + 1 < m_events.size())
    {
        const auto first = m_events.begin() + static_cast<std::ptrdiff_t>(place * CHILDREN + 1);
        const auto end = first + std::min<std::ptrdiff_t>(CHILDREN, m_events.end() - first);
        const auto child =
            std::min_element(first, end, [](const auto& a, const auto& b) { return a.IsBefore(b); });
        if (!child->IsBefore(event))
        {
            break;
        }
        m_events[place] = *child;
        place = static_cast<std::size_t>(child - m_events.begin());
    }
    m_events[place] = event;
}

EventId EventQueue::Schedule(const Time& delay, EventImpl* event)
{
    return Insert(m_context, delay, event);
}

void EventQueue::ScheduleWithContext(std::uint32_t context, const Time& delay, EventImpl* event)
{
    Insert(context, delay, event);
}

EventId EventQueue::ScheduleNow(EventImpl* event)
{
    return Insert(m_context, Time(0), event);
}

EventId EventQueue::ScheduleDestroy(EventImpl* event)
{
    const EventId id(ns3::Ptr<EventImpl>(event, false), m_now, m_context, EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    return id;
}

void EventQueue::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroyEvents.remove(id);
        return;
    }
    if (IsExpired(id))
    {
        return;
    }
    // Looked for one by one: models remove seldom, they cancel.
    const auto found = std::ranges::find_if(
        m_events, [&](const Event& event) { return event.uid == id.GetUid() && event.due == id.GetTs(); });
    if (found == m_events.end())
    {
        return; // it ran in this very nanosecond, before the numbers began anew
    }
    Take(static_cast<std::size_t>(found - m_events.begin()));
    id.PeekEventImpl()->Cancel();
    id.PeekEventImpl()->Unref();
}

void EventQueue::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool EventQueue::IsExpired(const EventId& id) const
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled() ||
               std::ranges::find(m_destroyEvents, id) == m_destroyEvents.end();
    }
    return id.PeekEventImpl() == nullptr || id.GetTs() < m_now ||
           (id.GetTs() == m_now && id.GetUid() <= m_currentUid) || id.PeekEventImpl()->IsCancelled();
}

void EventQueue::Run()
{
    // A netbox's loop runs the events. But ns-3 registers every Time in one ordered set, to be able to change
    // its resolution, until Simulator::Run is called: 40 % of a Wi-Fi netbox's processor time.
}

Time EventQueue::Now() const
{
    return ns3::NanoSeconds(m_now);
}

Time EventQueue::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? Time(0) : ns3::NanoSeconds(id.GetTs() - m_now);
}

Time EventQueue::GetMaximumSimulationTime() const
{
    return ns3::NanoSeconds(std::numeric_limits<std::int64_t>::max());
}

void EventQueue::SetScheduler(ns3::ObjectFactory)
{
}

std::uint32_t EventQueue::GetSystemId() const
{
    return 0;
}

std::uint32_t EventQueue::GetContext() const
{
    return m_context;
}

std::uint64_t EventQueue::GetEventCount() const
{
    return m_ran;
}

} // namespace netboxit
