// SPDX-License-Identifier: GPL-2.0-or-later
#include "telemetry.h"

#include "telemetry_frame.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// How late a change is told at most: less than the round trips in which anybody reacts to it over a satellite, and ten looks a second cost
/// nothing.
constexpr std::int64_t LOOK_EVERY = 100'000'000;
/// For a node that has missed one.
constexpr std::int64_t REPEAT_AFTER = 1'000'000'000;

} // namespace

Telemetry::Telemetry(const Segment& segment, Frames& frames, std::size_t stations)
    : m_segment(segment), m_frames(frames), m_told(stations), m_next(ns3::Simulator::ScheduleNow(&Telemetry::Look, this))
{
}

Telemetry::~Telemetry()
{
    m_next.Cancel();
}

void Telemetry::Look()
{
    const auto now = ns3::Simulator::Now().GetNanoSeconds();
    for (StationId station = 0; station < m_told.size(); ++station)
    {
        auto& told = m_told[station];
        const auto state = m_segment.StateOf(station);
        if (!state || (told.state == state && now - told.at < REPEAT_AFTER))
        {
            continue;
        }
        if (m_frames.Emit(station, TelemetryFrame(*state)))
        {
            told = {state, now};
            ++m_sent;
        }
    }
    m_next = ns3::Simulator::Schedule(ns3::NanoSeconds(LOOK_EVERY), &Telemetry::Look, this);
}

} // namespace netboxit
