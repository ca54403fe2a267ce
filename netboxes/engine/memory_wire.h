// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace netboxit
{

/// Which end of a wire: that of the plan (docs/architecture.md, "Memory wire").
enum class WireEnd
{
    Left,
    Right,
};

} // namespace netboxit
