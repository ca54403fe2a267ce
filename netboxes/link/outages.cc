// SPDX-License-Identifier: GPL-2.0-or-later
#include "outages.h"

#include "ns3/simulator.h"

namespace netboxit::link
{

Outages::Outages(std::int64_t stream, std::function<void(bool)> changed)
    : m_random(ns3::CreateObject<ns3::ExponentialRandomVariable>()), m_changed(std::move(changed))
{
    m_random->SetStream(stream);
}

Outages::~Outages()
{
    m_turn.Cancel();
}

void Outages::Set(const Json& value)
{
    if (value.is_null())
    {
        m_up = 0;
    }
    else
    {
        m_up = value.at("up");
        m_down = value.at("down");
        m_fixed = value.at("distribution") == "fixed";
    }
    Start();
}

void Outages::Begin()
{
    m_began = true;
    Start();
}

void Outages::Start()
{
    m_turn.Cancel();
    if (m_isDown)
    {
        m_isDown = false;
        m_changed(false);
    }
    if (m_began && m_up > 0)
    {
        ExpectTurn();
    }
}

void Outages::ExpectTurn()
{
    const double mean = m_isDown ? m_down : m_up;
    // Not less than a microsecond: a draw of nearly nothing is no outage that anybody could see.
    const double time = m_fixed ? mean : std::max(m_random->GetValue(mean, 0), 1e-6);
    m_turn = ns3::Simulator::Schedule(ns3::Seconds(time), &Outages::Turn, this);
}

void Outages::Turn()
{
    m_isDown = !m_isDown;
    m_changed(m_isDown);
    ExpectTurn();
}

} // namespace netboxit::link
