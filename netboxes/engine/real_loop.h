// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "arrivals.h"
#include "control_methods.h"
#include "waiting.h"

namespace netboxit
{

/// Real time: runs what is due, then waits in one place for the next event, a frame, a control message or the
/// end. While there is work, and ports show their frames without the kernel, the kernel is asked now and then
/// only.
class RealLoop : public Loop
{
  public:
    RealLoop(const Configuration& configuration,
             Netbox& netbox,
             EventQueue& events,
             RealClock& clock,
             EndSignal& end);

    int Run() override;

    /// What the control method `statistics` answers.
    Json Statistics()
    {
        return m_methods.Statistics();
    }

  private:
    /// The exit status.
    int RunToEnd();
    /// Runs events and lets frames enter in the order of their times, up to now, but not for long without
    /// looking at the ports.
    void RunDue();
    void Enter();
    /// When the next event or arrived frame is due.
    std::int64_t Next() const;
    /// By how much events may run before their time now: not while a frame is about to leave, which they would
    /// make late.
    std::int64_t Lead(std::int64_t now) const;
    /// When there is something to do next: run an event, let a frame enter or leave.
    std::int64_t NextTurn(std::int64_t now) const;

    /// Receives frames that can be seen without the kernel; now and then it asks the kernel, too. True when anything was found.
    bool Receive();
    /// Nothing is to be done now: waits for what comes first. True when a descriptor asks for something.
    bool Wait(std::int64_t now);
    /// Asks the kernel about all descriptors. True when one of them asks for something.
    bool Poll();
    /// Does what the descriptors ask for.
    void Serve();
    /// Receives a batch from one port.
    void Receive(StationId station);
    /// When the frame arrived; its stamp is set right where there is none.
    std::int64_t TimeOf(Reception& reception, std::int64_t now);
    void Housekeep(std::int64_t now);

    Json Call(const std::string& method, const Json& params);

    RealtimeConfiguration m_realtime;
    Netbox& m_netbox;
    EventQueue& m_events;
    RealClock& m_clock;
    EndSignal& m_end;
    RealtimeThread m_thread;
    ControlMethods m_methods;
    bool m_ended{false};
    std::optional<ControlSocket> m_control;
    Waiting m_waiting;
    const std::int64_t m_lead; ///< of the segment, ns

    std::vector<Reception> m_landing; ///< slots that frames are received into
    Arrivals m_arrivals;
    std::int64_t m_lastAccount{0};
    std::int64_t m_lastHousekeeping{0};
};

} // namespace netboxit
