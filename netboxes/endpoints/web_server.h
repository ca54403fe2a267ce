// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "flow.h"

namespace netboxit
{

/// A server of HTTP/1.1 that has the objects of a page set, all of zeros.
std::unique_ptr<Flow> MakeWebServer(const FlowPlace& place, Section& configuration);

} // namespace netboxit
