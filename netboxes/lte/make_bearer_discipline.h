// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_discipline.h"

#include "../queueing/make_discipline.h"

namespace netboxit
{

/// Makes the disciplines of an eNodeB's queue: those that every queue can have, and those that know the bearer.
queueing::Maker MakerForEnodeb(BearerView bearer);

/// The same of a UE's queue: where the eNodeB's discipline knows the bearer, the UE's is a fifo with the same room.
queueing::Maker MakerForTerminal();

} // namespace netboxit
