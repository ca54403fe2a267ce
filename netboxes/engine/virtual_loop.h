// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "loop.h"
#include "virtual_wires.h"

namespace netboxit
{

/// Virtual time: input frames of all ports, merged in order of time, frames on the wires between netboxes, and events, as fast as
/// they can be run. Events come before the frames of their instant.
class VirtualLoop : public Loop
{
  public:
    VirtualLoop(EventQueue& events, VirtualClock& clock, EndSignal& end);

    /// One more netbox, which outlives the loop. The inputs of its ports are opened.
    void Add(Netbox& netbox);

    /// The first input frame enters at this simulated time (ns); where there is no input, time 0 is `epoch` (ns since 1970).
    void Align(std::int64_t start, std::int64_t epoch = 0);

    /// The run ends at this simulated time (ns); where nobody says so, 1 s after the last frame has left.
    void EndAt(std::int64_t time)
    {
        m_endsAt = time;
    }

    /// `notice` is called again and again, many times a second of computing.
    void NoticeProgress(std::function<void()> notice)
    {
        m_notice = std::move(notice);
    }

    /// Those that join its netboxes.
    VirtualWires& Wires()
    {
        return m_wires;
    }

    int Run() override;

  private:
    struct Input
    {
        Netbox* netbox;
        StationId station;
        Port* port;
        Reception next;
    };

    /// What netboxes have to write does not stay in memory for a whole run.
    void WriteRecords();
    /// False when the input has ended.
    static bool Fetch(Input& input);
    /// The input with the earliest frame, the first of them in the order in which they were added; the end when all have ended.
    std::vector<Input>::iterator Earliest();
    /// When the run ends, as far as is known yet.
    std::int64_t End() const;
    void RunEvent(std::int64_t due);
    void Enter(std::vector<Input>::iterator input, std::int64_t time);
    void HandOver();

    std::optional<std::int64_t> m_endsAt;
    EventQueue& m_events;
    VirtualClock& m_clock;
    EndSignal& m_end;
    std::function<void()> m_notice{[] {}};
    VirtualWires m_wires;
    std::vector<Netbox*> m_netboxes;
    std::vector<Netbox*> m_ready; ///< those that have frames to hand over
    std::vector<Input> m_inputs;  ///< those that have not ended
};

} // namespace netboxit
