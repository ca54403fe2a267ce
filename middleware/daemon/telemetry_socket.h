// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "link_state.h"

#include <poll.h>

#include <optional>
#include <vector>

namespace netboxit::middleware
{

/// What netboxes tell this host about the links at its interfaces (netboxes/engine/README.md, "Telemetry").
class TelemetrySocket
{
  public:
    struct Arrival
    {
        unsigned interface; ///< the kernel's index of the interface that it came in by
        LinkState state;
    };

    /// Throws std::system_error, where it has no right (CAP_NET_RAW) say.
    TelemetrySocket();

    void AddTo(std::vector<pollfd>& polled) const;

    /// What came next; none when nothing more is there. Frames that are no telemetry are ignored.
    std::optional<Arrival> Receive();

  private:
    Descriptor m_socket;
};

} // namespace netboxit::middleware
