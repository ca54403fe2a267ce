// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/discipline.h"

#include <cmath>

namespace netboxit::errors
{

/// Whether something happens that has this probability; draws only where that is open.
inline bool Happens(double probability, const queueing::Chance& chance)
{
    return probability > 0 && (probability >= 1 || chance() < probability);
}

/// Exponentially distributed, by inversion.
inline double Exponential(double mean, const queueing::Chance& chance)
{
    return -mean * std::log1p(-chance());
}

} // namespace netboxit::errors
