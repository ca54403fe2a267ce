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
/// The kernel is asked this often while there is other work: a hundredth of the time.
constexpr std::int64_t BETWEEN_POLLS = 50 * MICROSECOND;
/// A frame that was not looked at for so long is dropped: beyond capacity, those behind it would only be late as
/// well. A host that stops for a moment (a virtual machine's does for tens of milliseconds) makes frames late,
/// which is measured, but made up for afterwards.
constexpr std::int64_t LONGEST_WAIT_AT_PORT = 100'000 * MICROSECOND;
/// What one event may take, some far more than others: none begins early when a frame is to leave sooner.
constexpr std::int64_t LONGEST_EVENT = 30 * MICROSECOND;
/// Writing records takes some tens of microseconds: not before an event that is nearer than this.
constexpr std::int64_t IDLE = 200 * MICROSECOND;
/// The accounts ask the kernel, too.
constexpr std::int64_t BETWEEN_ACCOUNTS = 100 * MICROSECOND;
/// Waiting ends now and then for the clocks, and sooner while there are records to be written.
constexpr std::int64_t LONGEST_SLEEP = SECOND / 2;
constexpr std::int64_t LONGEST_SLEEP_WITH_RECORDS = SECOND / 10;
constexpr std::int64_t HOUSEKEEPING = SECOND;
constexpr int LATENESS_OVER_LIMIT = 3;

} // namespace

RealLoop::RealLoop(
    const Configuration& configuration, Netbox& netbox, EventQueue& events, RealClock& clock, EndSignal& end)
    : m_realtime(configuration.realtime), m_netbox(netbox), m_events(events), m_clock(clock), m_end(end),
      m_thread(configuration.realtime), m_methods(configuration, netbox, events, m_thread),
      m_waiting(netbox.Ports(), m_control, end, clock, m_thread), m_lead(netbox.TheSegment().Lead()), m_landing(BATCH),
      m_arrivals(netbox.Ports().size() * BATCH)
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
    const auto status = RunToEnd();
    m_netbox.Records().WriteAll();
    return status;
}

int RealLoop::RunToEnd()
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
        if (auto& journal = m_netbox.TheJournal(); journal.IsPressing())
        {
            journal.Write();
        }
        const bool received = Receive();
        const auto now = m_clock.Now();
        if (!received && NextTurn(now) > now && Wait(now))
        {
            Serve();
        }
        Housekeep(now);
    }
    return 0;
}

std::int64_t RealLoop::Next() const
{
    return std::min(m_events.NextDue().value_or(NEVER), m_arrivals.Next());
}

std::int64_t RealLoop::Lead(std::int64_t now) const
{
    return m_lead == 0 || m_netbox.NextDeparture() - now < LONGEST_EVENT ? 0 : m_lead;
}

std::int64_t RealLoop::NextTurn(std::int64_t now) const
{
    return std::min(Next() - Lead(now), m_netbox.NextDeparture());
}

void RealLoop::RunDue()
{
    const auto began = m_clock.Now();
    auto handedOver = began;
    auto shared = began;
    for (auto now = began; now - began < LONGEST_TURN;)
    {
        const auto due = m_events.NextDue().value_or(NEVER);
        const bool arrives = m_arrivals.Next() < due;
        if (std::min(m_arrivals.Next(), due) - Lead(now) > now)
        {
            break;
        }
        if (arrives)
        {
            Enter();
        }
        else
        {
            m_netbox.TheLateness().RecordEvent(due, std::max<std::int64_t>(now - due, 0));
            m_events.RunNext();
        }
        now = m_clock.Now();
        if (m_netbox.NextDeparture() > now)
        {
            handedOver = now;
        }
        else if (m_netbox.Waiting() >= BATCH || now - handedOver > LONGEST_WAIT_OF_FRAMES)
        {
            m_netbox.HandOver();
            handedOver = now;
        }
        if (now - shared > LONGEST_EVENT && m_arrivals.IsSingle())
        {
            // A single frame's events: netboxes of the same core, which may have less to do, need not wait for all of them.
            m_thread.LetOthersRun();
            shared = now = m_clock.Now();
        }
    }
    m_netbox.HandOver();
}

