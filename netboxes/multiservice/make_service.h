// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "multi_service_link.h"

#include <memory>

namespace netboxit::multiservice
{

/// A service by its settings: `scheme`, and the keys of that scheme. Throws std::invalid_argument where there is no such
/// scheme, or a value is not permitted.
///
/// | scheme | spec | keys (s, bytes) |
/// |---|---|---|
/// | none | 1.6.2 | |
/// | go-back-n | 1.6.3 | timer, window, ack_delay, sequence_bits |
/// | sr, sr-m1, sr-m2 | 1.6.4 to 1.6.6 | the same |
/// | rlp, rlp-oos | 1.6.7, 1.6.8 | timer, attempts, ring, keepalive, sequence_bits |
/// | xor | 1.6.9 | block |
/// | xor-adaptive | 1.6.10 | block, inactivity |
/// | snoop | 1.6.11 | cache, connections, timer_floor |
std::unique_ptr<Service> MakeService(const Json& settings, LinkEnd end, ServicePort& port);

} // namespace netboxit::multiservice
