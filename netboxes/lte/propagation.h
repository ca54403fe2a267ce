// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "attenuation.h"
#include "plan.h"

#include "ns3/lte-helper.h"

namespace netboxit
{

/// How path loss grows with distance; before the first device.
void ChoosePropagation(ns3::LteHelper& helper, const LtePlan& plan);

/// Puts multipath fading on the channels, when the plan has some; after the first eNodeB.
void AddFading(ns3::LteHelper& helper, const LtePlan& plan);

/// Puts on the channels what links lose besides: of all of them, as the plan says, and of single antennas; after the first eNodeB.
ns3::Ptr<Attenuation> AddAttenuation(ns3::LteHelper& helper, const LtePlan& plan);

} // namespace netboxit
