// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "clock.h"
#include "control_socket.h"
#include "loop.h"
#include "realtime_thread.h"

namespace netboxit
{

/// Where the real loop waits: on all descriptors at once, asleep or spinning, for a time, a frame, a control
/// message or the end.
class Waiting
{
  public:
    /// All of them outlive it. `control` may be none.
    Waiting(std::span<const std::unique_ptr<Port>> ports,
            const std::optional<ControlSocket>& control,
            const EndSignal& end,
            const RealClock& clock,
            RealtimeThread& thread);

    /// Waits, and returns true when a descriptor asks for something. False at the time, or when frames can be
    /// seen at a port. Spins before the time where the thread may and `exactly` says so. The ports' descriptors
    /// are looked at where `withPorts` says so.
    bool Until(std::int64_t time, std::int64_t now, bool exactly, bool withPorts);

    /// Asks the kernel about all descriptors, and does not wait. True when one of them asks for something.
    bool Poll(bool withPorts)
    {
        return Poll(0, withPorts);
    }

    /// When the kernel was asked last.
    std::int64_t LastPoll() const
    {
        return m_lastPoll;
    }

    /// True when a port shows a frame without the kernel.
    bool HasSeenFrames() const;

    // What the last poll found:

    bool IsEndCalled() const
    {
        return m_polled.front().revents != 0;
    }

    bool IsPortCalled(StationId station) const
    {
        return m_polled[FIRST_PORT + station].revents != 0;
    }

    std::span<const pollfd> Control() const
    {
        return std::span(m_polled).subspan(FIRST_PORT + m_ports.size());
    }

  private:
    static constexpr std::size_t FIRST_PORT = 1;

    bool SleepUntil(std::int64_t time, bool withPorts);
    bool SpinUntil(std::int64_t time, bool withPorts);
    bool Poll(std::int64_t timeout, bool withPorts);

    std::span<const std::unique_ptr<Port>> m_ports;
    const std::optional<ControlSocket>& m_control;
    const EndSignal& m_end;
    const RealClock& m_clock;
    RealtimeThread& m_thread;
    std::vector<pollfd> m_polled; ///< end signal, ports, control
    std::int64_t m_lastPoll{0};
};

} // namespace netboxit
