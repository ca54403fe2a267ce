// SPDX-License-Identifier: GPL-2.0-or-later
#include "real_loop.h"

#include <algorithm>
#include <iostream>
#include <limits>

namespace netboxit
{

namespace
{

constexpr std::int64_t NEVER = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t MICROSECOND = 1'000;
constexpr std::int64_t SECOND = 1'000'000'000;

constexpr std::size_t BATCH = 64;
/// Ports and control get their turn at least this often while events are late.
constexpr std::int64_t LONGEST_TURN = 500 * MICROSECOND;
/// Delivered frames are handed over together, but wait for each other no longer than this.
constexpr std::int64_t LONGEST_WAIT_OF_FRAMES = 20 * MICROSECOND;
/// This far behind the clock for this long, the netbox must shed load. A host that stops for a moment (a
/// virtual machine's does for tens of milliseconds) makes frames late, which is measured, but is made up for
/// afterwards.
constexpr std::int64_t BEHIND = 10'000 * MICROSECOND;
constexpr std::int64_t OVERLOAD = 100'000 * MICROSECOND;
/// Writing records takes some tens of microseconds: not before an event that is nearer than this.
constexpr std::int64_t IDLE = 200 * MICROSECOND;
/// Waiting ends now and then for the accounts and the clocks.
constexpr std::int64_t LONGEST_SLEEP = 100'000 * MICROSECOND;
constexpr std::int64_t HOUSEKEEPING = SECOND;
constexpr int LATENESS_OVER_LIMIT = 3;

} // namespace

RealLoop::RealLoop(
    const Configuration& configuration, Netbox& netbox, EventQueue& events, RealClock& clock, EndSignal& end)
    : m_realtime(configuration.realtime), m_netbox(netbox), m_events(events), m_clock(clock), m_end(end),
      m_thread(configuration.realtime), m_methods(configuration, netbox, events, m_thread), m_landing(BATCH)
{
    if (!configuration.control.empty())
    {
        m_control.emplace(configuration.control,
                          [this](const auto& method, const auto& params) { return Call(method, params); });
    }
    for (auto& landing : m_landing)
    {
        landing.slot = m_netbox.TakeSlot();
    }
}

int RealLoop::Run()
{
    m_clock.Start();
    while (!m_ended && !m_events.IsStopped())
    {
        RunDue();
        if (m_realtime.abort && m_netbox.TheLateness().Missed() > 0)
        {
            m_netbox.TheLateness().Tell(std::cerr);
            return LATENESS_OVER_LIMIT;
        }
        if (m_netbox.Records().IsPressing())
        {
            m_netbox.Records().WritePiece();
        }
        if (Wait())
        {
            Serve();
        }
        Housekeep();
    }
    return 0;
}

std::int64_t RealLoop::Next() const
{
    const auto due = m_events.NextDue().value_or(NEVER);
    return m_nextArrival < m_arrivals.size() ? std::min(due, m_arrivals[m_nextArrival].time) : due;
}

bool RealLoop::IsOverloaded()
{
    const auto now = m_clock.Now();
    if (Next() >= now - BEHIND)
    {
        m_behindSince.reset();
        return false;
    }
    m_behindSince = m_behindSince.value_or(now);
    return now - *m_behindSince > OVERLOAD;
}

void RealLoop::RunDue()
{
    const auto began = m_clock.Now();
    auto handedOver = began;
    for (auto now = began; Next() <= now && now - began < LONGEST_TURN; now = m_clock.Now())
    {
        const auto due = m_events.NextDue().value_or(NEVER);
        if (due <= Next())
        {
            m_netbox.TheLateness().RecordEvent(due, now - due);
            m_events.RunNext();
        }
        else
        {
            Enter();
        }
        if (m_netbox.Waiting() == 0)
        {
            handedOver = now;
        }
        else if (m_netbox.Waiting() >= BATCH || now - handedOver > LONGEST_WAIT_OF_FRAMES)
        {
            m_netbox.HandOver();
            handedOver = now;
        }
    }
    m_netbox.HandOver();
}

void RealLoop::Enter()
{
    const auto& [time, station, reception] = m_arrivals[m_nextArrival++];
    m_events.AdvanceTo(time);
    m_netbox.Enter(station, reception);
    if (m_nextArrival == m_arrivals.size())
    {
        m_arrivals.clear();
        m_nextArrival = 0;
    }
}

bool RealLoop::Wait()
{
    const auto now = m_clock.Now();
    m_thread.Account(now);
    CollectDescriptors();
    const auto next = std::min(Next(), now + LONGEST_SLEEP);
    if (next <= now)
    {
        return Poll(0);
    }
    if (m_netbox.Records().HasWork() && next - now > IDLE)
    {
        if (Poll(0))
        {
            return true;
        }
        m_netbox.Records().WritePiece();
        return false;
    }
    if (!m_thread.MaySpin())
    {
        return WaitUntil(next);
    }
    const auto spin = next - m_thread.Window();
    return (spin > now && WaitUntil(spin)) || SpinUntil(next);
}

bool RealLoop::WaitUntil(std::int64_t time)
{
    const bool found = Poll(std::max<std::int64_t>(time - m_clock.Now(), 0));
    if (!found)
    {
        m_thread.HasOverslept(m_clock.Now() - time);
    }
    return found;
}

bool RealLoop::SpinUntil(std::int64_t time)
{
    const auto began = m_clock.Now();
    bool found = false;
    auto now = began;
    while (!found && now < time)
    {
        found = Poll(0);
        now = m_clock.Now();
    }
    m_thread.HasSpun(now - began);
    return found;
}

bool RealLoop::Poll(std::int64_t timeout)
{
    bool here = false;
    for (std::size_t i = 1; i < m_portsPolled && !here; ++i)
    {
        auto& port = *m_netbox.Ports()[i - 1];
        here = m_polled[i].fd >= 0 && (timeout > 0 ? !port.BeginWait() : port.HasFrames());
    }
    const timespec time{here ? 0 : timeout / SECOND, here ? 0 : timeout % SECOND};
    const bool found = ::ppoll(m_polled.data(), m_polled.size(), &time, nullptr) > 0;
    for (const auto& port : m_netbox.Ports())
    {
        port->EndWait();
    }
    return found || here;
}

void RealLoop::CollectDescriptors()
{
    m_polled.clear();
    m_polled.push_back({m_end.Descriptor(), POLLIN, 0});
    // Frames that have arrived already go first, unless all must be thrown away: then those in the kernel
    // too.
    const bool portsWanted = IsOverloaded() || m_arrivals.empty();
    for (const auto& port : m_netbox.Ports())
    {
        // A negative descriptor is passed over by poll.
        m_polled.push_back({portsWanted ? port->Descriptor() : -1, POLLIN, 0});
    }
    m_portsPolled = m_polled.size();
    if (m_control)
    {
        m_control->AddTo(m_polled);
    }
}

void RealLoop::Serve()
{
    m_ended = m_polled[0].revents != 0 && m_end.HasCome();
    for (std::size_t i = 1; i < m_portsPolled; ++i)
    {
        if (m_polled[i].revents != 0 || (m_polled[i].fd >= 0 && m_netbox.Ports()[i - 1]->HasFrames()))
        {
            Receive(static_cast<StationId>(i - 1));
        }
    }
    std::ranges::stable_sort(m_arrivals, {}, &Arrival::time);
    if (m_control)
    {
        m_control->Serve(std::span(m_polled).subspan(m_portsPolled));
    }
}

void RealLoop::Receive(StationId station)
{
    const bool overloaded = IsOverloaded();
    const auto count = m_netbox.Ports()[station]->Receive(m_landing);
    const auto now = m_clock.Now();
    for (auto& landing : std::span(m_landing).first(count))
    {
        auto* another = overloaded ? nullptr : m_netbox.TakeSlot();
        if (another == nullptr)
        {
            m_netbox.DropForOverload(station);
            continue;
        }
        auto time = m_clock.TimeOf(landing.stamp);
        if (time > now || time < now - SECOND)
        {
            // There is no stamp, or the wall clock was set.
            time = now;
            landing.stamp = m_clock.StampOf(now);
        }
        m_arrivals.push_back({std::max(time, m_events.NowNs()), station, landing});
        landing.slot = another;
    }
}

void RealLoop::Housekeep()
{
    if (m_clock.Now() - m_lastHousekeeping >= HOUSEKEEPING)
    {
        m_lastHousekeeping = m_clock.Now();
        m_clock.Synchronise();
    }
}

Json RealLoop::Call(const std::string& method, const Json& params)
{
    // What is asked and set holds for this moment, unless events that were due before are late.
    if (const auto now = m_clock.Now(); Next() > now)
    {
        m_events.AdvanceTo(now);
    }
    return m_methods.Call(method, params);
}

} // namespace netboxit
