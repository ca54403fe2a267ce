// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

namespace netboxit
{

/// The segments of a technology, from its module (segments/<technology>.so, beside the folder of this program). A module stays
/// loaded: ns-3 keeps its types. Throws std::runtime_error that names the technology and what is wrong.
SegmentMaker LoadSegment(const std::string& technology);

} // namespace netboxit
