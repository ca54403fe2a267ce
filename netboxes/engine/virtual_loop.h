// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "loop.h"

namespace netboxit
{

/// Virtual time: input frames of all ports, merged in order of time, and events, as fast as they can be run.
class VirtualLoop : public Loop
{
  public:
    VirtualLoop(const Configuration& configuration,
                Netbox& netbox,
                EventQueue& events,
                VirtualClock& clock,
                EndSignal& end);

    int Run() override;

  private:
    struct Input
    {
        Port& port;
        Reception next;
        bool ended{false};
    };

    void OpenInputs();
    void Fetch(Input& input);
    /// The input with the earliest frame, the first of them in the order of stations; null when all have
    /// ended.
    Input* Earliest();
    /// When the run ends, as far as is known yet.
    std::int64_t End(const Input* earliest) const;
    void Enter(Input& input, std::int64_t time);

    std::optional<std::int64_t> m_duration;
    std::int64_t m_start;
    Netbox& m_netbox;
    EventQueue& m_events;
    VirtualClock& m_clock;
    EndSignal& m_end;
    std::vector<Input> m_inputs;
};

} // namespace netboxit
