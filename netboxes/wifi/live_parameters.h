// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cell.h"

#include <string>
#include <vector>

namespace netboxit
{

/// Changes what can be changed while a cell runs, in the plan and in ns-3; throws UnknownParameter or OutOfRange
/// and then changes nothing. The limits are those of parameters.py.
void SetLive(CellPlan& plan,
             const Cell& cell,
             const std::vector<std::string>& stations,
             std::string_view parameter,
             const Json& value);

} // namespace netboxit
