// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "flow.h"

namespace netboxit
{

/// A server of HTTP/1.1 that has a video by MPEG-DASH: a manifest, and media of given lengths.
std::unique_ptr<Flow> MakeDashServer(const FlowPlace& place, Section& configuration);

} // namespace netboxit
