// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/segment.h"

#include "cell.h"

namespace netboxit
{

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<wimax::Cell>(setup);
}

} // namespace netboxit
