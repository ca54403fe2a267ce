// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "json_rpc.h"
#include "netbox.h"
#include "realtime_thread.h"

namespace netboxit
{

/// What can be asked and changed over the control socket (docs/architecture.md, "Netbox process").
class ControlMethods
{
  public:
    ControlMethods(const Configuration& configuration,
                   Netbox& netbox,
                   const EventQueue& events,
                   const RealtimeThread& thread);

    /// Answers a call; throws json_rpc::Refusal.
    Json Call(const std::string& method, const Json& params);

    Json Statistics();

  private:
    Json Status();
    Json Set(const Json& params);
    Json Begin(const Json& params);
    Json Capture(const Json& params);
    Json StopCapture(const Json& params);
    Json Reopen(const Json& params);
    StationId PortOf(const Json& params) const;

    std::string m_name;
    std::string m_technology;
    Netbox& m_netbox;
    const EventQueue& m_events;
    const RealtimeThread& m_thread;
};

} // namespace netboxit
