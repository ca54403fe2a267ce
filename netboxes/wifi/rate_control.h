// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plan.h"

#include "ns3/object-factory.h"
#include "ns3/wifi-standards.h"

namespace netboxit
{

ns3::WifiStandard StandardOf(const CellPlan& plan);

/// Makes what chooses a station's rates.
ns3::ObjectFactory RateControlOf(const CellPlan& plan);

} // namespace netboxit
