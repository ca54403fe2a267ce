// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/event-id.h"
#include "ns3/random-variable-stream.h"

#include <functional>

namespace netboxit::link
{

/// A link that is up and down in turn, for fixed or for exponentially distributed times, from when the network's time begins; up at first.
class Outages
{
  public:
    /// `changed` is told whenever it goes down (true) or comes up again.
    Outages(std::int64_t stream, std::function<void(bool down)> changed);
    ~Outages();

    Outages(const Outages&) = delete;
    Outages& operator=(const Outages&) = delete;

    /// As parameters.py dumps it, null for none. It starts anew.
    void Set(const Json& value);
    void Begin();

  private:
    void Start();
    void Turn();
    void ExpectTurn();

    ns3::Ptr<ns3::ExponentialRandomVariable> m_random;
    std::function<void(bool)> m_changed;
    double m_up{0};   ///< mean, s; 0: no outages
    double m_down{0}; ///< mean, s
    bool m_fixed{true};
    bool m_began{false};
    bool m_isDown{false};
    ns3::EventId m_turn;
};

} // namespace netboxit::link
