// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "contention.h"

#include "ns3/nstime.h"

namespace netboxit::wimax
{

/// How a subscriber comes (back) into the network (6.3.9): initial ranging in contention, then capabilities,
/// registration and connections, whose messages are modelled as the frames they take. Stations in range when
/// the emulation starts are in already.
class NetworkEntry
{
  public:
    explicit NetworkEntry(ns3::Ptr<ns3::UniformRandomVariable> random);

    bool IsOperational() const
    {
        return m_state == State::Operational;
    }
    bool IsOut() const
    {
        return m_state == State::OutOfRange;
    }
    const char* Name() const;

    void BeOperational()
    {
        m_state = State::Operational;
    }
    void LoseSignal()
    {
        m_state = State::OutOfRange;
    }
    /// The downlink is received again.
    void FindSignal();

    /// At the start of each frame; true when the station has just become operational.
    bool Advance(ns3::Time now);

    /// At an initial ranging opportunity: true when the station transmits RNG-REQ in it.
    bool Contends(ns3::Time now);
    /// RNG-REQ was heard alone, or met another one.
    void Heard(ns3::Time now, ns3::Time frame);
    void Collided(ns3::Time now);

  private:
    enum class State
    {
        OutOfRange,
        Ranging,
        Registering,
        Operational
    };

    State m_state{State::OutOfRange};
    Backoff m_backoff;
    ns3::Time m_until;
};

} // namespace netboxit::wimax
