// SPDX-License-Identifier: GPL-2.0-or-later
#include "cable.h"
#include "shared.h"
#include "switched.h"

namespace netboxit
{

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    const auto& medium = setup.parameters.at("medium");
    if (medium == "shared")
    {
        return std::make_unique<Shared>(setup);
    }
    if (medium == "switched")
    {
        return std::make_unique<Switched>(setup);
    }
    return std::make_unique<Cable>(setup);
}

} // namespace netboxit