void RealLoop::Enter()
{
    const auto arrival = m_arrivals.Take();
    m_events.AdvanceTo(arrival.time);
    m_netbox.Enter(arrival.station, arrival.reception, arrival.time - arrival.arrived);
}

bool RealLoop::Receive()
{
    // Frames that have arrived already go first. After them all ports have their turn: none can keep others waiting.
    const bool open = m_arrivals.IsEmpty();
    bool received = m_clock.Now() - m_waiting.LastPoll() > BETWEEN_POLLS && Poll();
    if (received)
    {
        Serve();
    }
    const auto ports = m_netbox.Ports();
    for (StationId station = 0; open && station < ports.size(); ++station)
    {
        if (ports[station]->HasFrames())
        {
            Receive(station);
            received = true;
        }
    }
    m_arrivals.Sort();
    return received;
}

bool RealLoop::Wait(std::int64_t now)
{
    auto& records = m_netbox.Records();
    const auto turn = NextTurn(now);
    const auto longest = now + (records.HasWork() ? LONGEST_SLEEP_WITH_RECORDS : LONGEST_SLEEP);
    const auto next = std::min(turn, longest);
    auto& journal = m_netbox.TheJournal();
    if ((records.HasPiece() || journal.HasWork()) && next - now > IDLE)
    {
        if (Poll())
        {
            return true;
        }
        journal.Write();
        if (records.HasPiece())
        {
            records.WritePiece();
        }
        return false;
    }
    if (m_waiting.Until(next, now, turn <= longest, m_arrivals.IsEmpty()))
    {
        return true;
    }
    if (turn > longest && records.HasWork() && !m_waiting.HasSeenFrames() && NextTurn(next) - m_clock.Now() > IDLE)
    {
        records.WritePiece();
    }
    return false;
}

bool RealLoop::Poll()
{
    // Frames that have arrived already go first.
    return m_waiting.Poll(m_arrivals.IsEmpty());
}

void RealLoop::Serve()
{
    m_ended = m_waiting.IsEndCalled() && m_end.HasCome();
    const auto ports = m_netbox.Ports();
    for (StationId station = 0; station < ports.size(); ++station)
    {
        // Frames that can be seen are taken when it is their port's turn, rung for or not.
        if (m_waiting.IsPortCalled(station) && !ports[station]->HasFrames())
        {
            Receive(station);
        }
    }
    m_arrivals.Sort();
    if (m_control)
    {
        m_control->Serve(m_waiting.Control());
    }
}

void RealLoop::Receive(StationId station)
{
    const auto count = m_netbox.Ports()[station]->Receive(m_landing);
    const auto now = m_clock.Now();
    for (auto& landing : std::span(m_landing).first(count))
    {
        const auto time = TimeOf(landing, now);
        auto* another = now - time > LONGEST_WAIT_AT_PORT ? nullptr : m_netbox.TakeSlot();
        if (another == nullptr)
        {
            m_netbox.DropForOverload(station);
            continue;
        }
        m_arrivals.Add(std::max(time, m_events.NowNs()), time, station, landing);
        landing.slot = another;
    }
}

std::int64_t RealLoop::TimeOf(Reception& reception, std::int64_t now)
{
    auto time = m_clock.TimeOf(reception.stamp);
    if (now - time > LONGEST_WAIT_AT_PORT)
    {
        // Perhaps only because the wall clock was set.
        m_clock.Synchronise();
        time = m_clock.TimeOf(reception.stamp);
    }
    if (time > now || reception.stamp == 0)
    {
        time = now;
        reception.stamp = m_clock.StampOf(now);
    }
    return time;
}

void RealLoop::Housekeep(std::int64_t now)
{
    if (now - m_lastAccount >= BETWEEN_ACCOUNTS)
    {
        m_lastAccount = now;
        m_thread.Account(now);
    }
    if (now - m_lastHousekeeping >= HOUSEKEEPING)
    {
        m_lastHousekeeping = now;
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
