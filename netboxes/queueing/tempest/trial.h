// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../make_discipline.h"
#include "options.h"

namespace netboxit::queueing::tempest
{

/// Has a scheduler enqueue and dequeue packets, phase by phase, and tells what it cost and what flows got: README.md says what of the
/// result is what.
Json Try(const Options& options);

} // namespace netboxit::queueing::tempest
