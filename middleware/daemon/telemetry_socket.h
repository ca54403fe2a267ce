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

    /// Hands over what came, of at most MOST_AT_ONCE frames. Those that are no telemetry are ignored.
    template <typename Taker>
    void Receive(Taker&& take)
    {
        for (unsigned count = 0; count < MOST_AT_ONCE && Read(); ++count)
        {
            if (m_arrival)
            {
                take(*m_arrival);
            }
        }
    }

  private:
    /// So that timers are not late while somebody floods an interface. Our own choice.
    static constexpr unsigned MOST_AT_ONCE = 64;

    /// The next frame; false when nothing more is there.
    bool Read();

    std::optional<Arrival> m_arrival; ///< what the last frame told
    Descriptor m_socket;
};

} // namespace netboxit::middleware
