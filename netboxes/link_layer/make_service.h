// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "multi_service_link.h"

#include <memory>

namespace netboxit::multiservice
{

/// A service by its settings: `scheme`, and the keys of that scheme. Throws std::invalid_argument where there is no such
/// scheme, or a value is not permitted.
///
/// | scheme | section | keys (s, bytes) |
/// |---|---|---|
/// | none | 7.1 | |
/// | go-back-n | 4.2.1 | timer, window, ack_delay, sequence_bits |
/// | sr, sr-m1, sr-m2 | 4.2.1 | the same, fresh_acks, repeats_first |
/// | rlp, rlp-oos | 4.2.2, 5.2.2 | timer, attempts, ring, keepalive, sequence_bits, repeats_first |
/// | xor | 5.2.1 | block |
/// | xor-adaptive | 5.2.1 | block, inactivity |
/// | snoop | 4.2.3 | cache, connections, timer_floor |
std::unique_ptr<Service> MakeService(const Json& settings, LinkEnd end, ServicePort& port);

} // namespace netboxit::multiservice
