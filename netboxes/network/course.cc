// SPDX-License-Identifier: GPL-2.0-or-later
#include "course.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// How often silent stations are looked at, as in a lab.
const auto BETWEEN_LOOKS = ns3::MilliSeconds(50);

} // namespace

Course::Course(const NetworkConfiguration& configuration, Targets& targets)
    : m_configuration(configuration), m_targets(targets), m_waiting(configuration.conditions.size())
{
    if (!configuration.made.empty())
    {
        m_made.open(configuration.made, std::ios::trunc);
        if (!m_made)
        {
            throw std::runtime_error("cannot write " + configuration.made + ", which says what events were made");
        }
    }
}

void Course::Begin()
{
    m_began = ns3::Simulator::Now().GetNanoSeconds();
    for (std::size_t number = 0; number < m_configuration.events.size(); ++number)
    {
        const auto& event = m_configuration.events[number];
        if (!event.condition)
        {
            ns3::Simulator::Schedule(ns3::NanoSeconds(event.at), &Course::Make, this, number);
        }
    }
    bool looks = false;
    for (std::size_t number = 0; number < m_waiting.size(); ++number)
    {
        const auto& condition = m_configuration.conditions[number];
        m_waiting[number].left = condition.after.size();
        looks |= condition.silent > 0;
        if (condition.within)
        {
            ns3::Simulator::Schedule(ns3::NanoSeconds(*condition.within), &Course::Expire, this, number);
        }
    }
    if (looks)
    {
        ns3::Simulator::ScheduleNow(&Course::Look, this);
    }
}

void Course::Make(std::size_t number)
{
    const auto& event = m_configuration.events[number];
    try
    {
        m_targets.Make(event.change);
    }
    catch (const std::exception& error)
    {
        throw std::runtime_error("event at " + Json(Now()).dump() + " s: " + error.what());
    }
    m_made << Json{number, Now()}.dump() << std::endl;
    for (std::size_t condition = 0; condition < m_waiting.size(); ++condition)
    {
        const auto& after = m_configuration.conditions[condition].after;
        if (std::ranges::find(after, number) != after.end() && --m_waiting[condition].left == 0)
        {
            Settle(condition);
        }
    }
}

void Course::Settle(std::size_t condition)
{
    if (std::exchange(m_waiting[condition].settled, true))
    {
        return;
    }
    for (std::size_t number = 0; number < m_configuration.events.size(); ++number)
    {
        if (const auto& event = m_configuration.events[number]; event.condition == condition)
        {
            ns3::Simulator::Schedule(ns3::NanoSeconds(event.at), &Course::Make, this, number);
        }
    }
}

void Course::Expire(std::size_t number)
{
    if (!m_waiting[number].settled)
    {
        throw std::runtime_error("event " + m_configuration.conditions[number].words + ": not within " + Json(Now()).dump() +
                                 " s; what it waits for did not come");
    }
}

void Course::Announced(const std::string& netbox, std::string_view event, const std::string& station)
{
    for (std::size_t number = 0; m_began && number < m_waiting.size(); ++number)
    {
        const auto& condition = m_configuration.conditions[number];
        if (condition.netbox == netbox && condition.happens == event &&
            (condition.station.empty() || condition.station == station))
        {
            Settle(number);
        }
    }
}

void Course::Look()
{
    const auto now = ns3::Simulator::Now().GetNanoSeconds();
    bool more = false;
    for (std::size_t number = 0; number < m_waiting.size(); ++number)
    {
        const auto& condition = m_configuration.conditions[number];
        auto& waiting = m_waiting[number];
        if (condition.silent == 0 || waiting.settled)
        {
            continue;
        }
        more = true;
        const auto sent = m_targets.Sent(condition.netbox, condition.station);
        if (sent != waiting.sent)
        {
            waiting.sent = sent;
            waiting.since = now;
        }
        else if (now - waiting.since >= condition.silent)
        {
            Settle(number);
        }
    }
    if (more)
    {
        ns3::Simulator::Schedule(BETWEEN_LOOKS, &Course::Look, this);
    }
}

double Course::Now() const
{
    return static_cast<double>(ns3::Simulator::Now().GetNanoSeconds() - m_began.value_or(0)) / 1e9;
}

} // namespace netboxit
