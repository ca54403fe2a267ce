// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_watch.h"

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

LinkWatch::LinkWatch(const Segment& segment, std::size_t stations, Taker taker)
    : m_segment(segment), m_taker(std::move(taker)), m_told(stations), m_next(ns3::Simulator::ScheduleNow(&LinkWatch::Look, this))
{
}

LinkWatch::~LinkWatch()
{
    m_next.Cancel();
}

void LinkWatch::Look()
{
    const auto now = ns3::Simulator::Now().GetNanoSeconds();
    for (StationId station = 0; station < m_told.size(); ++station)
    {
        auto& told = m_told[station];
        const auto state = m_segment.StateOf(station);
        const bool isNew = told.state != state;
        if (state && (isNew || now - told.at >= REPEAT_AFTER) && m_taker(station, *state, isNew))
        {
            told = {state, now};
        }
    }
    m_next = ns3::Simulator::Schedule(ns3::NanoSeconds(LOOK_EVERY), &LinkWatch::Look, this);
}

} // namespace netboxit
