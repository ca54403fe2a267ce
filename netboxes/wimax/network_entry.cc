// SPDX-License-Identifier: GPL-2.0-or-later
#include "network_entry.h"

namespace netboxit::wimax
{

namespace
{

/// Ranging back-off window exponents, as the UCD may set them (10.1).
constexpr std::uint32_t RANGING_BACKOFF_START = 2;
constexpr std::uint32_t RANGING_BACKOFF_END = 8;

/// T3, wait for a ranging response (10.1).
const ns3::Time T3 = ns3::MilliSeconds(200);

/// RNG-RSP takes the next frame; SBC-REQ/RSP, REG-REQ/RSP and DSA-REQ/RSP two each, since every answer waits
/// for the other subframe.
constexpr int REGISTRATION_FRAMES = 7;

} // namespace

NetworkEntry::NetworkEntry(ns3::Ptr<ns3::UniformRandomVariable> random)
    : m_backoff(RANGING_BACKOFF_START, RANGING_BACKOFF_END, std::move(random))
{
}

const char* NetworkEntry::Name() const
{
    switch (m_state)
    {
    case State::OutOfRange:
        return "out of range";
    case State::Ranging:
        return "ranging";
    case State::Registering:
        return "registering";
    case State::Operational:
        break;
    }
    return "operational";
}

void NetworkEntry::FindSignal()
{
    m_state = State::Ranging;
    m_until = ns3::Time(0);
    m_backoff.Reset();
}

bool NetworkEntry::Advance(ns3::Time now)
{
    if (m_state != State::Registering || now < m_until)
    {
        return false;
    }
    m_state = State::Operational;
    return true;
}

bool NetworkEntry::Contends(ns3::Time now)
{
    return m_state == State::Ranging && now >= m_until && m_backoff.Next(1).has_value();
}

void NetworkEntry::Heard(ns3::Time now, ns3::Time frame)
{
    m_state = State::Registering;
    m_until = now + REGISTRATION_FRAMES * frame;
}

void NetworkEntry::Collided(ns3::Time now)
{
    m_backoff.Fail();
    m_until = now + T3;
}

} // namespace netboxit::wimax
